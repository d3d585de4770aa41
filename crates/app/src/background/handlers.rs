//! One handler for each kind of job.

use super::outcome::{Attempt, Outcome, Retry, Success};
use crate::App;
use crate::documents::delete::{self, Removal};
use crate::ingest::{self, IngestError};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::job::{Job, JobKind, RetryPolicy, Wait};
use docent_domain::metrics::JobOutcome;
use tokio_util::sync::CancellationToken;

/// The pause before a removal checks again whether the ingestion of its document has ended.
const REMOVAL_WAIT: TimeDelta = TimeDelta::milliseconds(500);
/// The longest pause between two attempts at a removal.
const REMOVAL_PAUSE: TimeDelta = TimeDelta::seconds(30);
/// How long a job may wait for unavailable components before its attempts count.
const WAIT_MAX: TimeDelta = TimeDelta::days(1);

/// Ingests the upcoming version of a document, and records it and durations in `attempt`.
pub(super) async fn ingest(
    app: &App,
    job: &Job,
    policy: &RetryPolicy,
    cancelled: &CancellationToken,
    attempt: &mut Attempt,
) -> Outcome {
    match try_ingest(app, job, policy, cancelled, attempt).await {
        Ok(success) => Outcome::Success(success),
        Err(IngestError::IndexReplaced) => Outcome::Retry(Retry::release(app.now())),
        Err(IngestError::Suspended(pause)) => Outcome::Retry(Retry::defer(app.now() + pause)),
        Err(IngestError::Document(failure, coverage)) => Outcome::Failure(failure, coverage.map(Box::new)),
        Err(IngestError::Fault(fault, coverage)) => {
            app.note(&fault);
            match retry(&fault, job, policy, app.now()) {
                Some(retry) => Outcome::Retry(retry),
                None => Outcome::Failure(failure(&fault, job.attempts + 1), coverage.map(Box::new)),
            }
        }
    }
}

async fn try_ingest(
    app: &App,
    job: &Job,
    policy: &RetryPolicy,
    cancelled: &CancellationToken,
    attempt: &mut Attempt,
) -> Result<Success, IngestError> {
    let document = app.store.read_latest().await?.documents().get(job.document).await?;
    let Some(document) = document.and_then(|document| document.upcoming()) else {
        return Ok(Success::Obsolete);
    };
    attempt.version = Some(document.version_id);
    if job.interruptions > policy.interruptions {
        return Err(IngestError::of(FailureCode::Interrupted, None));
    }
    let active = app.active_index().await?;
    match ingest::ingest(app, &active, &document, cancelled, &mut attempt.stats).await {
        Some(coverage) => Ok(Success::Ingested {
            coverage: Box::new(coverage?),
            generation: active.generation.id,
            labels: document.labels_revision,
        }),
        None => Ok(Success::Obsolete),
    }
}

/// Removes what a deleted document left behind. It is retried without limit: deleted data must not stay.
pub(super) async fn delete(app: &App, job: &Job, policy: &RetryPolicy) -> Outcome {
    match delete::remove(app, job).await {
        Ok(Removal::Done(generation)) => Outcome::Success(Success::Deleted(generation)),
        Ok(Removal::NotNeeded) => Outcome::Success(Success::Obsolete),
        Ok(Removal::Blocked) => Outcome::Retry(Retry::defer(app.now() + REMOVAL_WAIT)),
        Err(fault) => {
            app.note(&fault);
            retry_removal(&fault, job, policy, app.now())
        }
    }
}

/// The outcome of an attempt that panicked: a document that makes its ingestion panic has failed.
pub(super) fn panicked(job: &Job, policy: &RetryPolicy, now: DateTime<Utc>) -> Outcome {
    match job.kind {
        JobKind::Ingest => Outcome::Failure(Failure::of(FailureCode::Internal), None),
        JobKind::Delete => {
            let fault = Fault::new(Component::Service, FaultKind::Internal, "the removal panicked");
            retry_removal(&fault, job, policy, now)
        }
    }
}

/// When to retry after a fault; none when the attempts are used up or retrying cannot help.
fn retry(fault: &Fault, job: &Job, policy: &RetryPolicy, now: DateTime<Utc>) -> Option<Retry> {
    wait_for(fault, job, policy, now).or_else(|| {
        let pause = policy.pause(job.attempts + 1, asked_pause(fault)).filter(|_| fault.is_transient())?;
        Some(Retry { wait: wait(fault, job, now), ..Retry::after(fault, now + pause) })
    })
}

/// A retry that does not count, for a job that met an unavailable component; none when it has waited for too long.
pub(super) fn wait_for(fault: &Fault, job: &Job, policy: &RetryPolicy, now: DateTime<Utc>) -> Option<Retry> {
    let wait = wait(fault, job, now).filter(|wait| now - wait.since < WAIT_MAX)?;
    let at = now + policy.wait(wait.since, now, asked_pause(fault));
    Some(Retry { counts: false, wait: Some(wait), end: JobOutcome::Waiting, ..Retry::after(fault, at) })
}

/// The wait of a job that met an unavailable component; none if another attempt is not a matter of time.
fn wait(fault: &Fault, job: &Job, now: DateTime<Utc>) -> Option<Wait> {
    let since = job.wait.as_ref().map_or(now, |wait| wait.since);
    let is_outage = match fault.kind() {
        FaultKind::Unavailable | FaultKind::InUse | FaultKind::Timeout | FaultKind::Full => {
            // A worker process fails because of its document.
            fault.component() != Component::Extractor
        }
        // Another process may have other settings.
        FaultKind::RateLimited | FaultKind::Unconfigured => true,
        FaultKind::Rejected | FaultKind::InvalidResponse | FaultKind::Internal => false,
    };
    is_outage.then(|| Wait { since, reason: fault.public_message() })
}

fn retry_removal(fault: &Fault, job: &Job, policy: &RetryPolicy, now: DateTime<Utc>) -> Outcome {
    if let Some(retry) = wait_for(fault, job, policy, now) {
        return Outcome::Retry(retry);
    }
    let endless = RetryPolicy { attempts: u32::MAX, max: REMOVAL_PAUSE, ..*policy };
    let attempts = job.attempts.saturating_add(1);
    let pause = endless.pause(attempts, asked_pause(fault)).unwrap_or(REMOVAL_PAUSE);
    Outcome::Retry(Retry { wait: wait(fault, job, now), ..Retry::after(fault, now + pause) })
}

/// The pause that the back end asked for.
fn asked_pause(fault: &Fault) -> Option<TimeDelta> {
    fault.retry_after().and_then(|pause| TimeDelta::from_std(pause).ok())
}

fn failure(fault: &Fault, attempts: u32) -> Failure {
    let code = match fault.component() {
        Component::Embedder => FailureCode::Embedding,
        Component::VectorStore => FailureCode::Indexing,
        Component::BlobStore => FailureCode::Storage,
        Component::Extractor => FailureCode::ExtractionCrashed,
        Component::Recognizer => FailureCode::Recognition,
        Component::ChatModel
        | Component::Database
        | Component::KeyValueStore
        | Component::Reranker
        | Component::MailServer
        | Component::IdentityProvider
        | Component::Service => FailureCode::Internal,
    };
    let attempts = if attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
    Failure::because(code, format!("{} ({attempts})", fault.public_message()))
}
