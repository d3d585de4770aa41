//! Removing, every hour, what is past its time.

use super::Runner;
use crate::generations;
use chrono::{DateTime, TimeDelta, Utc};
use docent_ports::error::Fault;

const PURGE_EVERY: TimeDelta = TimeDelta::hours(1);
/// How long done jobs stay readable.
const KEEP_DONE: TimeDelta = TimeDelta::days(7);
/// How long vectors that nobody uses are kept for texts that may come again.
const KEEP_VECTORS: TimeDelta = TimeDelta::days(30);
/// How long sessions that ended are shown; those of clients at least as long as their refresh tokens would live.
const KEEP_SESSIONS: TimeDelta = TimeDelta::days(30);
/// How long what webhooks were told stays readable.
const KEEP_DELIVERIES: TimeDelta = TimeDelta::days(30);
/// Records of a kind that one unit of work removes.
const PURGED_AT_ONCE: u64 = 500;

impl Runner {
    /// Removes what is past its time, if it is time to at `at`; says when the next time is.
    pub(super) async fn purge(&self, at: DateTime<Utc>) -> DateTime<Utc> {
        let now = self.app().clock.now();
        if now < at {
            return at;
        }
        let purge = async {
            let mut work = self.app().store.begin().await?;
            work.jobs().purge_done(now - KEEP_DONE).await?;
            work.commit().await?;
            self.purge_credentials(now).await?;
            self.purge_deliveries(now).await?;
            self.purge_vectors(now).await?;
            generations::remove_retired(self.app()).await
        };
        if let Err(fault) = purge.await {
            self.app().note(&fault);
            tracing::warn!(fault = %fault.report(), "old jobs, sessions, deliveries, unused vectors and retired collections could not be removed");
        }
        now + PURGE_EVERY
    }

    /// Removes sessions that ended and verification tokens that expired, a few at a time.
    async fn purge_credentials(&self, now: DateTime<Utc>) -> Result<(), Fault> {
        let lifetime = TimeDelta::from_std(self.app().settings.refresh_token_ttl).unwrap_or(TimeDelta::MAX);
        let ended = now.checked_sub_signed(lifetime.max(KEEP_SESSIONS)).unwrap_or(DateTime::UNIX_EPOCH);
        loop {
            let mut work = self.app().store.begin().await?;
            let sessions = work.sessions().purge(ended, PURGED_AT_ONCE).await?;
            let links = work.verifications().purge(now, PURGED_AT_ONCE).await?;
            work.commit().await?;
            if sessions.max(links) < PURGED_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Removes what webhooks were told long ago, or could not be told since they are off, a few at a time.
    async fn purge_deliveries(&self, now: DateTime<Utc>) -> Result<(), Fault> {
        loop {
            let mut work = self.app().store.begin().await?;
            let removed = work.webhooks().purge_deliveries(now - KEEP_DELIVERIES, PURGED_AT_ONCE).await?;
            work.commit().await?;
            if removed < PURGED_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Removes the vectors that nobody used for long, a few at a time: others write in between.
    async fn purge_vectors(&self, now: DateTime<Utc>) -> Result<(), Fault> {
        loop {
            let mut work = self.app().store.begin().await?;
            let removed = work.embedding_cache().purge_unused(now - KEEP_VECTORS, PURGED_AT_ONCE).await?;
            work.commit().await?;
            if removed < PURGED_AT_ONCE {
                return Ok(());
            }
        }
    }
}
