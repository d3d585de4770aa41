//! Background jobs: a durable ledger of work that was promised.
//!
//! A job is leased for a time, and whoever holds the lease renews it. A lease that runs out, because
//! its holder died, makes the job free for the next one.

use crate::{
    id::{DocumentId, JobId, LeaseId, UserId},
    trace::TraceParent,
};
use chrono::{DateTime, TimeDelta, Utc};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Reads an uploaded document into the vector store.
    Ingest,
}

impl JobKind {
    /// The kind as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
        }
    }

    /// Reads [`Self::as_str`] back.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "ingest" => Some(Self::Ingest),
            _ => None,
        }
    }
}

/// Where a job is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for `run_at`.
    Queued,
    /// Held by a runner until its lease runs out.
    Leased {
        /// The lease.
        lease: LeaseId,
        /// When it runs out.
        until: DateTime<Utc>,
    },
    /// Done, with or without success; its document knows which.
    Done,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What it does.
    pub kind: JobKind,
    /// The document that it is about.
    pub document: DocumentId,
    /// Whose work it is.
    pub owner: Option<UserId>,
    /// Where it is in its life.
    pub state: JobState,
    /// Attempts that ended in a fault.
    pub attempts: u32,
    /// Leases that ran out or were given back before the attempt ended: crashes and restarts.
    pub interruptions: u32,
    /// Not to be run before.
    pub run_at: DateTime<Utc>,
    /// The last fault, for staff.
    pub last_error: Option<String>,
    /// The trace of the request that caused it, if there is one. It never changes.
    pub trace: Option<TraceParent>,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
}

impl Job {
    /// A new job, to be run at once.
    pub fn new(
        id: JobId,
        kind: JobKind,
        document: DocumentId,
        owner: Option<UserId>,
        at: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            kind,
            document,
            owner,
            state: JobState::Queued,
            attempts: 0,
            interruptions: 0,
            run_at: at,
            last_error: None,
            trace: None,
            created_at: at,
            updated_at: at,
        }
    }
}

/// How often and how soon a job is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts before a transient fault is final.
    pub attempts: u32,
    /// The pause after the first attempt; each further one is twice as long.
    pub base: TimeDelta,
    /// No pause is longer.
    pub max: TimeDelta,
    /// Leases that may run out before the job is given up: it may be what kills its runners.
    pub interruptions: u32,
}

impl RetryPolicy {
    /// The pause after `attempts` failed ones, or none when the last one was the last allowed.
    ///
    /// A back end that says when to come back is believed, up to `max`.
    pub fn pause(&self, attempts: u32, retry_after: Option<TimeDelta>) -> Option<TimeDelta> {
        if attempts >= self.attempts {
            return None;
        }
        let doubled = self.base * (1 << attempts.saturating_sub(1).min(20));
        Some(doubled.max(retry_after.unwrap_or(TimeDelta::zero())).min(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_maximum_and_end() {
        let seconds = TimeDelta::seconds;
        let policy = RetryPolicy { attempts: 5, base: seconds(1), max: seconds(3), interruptions: 9 };
        let pauses: Vec<_> = (1..=5).map(|n| policy.pause(n, None)).collect();
        assert_eq!(pauses, [Some(seconds(1)), Some(seconds(2)), Some(seconds(3)), Some(seconds(3)), None]);
        assert_eq!(policy.pause(1, Some(seconds(2))), Some(seconds(2)));
        assert_eq!(policy.pause(1, Some(seconds(60))), Some(seconds(3)));
    }
}
