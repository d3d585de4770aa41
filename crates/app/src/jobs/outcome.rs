//! What became of one try at a job, and what that makes of the job and its document.

use crate::{ingest::IngestError, recorder::JobEnd};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    document::{Document, Failure, FailureCode},
    error::IllegalTransition,
    extraction::Coverage,
    job::{Job, JobState, RetryPolicy},
};
use docent_ports::error::{Fault, Part};

/// How a try ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// The document is searchable.
    Ingested(Coverage),
    /// The document is given up.
    Failed(Failure, Option<Coverage>),
    /// The job goes back to the queue after a fault.
    Again {
        /// For staff.
        error: String,
        /// Not before.
        at: DateTime<Utc>,
    },
    /// The job goes back to the queue, no fault counted.
    Released,
    /// There is nothing to do any more: the document is gone or has been dealt with.
    Obsolete,
}

impl Outcome {
    /// Judges the result of an ingestion.
    pub(super) fn of(
        result: Result<Coverage, IngestError>,
        job: &Job,
        policy: &RetryPolicy,
        now: DateTime<Utc>,
    ) -> Self {
        match result {
            Ok(coverage) => Self::Ingested(coverage),
            Err(IngestError::Document(failure, coverage)) => Self::Failed(failure, coverage),
            Err(IngestError::Fault(fault)) => Self::of_fault(&fault, job, policy, now),
        }
    }

    /// Decides whether to try again after a fault.
    pub(super) fn of_fault(fault: &Fault, job: &Job, policy: &RetryPolicy, now: DateTime<Utc>) -> Self {
        let asked = fault.pause().and_then(|pause| TimeDelta::from_std(pause).ok());
        let tried = job.attempts + 1;
        match policy.pause(tried, asked).filter(|_| fault.is_transient()) {
            Some(pause) => Self::Again { error: fault.to_string(), at: now + pause },
            None => Self::Failed(failure(fault, tried), None),
        }
    }

    /// How the try ended, for those who count.
    pub(super) fn end(&self) -> JobEnd {
        match self {
            Self::Ingested(_) => JobEnd::Ingested,
            Self::Failed(failure, _) => JobEnd::Failed(failure.code),
            Self::Again { .. } => JobEnd::Retried,
            Self::Released => JobEnd::Released,
            Self::Obsolete => JobEnd::Obsolete,
        }
    }

    /// The job after this outcome.
    pub(super) fn job(&self, job: Job, now: DateTime<Utc>) -> Job {
        let done = Job { state: JobState::Done, updated_at: now, ..job.clone() };
        let queued = Job { state: JobState::Queued, updated_at: now, ..job };
        match self {
            Self::Ingested(_) => Job { last_error: None, ..done },
            Self::Failed(failure, _) => Job { last_error: Some(failure.reason.clone()), ..done },
            Self::Again { error, at } => {
                Job { attempts: queued.attempts + 1, run_at: *at, last_error: Some(error.clone()), ..queued }
            }
            Self::Released => Job { run_at: now, ..queued },
            Self::Obsolete => done,
        }
    }

    /// The document after this outcome, if it changes.
    pub(super) fn document(
        &self,
        document: Document,
        now: DateTime<Utc>,
    ) -> Result<Option<Document>, IllegalTransition> {
        match self {
            Self::Ingested(coverage) => document.ingested(coverage.clone(), now).map(Some),
            Self::Failed(failure, coverage) => {
                document.failed(failure.clone(), coverage.clone(), now).map(Some)
            }
            Self::Again { .. } | Self::Released | Self::Obsolete => Ok(None),
        }
    }
}

fn failure(fault: &Fault, tried: u32) -> Failure {
    let code = match fault.part() {
        Part::Embedder => FailureCode::Embedding,
        Part::VectorStore => FailureCode::Indexing,
        Part::BlobStore => FailureCode::Storage,
        Part::Extractor => FailureCode::ExtractionCrashed,
        Part::Database | Part::KeyValueStore | Part::ChatModel | Part::Service => FailureCode::Internal,
    };
    let times = if tried == 1 { "1 attempt".to_owned() } else { format!("{tried} attempts") };
    Failure::because(code, format!("{} ({times})", fault.public()))
}
