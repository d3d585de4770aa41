//! The result of an attempt at a job.

use chrono::{DateTime, Utc};
use docent_domain::document::Failure;
use docent_domain::extraction::{Coverage, IngestionStats};
use docent_domain::fault::Fault;
use docent_domain::id::{GenerationId, VersionId};
use docent_domain::job::{Job, JobState, Wait};
use docent_domain::metrics::JobOutcome;

/// What is known of an attempt while it runs.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// The version that it ingests, once known.
    pub(super) version: Option<VersionId>,
    /// Durations of its stages.
    pub(super) stats: IngestionStats,
}

/// The result of one attempt at a job, as its handler returns it.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The job is done.
    Success(Success),
    /// The job goes back to the queue.
    Retry(Retry),
    /// The job is done: its document cannot be ingested.
    Failure(Failure, Option<Box<Coverage>>),
}

/// What a successful attempt did.
#[derive(Debug)]
pub(super) enum Success {
    /// The document is searchable in this generation of the index.
    Ingested {
        /// Its coverage.
        coverage: Box<Coverage>,
        /// The generation.
        generation: GenerationId,
        /// Revision of the labels in the index.
        labels: u32,
    },
    /// Only the record and the jobs of the deleted document are left; this generation of the index was cleared.
    Deleted(GenerationId),
    /// There was nothing to do: the document is gone or already processed.
    Obsolete,
}

/// When and why a job runs again.
#[derive(Debug)]
pub(super) struct Retry {
    /// Not before.
    pub(super) at: DateTime<Utc>,
    /// The fault behind it, for staff.
    pub(super) error: Option<String>,
    /// Whether the attempt counts against the limit of attempts.
    pub(super) counts: bool,
    /// Set if the job waits for an unavailable component.
    pub(super) wait: Option<Wait>,
    /// What metrics call it.
    pub(super) end: JobOutcome,
}

impl Retry {
    /// A retry because of a fault, which counts as an attempt.
    pub(super) fn after(fault: &Fault, at: DateTime<Utc>) -> Self {
        Self { at, error: Some(fault.report()), counts: true, wait: None, end: JobOutcome::Retried }
    }

    /// Runs the job again at this time, because another one goes first. It does not count as an attempt.
    pub(super) fn defer(at: DateTime<Utc>) -> Self {
        Self { at, error: None, counts: false, wait: None, end: JobOutcome::Deferred }
    }

    /// Runs the job again at once: its process is stopping, or its index was replaced.
    pub(super) fn release(now: DateTime<Utc>) -> Self {
        Self { at: now, error: None, counts: false, wait: None, end: JobOutcome::Released }
    }
}

impl Outcome {
    /// The generation of the index that the outcome is about. It must be active when the outcome is recorded.
    pub(super) fn generation(&self) -> Option<GenerationId> {
        match self {
            Self::Success(Success::Ingested { generation, .. } | Success::Deleted(generation)) => {
                Some(*generation)
            }
            Self::Success(Success::Obsolete) | Self::Retry(_) | Self::Failure(..) => None,
        }
    }

    /// What metrics call the outcome.
    pub(super) fn end(&self) -> JobOutcome {
        match self {
            Self::Success(Success::Ingested { .. }) => JobOutcome::Ingested,
            Self::Success(Success::Deleted(_)) => JobOutcome::Deleted,
            Self::Success(Success::Obsolete) => JobOutcome::Obsolete,
            Self::Retry(retry) => retry.end,
            Self::Failure(failure, _) => JobOutcome::Failed(failure.code),
        }
    }

    /// Writes the outcome to the log.
    pub(super) fn log(&self) {
        match self {
            Self::Success(Success::Ingested { coverage, .. }) => {
                tracing::info!(pages = coverage.pages, chunks = coverage.chunks, "document ingested");
            }
            Self::Success(Success::Deleted(_)) => tracing::info!("document removed"),
            Self::Success(Success::Obsolete) => tracing::debug!("nothing to do"),
            Self::Failure(failure, _) => {
                tracing::warn!(code = %failure.code, reason = failure.reason, "document failed");
            }
            Self::Retry(Retry { at, error: Some(error), counts: true, .. }) => {
                tracing::warn!(error, %at, "job failed and will be retried");
            }
            Self::Retry(Retry { at, error: Some(error), .. }) => {
                tracing::info!(error, %at, "job waits for an unavailable component");
            }
            Self::Retry(Retry { at, error: None, .. }) => tracing::debug!(%at, "job returned to the queue"),
        }
    }

    /// The job after this outcome.
    pub(super) fn job(&self, job: Job, now: DateTime<Utc>) -> Job {
        let done = |last_error| Job {
            state: JobState::Done,
            updated_at: now,
            last_error,
            wait: None,
            ..job.clone()
        };
        match self {
            // An earlier error would look like the failure of the job.
            Self::Success(Success::Ingested { .. } | Success::Obsolete) => done(None),
            Self::Success(Success::Deleted(_)) => done(job.last_error.clone()),
            Self::Failure(failure, _) => done(Some(failure.reason.clone())),
            Self::Retry(Retry { at, error, counts, wait, .. }) => Job {
                state: JobState::Queued,
                attempts: job.attempts.saturating_add(u32::from(*counts)),
                run_at: *at,
                last_error: error.clone().or(job.last_error),
                wait: wait.clone(),
                updated_at: now,
                ..job
            },
        }
    }
}
