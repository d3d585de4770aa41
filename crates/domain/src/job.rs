//! Background jobs: a durable queue of accepted work.
//!
//! A runner leases a job for a limited time and renews the lease while it works. If the runner crashes, the lease
//! expires and another runner can lease the job.

use crate::id::{DocumentId, JobId, LeaseId, UserId};
use crate::trace::TraceParent;
use chrono::{DateTime, TimeDelta, Utc};

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JobKind {
    /// Ingests an uploaded document.
    Ingest,
    /// Removes the data of a deleted document.
    Delete,
}

impl JobKind {
    /// The kind as stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Delete => "delete",
        }
    }

    /// Parses [`Self::as_str`].
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "ingest" => Some(Self::Ingest),
            "delete" => Some(Self::Delete),
            _ => None,
        }
    }
}

/// The state of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Waiting for `run_at`.
    Queued,
    /// Leased by a runner until the lease expires.
    Leased {
        /// ID of the lease.
        lease: LeaseId,
        /// Expiry of the lease.
        until: DateTime<Utc>,
    },
    /// Finished, successfully or not; the document has the result.
    Done,
}

/// Why a queued job waits: a component is unavailable, which is not the job's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// Time of the first attempt that found the component unavailable.
    pub since: DateTime<Utc>,
    /// Sentence for people, such as "the vector store cannot be reached".
    pub reason: String,
}

/// A job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// ID of the job.
    pub id: JobId,
    /// What the job does.
    pub kind: JobKind,
    /// Document that it processes.
    pub document: DocumentId,
    /// Account that caused it.
    pub owner: Option<UserId>,
    /// Current state.
    pub state: JobState,
    /// Number of failed attempts.
    pub attempts: u32,
    /// Number of leases that expired or were released before the attempt ended, because of crashes or restarts.
    pub interruptions: u32,
    /// Earliest time of the next attempt.
    pub run_at: DateTime<Utc>,
    /// Last fault, shown to staff.
    pub last_error: Option<String>,
    /// Set while the job waits for an unavailable component.
    pub wait: Option<Wait>,
    /// Trace context of the request that created the job, if any. Never changes.
    pub trace: Option<TraceParent>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
}

impl Job {
    /// Whether the job ended because the ingestion failed.
    pub fn has_failed(&self) -> bool {
        self.state == JobState::Done && self.kind == JobKind::Ingest && self.last_error.is_some()
    }

    /// Creates a job that is due immediately.
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
            wait: None,
            trace: None,
            created_at: at,
            updated_at: at,
        }
    }
}

/// Maximum delay between two attempts of a waiting job.
const WAIT_PAUSE_MAX: TimeDelta = TimeDelta::minutes(1);
/// Maximum delay that a back end can request of a waiting job.
const RETRY_AFTER_MAX: TimeDelta = TimeDelta::minutes(10);

/// When and how often failed jobs are retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of attempts for transient faults.
    pub attempts: u32,
    /// Delay after the first attempt; doubled after each further one.
    pub base: TimeDelta,
    /// Maximum delay.
    pub max: TimeDelta,
    /// Maximum number of interruptions, because the job itself may crash its runners.
    pub interruptions: u32,
}

impl RetryPolicy {
    /// Returns the delay of a job that has waited for an unavailable component since `since`: half the time that it has
    /// waited, so that short outages end soon and long ones cost little. A longer delay requested by a back end is
    /// respected, up to ten minutes.
    pub fn wait(
        &self,
        since: DateTime<Utc>,
        now: DateTime<Utc>,
        retry_after: Option<TimeDelta>,
    ) -> TimeDelta {
        let pause = ((now - since) / 2).clamp(self.base, WAIT_PAUSE_MAX);
        pause.max(retry_after.unwrap_or_default().min(RETRY_AFTER_MAX))
    }

    /// Returns the delay after `attempts` failed attempts, or `None` if no attempt is left.
    ///
    /// A longer delay requested by a back end is respected, up to `max`.
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
    fn retry_delay_doubles_up_to_maximum() {
        let seconds = TimeDelta::seconds;
        let policy = RetryPolicy { attempts: 5, base: seconds(1), max: seconds(3), interruptions: 9 };
        let pauses: Vec<_> = (1..=5).map(|n| policy.pause(n, None)).collect();
        assert_eq!(pauses, [Some(seconds(1)), Some(seconds(2)), Some(seconds(3)), Some(seconds(3)), None]);
        assert_eq!(policy.pause(1, Some(seconds(2))), Some(seconds(2)));
        assert_eq!(policy.pause(1, Some(seconds(60))), Some(seconds(3)));
    }

    #[test]
    fn delay_of_waiting_job_grows_with_the_outage() {
        let seconds = TimeDelta::seconds;
        let policy = RetryPolicy { attempts: 3, base: seconds(1), max: seconds(3), interruptions: 9 };
        let since = DateTime::UNIX_EPOCH;
        let waits = [0, 1, 10, 60, 3600].map(|waited| policy.wait(since, since + seconds(waited), None));
        assert_eq!(waits, [1, 1, 5, 30, 60].map(seconds));
        assert_eq!(policy.wait(since, since, Some(seconds(20))), seconds(20));
        assert_eq!(policy.wait(since, since, Some(seconds(9999))), seconds(600));
    }
}
