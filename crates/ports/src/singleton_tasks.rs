//! Duties that one process of an installation at a time sees to, in the relational store.

use crate::error::Result;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::id::LeaseId;

/// Something that is to be done now and then, by whichever process comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SingletonTask {
    /// Removing what runners that died have left behind.
    Sweep,
}

impl SingletonTask {
    /// The duty as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sweep => "sweep",
        }
    }
}

/// Takes duties.
///
/// A lease fences: whoever lost it holds nothing and finishes nothing.
#[async_trait]
pub trait SingletonTaskWriter: Send {
    /// Takes a duty until `until`; false, and nothing changed, when another process holds it at `now` or it was
    /// done after `done_by`. No two callers get it at the same time.
    async fn take(
        &mut self,
        duty: SingletonTask,
        lease: LeaseId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        done_by: DateTime<Utc>,
    ) -> Result<bool>;

    /// Holds a duty until `until`, also where the lease ran out and nobody took it since; false when it was lost.
    async fn hold(&mut self, duty: SingletonTask, lease: LeaseId, until: DateTime<Utc>) -> Result<bool>;

    /// Takes down that a duty was done at `at`, and lets it go; false when it was lost.
    async fn done(&mut self, duty: SingletonTask, lease: LeaseId, at: DateTime<Utc>) -> Result<bool>;
}
