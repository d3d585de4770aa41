//! What became of one try at a job, and what that makes of the job and its document.

use crate::{documents::delete::Removal, ingest::IngestError, recorder::JobOutcome};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    document::{Document, Failure, FailureCode},
    error::IllegalTransition,
    extraction::{Coverage, IngestionStats},
    id::GenerationId,
    job::{Job, JobState, RetryPolicy},
};
use docent_ports::error::{Component, Fault, FaultKind};

/// How soon a removal looks again whether an ingestion has ended.
const REMOVAL_WAIT: TimeDelta = TimeDelta::milliseconds(500);
/// The longest pause between two tries at a removal.
const REMOVAL_PAUSE: TimeDelta = TimeDelta::seconds(30);

/// For so long a job may be held up by back ends that ask for fewer calls, before that counts as attempts.
const HELD_UP: TimeDelta = TimeDelta::days(1);
/// The longest that a job is held up at a time.
const MAX_HELD_UP_PAUSE: TimeDelta = TimeDelta::minutes(10);

/// How a try ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The document is searchable, in this generation of the index.
    Ingested(Coverage, GenerationId),
    /// The document is given up.
    Failed(Failure, Option<Coverage>),
    /// The job goes back to the queue after a fault.
    Again {
        /// For staff.
        error: String,
        /// Not before.
        at: DateTime<Utc>,
    },
    /// The job goes back to the queue, since a back end asks for fewer calls: that is no attempt.
    HeldUp {
        /// For staff.
        error: String,
        /// Not before.
        at: DateTime<Utc>,
    },
    /// The job goes back to the queue, no fault counted.
    Released,
    /// The job goes back to the queue until another job of its document has ended.
    Waits {
        /// Not before.
        at: DateTime<Utc>,
    },
    /// Nothing is left of the document, in this generation of the index, but its record and jobs, which go with
    /// this one.
    Deleted(GenerationId),
    /// There is nothing to do any more: the document is gone or has been dealt with.
    Obsolete,
}

impl Outcome {
    /// Judges the result of an ingestion.
    pub(super) fn of(
        result: Result<Coverage, IngestError>,
        generation: GenerationId,
        job: &Job,
        policy: &RetryPolicy,
        now: DateTime<Utc>,
    ) -> Self {
        match result {
            Ok(coverage) => Self::Ingested(coverage, generation),
            Err(IngestError::Moved) => Self::Released,
            Err(IngestError::Document(failure, coverage)) => Self::Failed(failure, coverage),
            Err(IngestError::Fault(fault, coverage)) => match Self::of_fault(&fault, job, policy, now) {
                Self::Failed(failure, None) => Self::Failed(failure, coverage),
                other => other,
            },
        }
    }

    /// Decides whether to try again after a fault.
    pub(super) fn of_fault(fault: &Fault, job: &Job, policy: &RetryPolicy, now: DateTime<Utc>) -> Self {
        let asked = fault.retry_after().and_then(|pause| TimeDelta::from_std(pause).ok());
        // Another process, or this one with other settings, can do it.
        let waits = matches!(fault.kind(), FaultKind::RateLimited | FaultKind::Unconfigured);
        if waits && now - job.created_at < HELD_UP {
            let pause = asked.unwrap_or_default().clamp(policy.max, MAX_HELD_UP_PAUSE);
            return Self::HeldUp { error: fault.report(), at: now + pause };
        }
        let tried = job.attempts + 1;
        match policy.pause(tried, asked).filter(|_| fault.is_transient()) {
            Some(pause) => Self::Again { error: fault.report(), at: now + pause },
            None => Self::Failed(failure(fault, tried), None),
        }
    }

    /// Judges the result of a removal. One that does not work is tried again for ever: what was deleted
    /// must not stay.
    pub(super) fn of_removal(
        result: Result<Removal, Fault>,
        job: &Job,
        policy: &RetryPolicy,
        now: DateTime<Utc>,
    ) -> Self {
        match result {
            Ok(Removal::Done(generation)) => Self::Deleted(generation),
            Ok(Removal::Blocked) => Self::Waits { at: now + REMOVAL_WAIT },
            Ok(Removal::NotNeeded) => Self::Obsolete,
            Err(fault) => {
                let endless = RetryPolicy { attempts: u32::MAX, max: REMOVAL_PAUSE, ..*policy };
                let asked = fault.retry_after().and_then(|pause| TimeDelta::from_std(pause).ok());
                let pause = endless.pause(job.attempts.saturating_add(1), asked).unwrap_or(REMOVAL_PAUSE);
                Self::Again { error: fault.report(), at: now + pause }
            }
        }
    }

