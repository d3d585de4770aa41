//! The job runner: leases jobs, renews the leases, and records the outcomes.
//!
//! All of its state is in the database. When its process dies, its leases run out and another runner takes over
//! the jobs, after a restart or on another machine.

use super::handlers;
use super::outcome::{Attempt, Outcome, Retry, Success};
use crate::documents::versions;
use crate::error::Result;
use crate::maintenance::diagnostics::ingest_again_if_ingested;
use crate::webhooks::events;
use crate::{App, spans};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::document::{Document, DocumentStatus, StoredVersion};
use docent_domain::error::IllegalTransition;
use docent_domain::extraction::Coverage;
use docent_domain::extraction::IngestionStats;
use docent_domain::fault::Fault;
use docent_domain::id::{DocumentId, LeaseId, VersionId};
use docent_domain::job::{Job, JobKind, RetryPolicy};
use docent_domain::metrics::JobOutcome;
use docent_ports::store::UnitOfWork;
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, Span};

/// Attempts to record an outcome before the lease is left to run out.
const SETTLE_ATTEMPTS: u32 = 5;
const SETTLE_PAUSE: Duration = Duration::from_secs(1);
/// How long a stopping runner tries to return unfinished jobs to the queue.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// Limits and intervals of a runner.
#[derive(Clone, Copy, Debug)]
pub struct RunnerSettings {
    /// Jobs that run at the same time.
    pub concurrency: usize,
    /// How long a lease lasts; it is renewed after a third of that time.
    pub lease: Duration,
    /// The longest time between two looks at the queue.
    pub poll: Duration,
    /// When failed attempts are retried.
    pub retry: RetryPolicy,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            concurrency: 2,
            lease: Duration::from_secs(30),
            poll: Duration::from_secs(2),
            retry: RetryPolicy {
                attempts: 3,
                base: TimeDelta::milliseconds(500),
                max: TimeDelta::seconds(5),
                interruptions: 30,
            },
        }
    }
}

/// Runs jobs.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Runner {
    app: Arc<App>,
    settings: RunnerSettings,
}

impl Runner {
    /// Creates a runner.
    pub fn new(app: Arc<App>, settings: RunnerSettings) -> Self {
        Self { app, settings }
    }

