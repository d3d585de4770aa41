//! Hourly removal of expired records.

use super::Background;
use crate::generations;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::fault::Fault;
use std::time::Duration;

const PURGE_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// How long finished jobs are listed.
const KEEP_JOBS: TimeDelta = TimeDelta::days(7);
/// How long unused embeddings stay in the cache.
const KEEP_EMBEDDINGS: TimeDelta = TimeDelta::days(30);
/// How long ended sessions are listed. Sessions of API clients are kept at least as long as a refresh token lives.
const KEEP_SESSIONS: TimeDelta = TimeDelta::days(30);
/// How long expired invitations are listed, to send them again.
const KEEP_INVITATIONS: TimeDelta = TimeDelta::days(30);
/// How long finished webhook deliveries are listed.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
/// How long stored responses of the OpenAI API can be read, as in that API.
const KEEP_RESPONSES: TimeDelta = TimeDelta::days(30);
/// How long batches of files can be read. Their files stay.
const KEEP_FILE_BATCHES: TimeDelta = TimeDelta::days(30);
/// How long a client that registered itself can stay unused: until its first token, and afterwards.
const KEEP_NEW_CLIENTS: TimeDelta = TimeDelta::days(7);
const KEEP_CLIENTS: TimeDelta = TimeDelta::days(180);
/// How long expired authorization codes are kept, to notice that one is used twice.
const KEEP_CODES: TimeDelta = TimeDelta::days(1);
/// Records of a kind that one unit of work removes, so that other writers wait only briefly.
const BATCH: u64 = 500;

impl Background {
    /// Purges now and then every hour.
    pub(super) async fn purge_regularly(&self) {
        loop {
            if let Err(fault) = self.purge(self.app.now()).await {
                self.app.note(&fault);
                tracing::warn!(fault = %fault.report(), "expired records could not be removed; trying again in an hour");
            }
            if let Err(error) = self.maintain_audit_log(self.app.now()).await {
                self.app.note_error(&error);
                let error = docent_domain::fault::report(&error);
                tracing::warn!(%error, "the audit log could not be maintained; trying again in an hour");
            }
            self.app.sleep(PURGE_INTERVAL).await;
        }
    }

    /// Removes old jobs, ended sessions, expired verification tokens, invitations and authorization codes, unused OAuth clients,
    /// finished deliveries, old responses and batches of files, unused embeddings and retired indexes.
    async fn purge(&self, now: DateTime<Utc>) -> Result<(), Fault> {
        let mut work = self.app.store.begin().await?;
        work.jobs().purge_done(now - KEEP_JOBS).await?;
        work.commit().await?;
        let lifetime = TimeDelta::from_std(self.app.settings.refresh_token_ttl).unwrap_or(TimeDelta::MAX);
        let ended = now.checked_sub_signed(lifetime.max(KEEP_SESSIONS)).unwrap_or(DateTime::UNIX_EPOCH);
        loop {
            let mut work = self.app.store.begin().await?;
            let removed = [
                work.sessions().purge(ended, BATCH).await?,
                work.verifications().purge(now, BATCH).await?,
                work.invitations().purge(now - KEEP_INVITATIONS, BATCH).await?,
                work.oauth().purge_clients(now - KEEP_NEW_CLIENTS, now - KEEP_CLIENTS, BATCH).await?,
                work.oauth().purge_codes(now - KEEP_CODES, BATCH).await?,
                // Also those of inactive webhooks.
                work.webhooks().purge_deliveries(now - KEEP_DELIVERIES, BATCH).await?,
                work.conversations().purge_responses(now - KEEP_RESPONSES, BATCH).await?,
                work.collections().purge_file_batches(now - KEEP_FILE_BATCHES, BATCH).await?,
                work.embedding_cache().purge_unused(now - KEEP_EMBEDDINGS, BATCH).await?,
            ];
            work.commit().await?;
            if removed.iter().all(|removed| *removed < BATCH) {
                break;
            }
        }
        generations::remove_retired(&self.app).await
    }
}
