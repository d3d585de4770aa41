//! Tasks that run in one process of an installation at a time, in the relational store.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_domain::id::LeaseId;

/// A task that runs in one process at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SingletonTask {
    /// Removing leftovers of crashed job runners.
    Sweep,
    /// Serving a database server with an embedded index, which only one process can do.
    EmbeddedIndex,
    /// Exporting and removing old entries of the audit log.
    AuditRetention,
}

impl SingletonTask {
    /// The task as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
            Self::EmbeddedIndex => "embedded_index",
            Self::AuditRetention => "audit_retention",
        }
    }
}

/// A request for the lease of a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskClaim {
    /// Task to lease.
    pub task: SingletonTask,
    /// ID of the new lease.
    pub lease: LeaseId,
    /// Time of the request. The task is held if its lease ends later.
    pub now: DateTime<Utc>,
    /// End of the new lease.
    pub until: DateTime<Utc>,
    /// The task is not leased if it was completed after this time.
    pub done_by: DateTime<Utc>,
}

/// Leases singleton tasks.
///
/// Leases fence: a caller with a lost lease can neither renew nor complete the task.
#[async_trait]
pub trait SingletonTaskWriter: Send {
    /// Leases a task. Returns `false` if another process holds it or it was completed recently. Only one caller at a
    /// time gets the lease.
    async fn acquire(&mut self, claim: TaskClaim) -> Result<bool>;

    /// Renews a lease until `until`, even an expired one that no other process has taken. Returns `false` if it was
    /// lost.
    async fn renew(&mut self, task: SingletonTask, lease: LeaseId, until: DateTime<Utc>) -> Result<bool>;

    /// Records that a task was completed at `at` and releases it. Returns `false` if the lease was lost.
    async fn complete(&mut self, task: SingletonTask, lease: LeaseId, at: DateTime<Utc>) -> Result<bool>;
}
