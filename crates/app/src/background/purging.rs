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
/// How long finished webhook deliveries are listed.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
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

    /// Removes old jobs, ended sessions, expired verification tokens, finished deliveries, unused embeddings and retired
    /// indexes.
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
                // Also those of inactive webhooks.
                work.webhooks().purge_deliveries(now - KEEP_DELIVERIES, BATCH).await?,
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