    /// Releases the jobs that a dead process held; returns how many. Only for the one process of an installation:
    /// it would take the jobs of a running one.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn take_over(&self) -> Result<u64> {
        let mut work = self.app.store.begin().await?;
        let freed = work.jobs().release_all(self.app.now()).await?;
        work.commit().await?;
        Ok(freed)
    }

    /// Runs jobs until `stop`. Then no more are leased, and running ones get `grace` to finish; those that do not
    /// are returned to the queue.
    pub async fn run(&self, stop: CancellationToken, grace: Duration) {
        let abandon = CancellationToken::new();
        let mut running = JoinSet::new();
        while !stop.is_cancelled() {
            self.start_due(&mut running, &abandon).await;
            let free = running.len() < self.settings.concurrency;
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = running.join_next() => report_panic(ended),
                () = self.app.process.new_jobs.notified(), if free => {}
                () = self.pause(), if free => {}
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            abandon.cancel();
            let all = async { while running.join_next().await.is_some() {} };
            if tokio::time::timeout(RELEASE_TIMEOUT, all).await.is_err() {
                tracing::warn!("jobs could not be returned to the queue; their leases will run out");
            }
        }
    }

    /// Runs due jobs one after the other until none is due; returns the number of attempts.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn drain(&self) -> Result<usize> {
        let mut attempts = 0;
        while self.run_next().await? {
            attempts += 1;
        }
        Ok(attempts)
    }

    /// Runs the next due job; returns whether there was one.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn run_next(&self) -> Result<bool> {
        let Some((job, lease)) = self.lease().await? else { return Ok(false) };
        self.run_job(job, lease, &CancellationToken::new()).await;
        Ok(true)
    }

    async fn start_due(&self, running: &mut JoinSet<()>, abandon: &CancellationToken) {
        while running.len() < self.settings.concurrency {
            match self.lease().await {
                Ok(Some((job, lease))) => {
                    let (runner, abandon) = (self.clone(), abandon.clone());
                    running.spawn(async move { runner.run_job(job, lease, &abandon).await });
                }
                Ok(None) => return,
                Err(error) => {
                    self.app.note_error(&error);
                    tracing::warn!(error = %docent_domain::fault::report(&error), "the job queue cannot be read; trying again");
                    return;
                }
            }
        }
    }

    async fn lease(&self) -> Result<Option<(Job, LeaseId)>> {
        let now = self.app.now();
        let lease = self.app.new_id(LeaseId::generate);
        let mut work = self.app.store.begin().await?;
        let Some(job) = work.jobs().lease(lease, now, now + self.settings.lease).await? else {
            return Ok(None);
        };
        work.commit().await?;
        Ok(Some((job, lease)))
    }

    /// Waits until the next job is due, at most the poll interval.
    async fn pause(&self) {
        let due = async { self.app.store.read().await?.jobs().next_due().await };
        let pause = match due.await {
            Ok(Some(at)) => (at - self.app.now()).to_std().unwrap_or_default(),
            Ok(None) | Err(_) => self.settings.poll,
        };
        // A due job that was not leased is blocked by something: a short pause avoids a busy loop.
        let pause = pause.clamp(Duration::from_millis(20), self.settings.poll);
        self.app.sleep(pause).await;
    }

    async fn run_job(&self, job: Job, lease: LeaseId, abandon: &CancellationToken) {
        let span = spans::job(&job);
        if let Some(trace) = &job.trace {
            self.app.continue_trace(&span, trace);
        }
        self.try_job(&job, lease, abandon, &span).instrument(span.clone()).await;
    }

    async fn try_job(&self, job: &Job, lease: LeaseId, abandon: &CancellationToken, span: &Span) {
        tracing::debug!("job started");
        let started = self.app.now();
        let under_way = self.app.process.running.begin(lease, job.document);
        let stats = IngestionStats { attempts: job.attempts.saturating_add(1), ..IngestionStats::default() };
        let mut attempt = Attempt { version: None, stats };
        let ended = tokio::select! {
            outcome = self.attempt(job, &under_way.token, &mut attempt) => Some(outcome),
            () = self.keep_lease(job, lease, &under_way.token) => None,
            () = abandon.cancelled() => Some(Outcome::Retry(Retry::release(self.app.now()))),
        };
        drop(under_way);
        let ended = match ended {
            Some(outcome @ Outcome::Failure(..)) => self.clear_failed(job, lease, &attempt, outcome).await,
            ended => ended,
        };
        let Some(outcome) = ended else { return self.lose_lease(&attempt, span).await };
        outcome.log();
        record_end(span, outcome.end());
        let settle = self.settle(job, lease, &outcome, &attempt).instrument(spans::settle());
        match (settle.await, attempt.version) {
            (Some(end), _) => self.app.recorder.job_ended(end, self.app.since(started)),
            // The runner that has the lease by now may have ingested the version before its chunks were removed above.
            (None, Some(version)) if matches!(outcome, Outcome::Failure(..)) => {
                if let Err(error) = ingest_again_if_ingested(&self.app, version).await {
                    self.app.note_error(&error);
                    tracing::warn!(%version, error = %docent_domain::fault::report(&error), "chunks could not be checked; a sweep will");
                }
            }
            (None, _) => {}
        }
        if matches!(outcome, Outcome::Success(Success::Ingested { .. })) {
            self.purge_stale_chunks(&attempt).await;
        }
    }

    /// Makes one attempt with the handler of the job's kind.
    async fn attempt(&self, job: &Job, cancelled: &CancellationToken, attempt: &mut Attempt) -> Outcome {
        let (app, policy) = (&*self.app, &self.settings.retry);
        let work = async {
            match job.kind {
                JobKind::Ingest => handlers::ingest(app, job, policy, cancelled, attempt).await,
                JobKind::Delete => handlers::delete(app, job, policy).await,
            }
        };
        AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("the job panicked");
            handlers::panicked(job, policy, app.now())
        })
    }

    /// Ends an attempt whose lease another runner has.
    async fn lose_lease(&self, attempt: &Attempt, span: &Span) {
        tracing::warn!("the job's lease was lost to another runner");
        spans::fail(span, "lease_lost");
        self.purge_stale_chunks(attempt).await;
    }

    /// Removes the chunks of a version that is about to be recorded as failed. While the vector store is unavailable,
    /// the job waits instead. Returns `None` when the lease was lost: the runner that has it by then may have ingested
    /// the document.
    async fn clear_failed(
        &self,
        job: &Job,
        lease: LeaseId,
        attempt: &Attempt,
        failure: Outcome,
    ) -> Option<Outcome> {
        let removed = match (self.renew(job, lease).await, attempt.version) {
            (Ok((true, _)), Some(version)) => self.remove_chunks(version).await,
            (Ok((true, _)), None) => Ok(()),
            (Ok((false, _)), _) => return None,
            (Err(fault), _) => {
                self.app.note(&fault);
                return Some(failure);
            }
        };
        let wait = removed
            .err()
            .and_then(|fault| handlers::wait_for(&fault, job, &self.settings.retry, self.app.now()));
        // Without a wait, chunks that stay behind are left to a sweep.
        Some(wait.map_or(failure, Outcome::Retry))
    }

    /// Removes the chunks that the attempt wrote if their version has failed, or was deleted or replaced. A runner whose
    /// lease has run out may have written them after others removed them.
    async fn purge_stale_chunks(&self, attempt: &Attempt) {
        let Some(version) = attempt.version else { return };
        let status = async { self.app.store.read_latest().await?.inventory().statuses(&[version]).await };
        match status.await.map(|statuses| statuses.get(&version).copied()) {
            // A runner that ingests it now replaces them, and one that has done so wrote the same.
            Ok(Some(DocumentStatus::Pending | DocumentStatus::Ingested)) => {}
            Ok(Some(DocumentStatus::Failed | DocumentStatus::Deleted) | None) => {
                // Chunks that stay behind are left to a sweep.
                let _ = self.remove_chunks(version).await;
            }
            Err(fault) => {
                self.app.note(&fault);
                tracing::warn!(fault = %fault.report(), "stale chunks could not be checked for");
            }
        }
    }

    /// Renews the lease regularly and cancels the ingestion of a deleted document; returns when the lease is lost.
    async fn keep_lease(&self, job: &Job, lease: LeaseId, cancel: &CancellationToken) {
        loop {
            self.app.sleep(self.settings.lease / 3).await;
            match self.renew(job, lease).await {
                Ok((true, false)) => {}
                Ok((true, true)) => cancel.cancel(),
                Ok((false, _)) => return,
                // The lease lasts three renewals; the next one may work.
                Err(fault) => {
                    self.app.note(&fault);
                    tracing::warn!(fault = %fault.report(), "a lease could not be renewed");
                }
            }
        }
    }

    /// Renews the lease once; returns whether it is held and whether the document was deleted.
    async fn renew(&self, job: &Job, lease: LeaseId) -> Result<(bool, bool), Fault> {
        let until = self.app.now() + self.settings.lease;
        let mut work = self.app.store.begin().await?;
        let is_held = work.jobs().renew(job.id, lease, until).await?;
        let is_deleted = work.documents().get(job.document).await?.is_none();
        work.commit().await?;
        Ok((is_held, is_deleted))
    }

    /// Removes the chunks of a version from the active index.
    async fn remove_chunks(&self, version: VersionId) -> Result<(), Fault> {
        let remove = async { self.app.active_index().await?.index.remove(version).await };
        remove.await.inspect_err(|fault| {
            self.app.note(fault);
            tracing::warn!(%version, fault = %fault.report(), "chunks of a failed document could not be removed");
        })
    }

    /// Records the outcome of an attempt, with retries; returns what was recorded, if the lease was held.
    async fn settle(
        &self,
        job: &Job,
        lease: LeaseId,
        outcome: &Outcome,
        attempt: &Attempt,
    ) -> Option<JobOutcome> {
        let now = self.app.now();
        for _ in 0..SETTLE_ATTEMPTS {
            match self.try_settle(job, lease, outcome, attempt, now).await {
                Ok(None) => {
                    tracing::warn!("the job's lease ran out before its outcome was recorded");
                    return None;
                }
                Ok(end) => return end,
                Err(error) => {
                    self.app.note_error(&error);
                    tracing::warn!(error = %docent_domain::fault::report(&error), "the outcome of a job could not be recorded");
                }
            }
            self.app.sleep(SETTLE_PAUSE).await;
        }
        tracing::error!("the outcome of a job could not be recorded; the job will run again");
        spans::fail(&Span::current(), "not_written");
        None
    }

    /// Records the outcome in the job and its document, in one unit of work.
    async fn try_settle(
        &self,
        job: &Job,
        lease: LeaseId,
        outcome: &Outcome,
        attempt: &Attempt,
        now: DateTime<Utc>,
    ) -> Result<Option<JobOutcome>> {
        let mut work = self.app.store.begin().await?;
        // Work on an index that was replaced meanwhile is repeated in the active one.
        let released = Outcome::Retry(Retry::release(now));
        let outcome = match outcome.generation() {
            Some(generation) if !work.generations().is_active(generation).await? => &released,
            _ => outcome,
        };
        if !work.jobs().settle(&outcome.job(job.clone(), now), lease).await? {
            return Ok(None);
        }
        let finished = match outcome {
            Outcome::Success(Success::Ingested { coverage, labels, .. }) => {
                let ingested = |document: Document| document.ingested(Coverage::clone(coverage), now);
                let finished = self.finish(&mut *work, job.document, attempt, ingested).await?;
                if finished.is_some() {
                    work.documents().set_indexed_labels(job.document, *labels).await?;
                    work.documents().set_summary(job.document, None).await?;
                }
                finished
            }
            Outcome::Failure(failure, coverage) => {
                let coverage = coverage.as_deref().cloned();
                let failed = |document: Document| document.failed(failure.clone(), coverage, now);
                self.finish(&mut *work, job.document, attempt, failed).await?
            }
            Outcome::Success(Success::Deleted(_)) => {
                work.documents().remove_deleted(job.document).await?;
                None
            }
            Outcome::Success(Success::Obsolete) | Outcome::Retry(_) => None,
        };
        work.commit().await?;
        self.app.process.ended_jobs.notify_waiters();
        let Finished { has_deliveries, superseded } = finished.unwrap_or_default();
        versions::remove_superseded(&self.app, superseded.as_slice()).await;
        if has_deliveries {
            self.app.process.new_deliveries.notify_one();
        }
        if let Outcome::Success(Success::Ingested { .. }) = outcome {
            // Labels may have changed during the ingestion.
            self.app.process.new_labels.notify_one();
        }
        Ok(Some(outcome.end()))
    }

    /// Records the end of the ingestion of a document's upcoming version and queues its webhook deliveries. Returns none if
    /// the attempt ingested another version.
    async fn finish(
        &self,
        work: &mut dyn UnitOfWork,
        id: DocumentId,
        attempt: &Attempt,
        end: impl FnOnce(Document) -> Result<Document, IllegalTransition>,
    ) -> Result<Option<Finished>> {
        let Some(before) = work.documents().get(id).await? else { return Ok(None) };
        if before.upcoming().is_none_or(|upcoming| Some(upcoming.version_id) != attempt.version) {
            return Ok(None);
        }
        let mut document = end(before.clone())?;
        // Otherwise a replacement has failed, and the document is as before.
        let is_changed = Some(document.version_id) == attempt.version;
        if is_changed {
            document.stats = Some(attempt.stats.clone());
        }
        work.documents().update(&document).await?;
        let has_deliveries = events::enqueue_deliveries(&self.app, work, &document).await?;
        let superseded = (document.version_id != before.version_id).then(|| before.stored());
        Ok(Some(Finished { has_deliveries, superseded }))
    }
}

/// What remains to be done once the end of an ingestion is recorded.
#[derive(Default)]
struct Finished {
    /// Whether there are new webhook deliveries.
    has_deliveries: bool,
    /// The version that was replaced.
    superseded: Option<StoredVersion>,
}

fn report_panic(ended: std::result::Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a job's task panicked; its lease will run out");
    }
}

fn record_end(span: &Span, end: JobOutcome) {
    let outcome = match end {
        JobOutcome::Ingested => "ingested",
        JobOutcome::Failed(code) => {
            spans::fail(span, code.as_str());
            "failed"
        }
        JobOutcome::Retried => {
            spans::fail(span, "fault");
            "retried"
        }
        JobOutcome::Waiting => {
            spans::fail(span, "fault");
            "waiting"
        }
        JobOutcome::Released => "released",
        JobOutcome::Deleted => "deleted",
        JobOutcome::Deferred => "waited",
        JobOutcome::Obsolete => "obsolete",
    };
    span.record("docent.job.outcome", outcome);
}
