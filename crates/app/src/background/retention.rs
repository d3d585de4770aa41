//! Entries of the audit log that the service writes and removes without a request.

use super::Background;
use crate::audit::{Initiator, failed_logins};
use crate::error::Result;
use crate::maintenance::audit_retention;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::id::LeaseId;
use docent_ports::singleton_tasks::{SingletonTask, TaskClaim};
use std::time::Duration;

/// How long one process may take to export and remove entries before another one tries.
const LEASE: Duration = Duration::from_secs(60 * 60);
/// Interval of removals.
const DAY: TimeDelta = TimeDelta::days(1);

impl Background {
    /// Records failed logins of hours that are over, and removes old entries once a day in one process.
    ///
    /// # Errors
    /// When a store or the export fails.
    pub async fn maintain_audit_log(&self, now: DateTime<Utc>) -> Result<()> {
        let app = &*self.app;
        failed_logins::record(app).await?;
        let Some(settings) = &self.retention else { return Ok(()) };
        let age = TimeDelta::from_std(settings.age).unwrap_or(TimeDelta::MAX);
        let before = now.checked_sub_signed(age).unwrap_or(DateTime::UNIX_EPOCH);
        if !audit_retention::has_before(app, before).await? {
            return Ok(());
        }
        let lease = app.new_id(LeaseId::generate);
        let task = SingletonTask::AuditRetention;
        let claim = TaskClaim { task, lease, now, until: now + LEASE, done_by: now - DAY };
        let mut work = app.store.begin().await?;
        if !work.singleton_tasks().acquire(claim).await? {
            return Ok(());
        }
        work.commit().await?;
        let name = format!("audit-before-{}.jsonl", before.format("%Y%m%dT%H%M%SZ"));
        let export = settings.exports.create(&name).await?;
        let removed =
            audit_retention::remove_before(app, &Initiator::service(), before, &name, export).await?;
        tracing::info!(removed, export = name, "old entries of the audit log were exported and removed");
        let mut work = app.store.begin().await?;
        work.singleton_tasks().complete(task, lease, now).await?;
        Ok(work.commit().await?)
    }
}
