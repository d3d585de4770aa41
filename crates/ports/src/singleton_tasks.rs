//! Tasks that run in one process of an installation at a time, in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{fault::Result, id::LeaseId};

/// A periodic task that runs in one process at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SingletonTask {
    /// Removing leftovers of crashed job runners.
    Sweep,
}

impl SingletonTask {
    /// The task as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
        }
    }
}

/// Leases singleton tasks.
///
/// Leases fence: a caller with a lost lease can neither renew nor complete the task.
#[async_trait]
pub trait SingletonTaskWriter: Send {
    /// Leases a task until `until`. Returns `false` if another process holds it at `now` or it was completed after
    /// `done_by`. Only one caller at a time gets the lease.
    async fn acquire(
        &mut self,
        task: SingletonTask,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        done_by: DateTime<Utc>,
    ) -> Result<bool>;

    /// Renews a lease until `until`, even an expired one that no other process has taken. Returns `false` if it was
    /// lost.
    async fn renew(&mut self, task: SingletonTask, lease: LeaseId, until: DateTime<Utc>) -> Result<bool>;

    /// Records that a task was completed at `at` and releases it. Returns `false` if the lease was lost.
    async fn complete(&mut self, task: SingletonTask, lease: LeaseId, at: DateTime<Utc>) -> Result<bool>;
}