    /// The generation of the index that this outcome is about, which must still serve when it is written down.
    pub(super) fn generation(&self) -> Option<GenerationId> {
        match self {
            Self::Ingested(_, generation) | Self::Deleted(generation) => Some(*generation),
            Self::Failed(..)
            | Self::Again { .. }
            | Self::HeldUp { .. }
            | Self::Released
            | Self::Waits { .. }
            | Self::Obsolete => None,
        }
    }

    /// How the try ended, for those who count.
    pub(super) fn end(&self) -> JobOutcome {
        match self {
            Self::Ingested(..) => JobOutcome::Ingested,
            Self::Failed(failure, _) => JobOutcome::Failed(failure.code),
            Self::Again { .. } | Self::HeldUp { .. } => JobOutcome::Retried,
            Self::Released => JobOutcome::Released,
            Self::Waits { .. } => JobOutcome::Deferred,
            Self::Deleted(_) => JobOutcome::Deleted,
            Self::Obsolete => JobOutcome::Obsolete,
        }
    }

    /// Says how the try ended.
    pub(super) fn log(&self) {
        match self {
            Self::Ingested(coverage, _) => {
                tracing::info!(pages = coverage.pages, chunks = coverage.chunks, "document ingested");
            }
            Self::Failed(failure, _) => {
                tracing::warn!(code = %failure.code, reason = failure.reason, "document failed");
            }
            Self::HeldUp { error, at } => tracing::info!(error, %at, "the job is held up"),
            Self::Again { error, at } => tracing::warn!(error, %at, "the job will be tried again"),
            Self::Waits { at } => tracing::debug!(%at, "waiting for another job of the document"),
            Self::Deleted(_) => tracing::info!("document removed"),
            Self::Released => tracing::info!("job given back"),
            Self::Obsolete => tracing::debug!("nothing to do"),
        }
    }

    /// The job after this outcome.
    pub(super) fn job(&self, job: Job, now: DateTime<Utc>) -> Job {
        let done = Job { state: JobState::Done, updated_at: now, ..job.clone() };
        let queued = Job { state: JobState::Queued, updated_at: now, ..job };
        match self {
            Self::Ingested(..) => Job { last_error: None, ..done },
            Self::Failed(failure, _) => Job { last_error: Some(failure.reason.clone()), ..done },
            Self::Again { error, at } => Job {
                attempts: queued.attempts.saturating_add(1),
                run_at: *at,
                last_error: Some(error.clone()),
                ..queued
            },
            Self::HeldUp { error, at } => Job { run_at: *at, last_error: Some(error.clone()), ..queued },
            Self::Released => Job { run_at: now, ..queued },
            Self::Waits { at } => Job { run_at: *at, ..queued },
            Self::Deleted(_) | Self::Obsolete => done,
        }
    }

    /// The document after this outcome, if it changes.
    pub(super) fn document(
        &self,
        document: Document,
        effort: &IngestionStats,
        now: DateTime<Utc>,
    ) -> Result<Option<Document>, IllegalTransition> {
        let document = Document { effort: Some(effort.clone()), ..document };
        match self {
            Self::Ingested(coverage, _) => document.ingested(coverage.clone(), now).map(Some),
            Self::Failed(failure, coverage) => {
                document.failed(failure.clone(), coverage.clone(), now).map(Some)
            }
            Self::Again { .. }
            | Self::HeldUp { .. }
            | Self::Released
            | Self::Waits { .. }
            | Self::Deleted(_)
            | Self::Obsolete => Ok(None),
        }
    }
}

fn failure(fault: &Fault, tried: u32) -> Failure {
    let code = match fault.component() {
        Component::Embedder => FailureCode::Embedding,
        Component::VectorStore => FailureCode::Indexing,
        Component::BlobStore => FailureCode::Storage,
        Component::Extractor => FailureCode::ExtractionCrashed,
        Component::Database
        | Component::KeyValueStore
        | Component::Reranker
        | Component::ChatModel
        | Component::MailServer
        | Component::Service => FailureCode::Internal,
    };
    let times = if tried == 1 { "1 attempt".to_owned() } else { format!("{tried} attempts") };
    Failure::because(code, format!("{} ({times})", fault.public_message()))
}
