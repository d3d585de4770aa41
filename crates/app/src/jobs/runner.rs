//! The runner: leases jobs, keeps their leases alive, and writes down what became of them.
//!
//! Whatever it knows is in the ledger. When its process dies its leases run out, and any runner,
//! after a restart or on another machine, takes the jobs over.

use super::outcome::Outcome;
use crate::{
    App, Error,
    documents::delete,
    error::Result,
    ingest::{self, IngestError},
    recorder::JobOutcome,
    spans,
    webhooks::{courier::Courier, events},
};
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::{
    document::{Document, DocumentState, Failure, FailureCode},
    extraction::IngestionStats,
    id::{DocumentId, LeaseId},
    job::{Job, JobKind, RetryPolicy},
    trace::TraceParent,
};
use docent_ports::error::{Component, Fault, FaultKind};
use futures::FutureExt;
use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};
use tokio::task::JoinSet;
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use tracing::{Instrument, Span};

/// Tries to write an outcome down before the lease is left to run out.
const SETTLE_TRIES: u32 = 5;
const SETTLE_PAUSE: Duration = Duration::from_secs(1);
/// How long a stopping runner tries to give back what has not ended.
const GIVING_BACK: Duration = Duration::from_secs(5);

/// Makes a span part of the trace that a job belongs to.
pub type ContinueTrace = fn(&Span, &TraceParent);

/// How a runner works.
#[derive(Clone, Copy, Debug)]
pub struct RunnerSettings {
    /// Jobs run at once.
    pub concurrency: usize,
    /// How long a lease lasts; it is renewed after a third of that.
    pub lease: Duration,
    /// The longest time without a look at the ledger.
    pub poll: Duration,
    /// When to try again, and when to give up.
    pub retry: RetryPolicy,
    /// The time from one sweep to the next; none when this runner never sweeps.
    pub sweep_interval: Option<Duration>,
    /// What joins an ingestion to the trace of its upload; without it, it is a trace of its own.
    pub continue_trace: Option<ContinueTrace>,
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
            sweep_interval: Some(Duration::from_secs(60 * 60)),
            continue_trace: None,
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
    /// A runner on these ports.
    pub fn new(app: Arc<App>, settings: RunnerSettings) -> Self {
        Self { app, settings }
    }

    /// Frees the jobs that a dead process held, and says how many there were. Only for the one
    /// process that owns the ledger: it would take a living one's jobs away.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn take_over(&self) -> Result<u64> {
        let mut work = self.app.store.begin().await?;
        let freed = work.jobs().release_all(self.app.clock.now()).await?;
        work.commit().await?;
        Ok(freed)
    }

    /// Runs jobs until `stop`. Then no more are leased, and those under way get `grace` to end;
    /// what has not ended by then goes back to the queue.
    pub async fn run(&self, stop: CancellationToken, grace: Duration) {
        let abandon = CancellationToken::new();
        let mut running = JoinSet::new();
        let _sweeping = self.start_sweeping(&stop);
        let delivering = self.start_delivering(&stop);
        let mut purge_at = self.app.clock.now();
        while !stop.is_cancelled() {
            self.start_due(&mut running, &abandon).await;
            purge_at = self.purge(purge_at).await;
            let free = running.len() < self.settings.concurrency;
            tokio::select! {
                () = stop.cancelled() => {}
                Some(ended) = running.join_next() => report_panic(ended),
                () = self.app.work.notified(), if free => {}
                () = self.pause(), if free => {}
            }
        }
        let all = async { while running.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            abandon.cancel();
            let all = async { while running.join_next().await.is_some() {} };
            if tokio::time::timeout(GIVING_BACK, all).await.is_err() {
                tracing::warn!("jobs could not be given back; their leases will run out");
            }
        }
        // It bounds the time that it takes itself.
        if let Err(error) = delivering.await {
            tracing::error!(error = %docent_ports::error::report(&error), "the courier of webhooks died");
        }
    }

    /// Tells webhooks what there is to tell beside the jobs until `stop`, or until what this gives is dropped.
    fn start_delivering(&self, stop: &CancellationToken) -> AbortOnDropHandle<()> {
        let (courier, stop) = (Courier::new(Arc::clone(&self.app)), stop.clone());
        AbortOnDropHandle::new(tokio::spawn(async move { courier.run(stop).await }))
    }

    /// Sweeps beside the jobs until `stop`, or until what this gives is dropped.
    fn start_sweeping(&self, stop: &CancellationToken) -> AbortOnDropHandle<()> {
        let (runner, stop) = (self.clone(), stop.clone());
        let sweeping = async move {
            stop.run_until_cancelled(runner.sweep_regularly()).await;
        };
        AbortOnDropHandle::new(tokio::spawn(sweeping))
    }

    pub(super) fn app(&self) -> &App {
        &self.app
    }

    pub(super) fn sweep_interval(&self) -> Option<Duration> {
        self.settings.sweep_interval
    }

    /// Runs what is due, one after the other, until nothing is; says how many tries that took.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn drain(&self) -> Result<usize> {
        let mut tries = 0;
        while self.run_next().await? {
            tries += 1;
        }
        Ok(tries)
    }

    /// Runs the next job that is due, if one is; says whether one was.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn run_next(&self) -> Result<bool> {
        let Some((job, lease)) = self.lease().await? else { return Ok(false) };
        self.run_job(job, lease, CancellationToken::new()).await;
        Ok(true)
    }

    async fn start_due(&self, running: &mut JoinSet<()>, abandon: &CancellationToken) {
        while running.len() < self.settings.concurrency {
            match self.lease().await {
                Ok(Some((job, lease))) => {
                    let (runner, abandon) = (self.clone(), abandon.clone());
                    running.spawn(async move { runner.run_job(job, lease, abandon).await });
                }
                Ok(None) => return,
                Err(error) => {
                    self.note(&error);
                    tracing::warn!(error = %docent_ports::error::report(&error), "the job ledger cannot be read; trying again");
                    return;
                }
            }
        }
    }

    async fn lease(&self) -> Result<Option<(Job, LeaseId)>> {
        let now = self.app.clock.now();
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
            Ok(Some(at)) => (at - self.app.clock.now()).to_std().unwrap_or_default(),
            Ok(None) | Err(_) => self.settings.poll,
        };
        // Never at once: a due job that was not leased is being held up by something.
        let pause = pause.clamp(Duration::from_millis(20), self.settings.poll);
        self.app.clock.sleep(pause).await;
    }

    async fn run_job(&self, job: Job, lease: LeaseId, abandon: CancellationToken) {
        let span = spans::job(&job);
        if let (Some(continue_trace), Some(trace)) = (self.settings.continue_trace, &job.trace) {
            continue_trace(&span, trace);
        }
        self.try_job(job, lease, abandon, &span).instrument(span.clone()).await;
    }

    async fn try_job(&self, job: Job, lease: LeaseId, abandon: CancellationToken, span: &Span) {
        tracing::debug!("job begun");
        let started = self.app.clock.now();
        let under_way = self.app.running.begin(job.document);
        let mut effort =
            IngestionStats { attempts: job.attempts.saturating_add(1), ..IngestionStats::default() };
        let outcome = tokio::select! {
            outcome = self.attempt(&job, &under_way.token, &mut effort) => outcome,
            () = self.keep_lease(&job, lease, &under_way.token) => {
                tracing::warn!("the job's lease was lost; another runner has it");
                spans::fail(span, "lease_lost");
                self.leave_nothing(&job).await;
                return;
            }
            () = abandon.cancelled() => Outcome::Released,
        };
        drop(under_way);
        outcome.log();
        let end = outcome.end();
        record_end(span, end);
        if matches!(outcome, Outcome::Failed(..)) {
            // Whoever has the job now, if this runner was too late, may have ingested the document.
            match self.renew(&job, lease).await {
                Ok((true, _)) => self.remove_chunks(job.document).await,
                Ok((false, _)) => {
                    tracing::warn!("the job's lease was lost; another runner has it");
                    spans::fail(span, "lease_lost");
                    self.leave_nothing(&job).await;
                    return;
                }
                // Chunks that stay behind are left to a sweep.
                Err(fault) => self.app.note(&fault),
            }
        }
        if let Some(end) = self.settle(job.clone(), lease, outcome, &effort).instrument(spans::settle()).await
        {
            self.app.recorder.job_ended(end, self.app.since(started));
        }
        if matches!(end, JobOutcome::Ingested) {
            self.leave_nothing(&job).await;
        }
    }

    pub(super) fn note(&self, error: &Error) {
        if let Error::Fault(fault) = error {
            self.app.note(fault);
        }
    }

    /// One try. A panic is the document's failure, not the runner's end.
    async fn attempt(
        &self,
        job: &Job,
        cancelled: &CancellationToken,
        effort: &mut IngestionStats,
    ) -> Outcome {
        let work = async {
            match job.kind {
                JobKind::Ingest => self.ingest(job, cancelled, effort).await,
                JobKind::Delete => self.delete(job).await,
            }
        };
        AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| {
            tracing::error!("the job panicked");
            let (policy, now) = (&self.settings.retry, self.app.clock.now());
            match job.kind {
                JobKind::Ingest => Outcome::Failed(Failure::of(FailureCode::Internal), None),
                JobKind::Delete => {
                    let fault = Fault::new(Component::Service, FaultKind::Internal, "the removal panicked");
                    Outcome::of_removal(Err(fault), job, policy, now)
                }
            }
        })
    }

    async fn delete(&self, job: &Job) -> Outcome {
        let removed = delete::remove(&self.app, job).await.inspect_err(|fault| self.app.note(fault));
        Outcome::of_removal(removed, job, &self.settings.retry, self.app.clock.now())
    }

    async fn ingest(&self, job: &Job, cancelled: &CancellationToken, effort: &mut IngestionStats) -> Outcome {
        if job.interruptions > self.settings.retry.interruptions {
            return Outcome::Failed(Failure::of(FailureCode::Interrupted), None);
        }
        let fault = |fault: &Fault| {
            self.app.note(fault);
            Outcome::of_fault(fault, job, &self.settings.retry, self.app.clock.now())
        };
        let document = match self.document(job).await {
            Ok(Some(document)) if matches!(document.state, DocumentState::Pending(_)) => document,
            Ok(_) => return Outcome::Obsolete,
            Err(broken) => return fault(&broken),
        };
        let serving = match self.app.serving().await {
            Ok(serving) => serving,
            Err(broken) => return fault(&broken),
        };
        let Some(result) = ingest::ingest(&self.app, &serving, &document, cancelled, effort).await else {
            return Outcome::Obsolete;
        };
        if let Err(IngestError::Fault(fault, _)) = &result {
            self.app.note(fault);
        }
        Outcome::of(result, serving.generation.id, job, &self.settings.retry, self.app.clock.now())
    }

    async fn document(&self, job: &Job) -> Result<Option<Document>, Fault> {
        self.app.store.read().await?.documents().get(job.document).await
    }

    /// A runner whose lease has run out may have written chunks after others removed them.
    async fn leave_nothing(&self, job: &Job) {
        if job.kind != JobKind::Ingest {
            return;
        }
        match self.document(job).await {
            // Whoever ingests it now replaces them, and whoever has done so wrote the same.
            Ok(Some(Document { state: DocumentState::Pending(_) | DocumentState::Ingested(_), .. })) => {}
            Ok(Some(Document { state: DocumentState::Failed(_), .. }) | None) => {
                self.remove_chunks(job.document).await;
            }
            Err(fault) => {
                self.app.note(&fault);
                tracing::warn!(fault = %fault.report(), "whether chunks are left of a document cannot be seen");
            }
        }
    }

    /// Renews the lease, and cancels the ingestion of a document that was deleted; returns when the lease was
    /// lost.
    async fn keep_lease(&self, job: &Job, lease: LeaseId, cancel: &CancellationToken) {
        loop {
            self.app.clock.sleep(self.settings.lease / 3).await;
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

    /// Renews the lease once; whether it is held, and whether the document was deleted.
    async fn renew(&self, job: &Job, lease: LeaseId) -> Result<(bool, bool), Fault> {
        let until = self.app.clock.now() + self.settings.lease;
        let mut work = self.app.store.begin().await?;
        let is_held = work.jobs().renew(job.id, lease, until).await?;
        let is_deleted = work.documents().get(job.document).await?.is_none();
        work.commit().await?;
        Ok((is_held, is_deleted))
    }

    /// Leaves nothing to be found of a document that is given up.
    async fn remove_chunks(&self, document: DocumentId) {
        let remove = async { self.app.serving().await?.index.remove(document).await };
        if let Err(fault) = remove.await {
            self.app.note(&fault);
            tracing::warn!(%document, fault = %fault.report(), "chunks of a failed document could not be removed");
        }
    }

    /// Writes down what became of the job and its document, together; gives how it ended once that is written.
    async fn settle(
        &self,
        job: Job,
        lease: LeaseId,
        outcome: Outcome,
        effort: &IngestionStats,
    ) -> Option<JobOutcome> {
        let now = self.app.clock.now();
        for _ in 0..SETTLE_TRIES {
            match self.try_settle(&job, lease, &outcome, effort, now).await {
                Ok(None) => {
                    tracing::warn!("the job's lease ran out before its end was written");
                    return None;
                }
                Ok(end) => return end,
                Err(error) => {
                    self.note(&error);
                    tracing::warn!(error = %docent_ports::error::report(&error), "the end of a job could not be written");
                }
            }
            self.app.clock.sleep(SETTLE_PAUSE).await;
        }
        tracing::error!("gave up writing the end of a job; it will be run again");
        spans::fail(&Span::current(), "not_written");
        None
    }

    async fn try_settle(
        &self,
        job: &Job,
        lease: LeaseId,
        mut outcome: &Outcome,
        effort: &IngestionStats,
        now: DateTime<Utc>,
    ) -> Result<Option<JobOutcome>> {
        let mut work = self.app.store.begin().await?;
        // What was done in an index that has been replaced meanwhile is done again in the one that serves.
        if let Some(generation) = outcome.generation()
            && !work.generations().is_active(generation).await?
        {
            outcome = &Outcome::Released;
        }
        if !work.jobs().settle(&outcome.job(job.clone(), now), lease).await? {
            return Ok(None);
        }
        let mut is_told = false;
        if matches!(outcome, Outcome::Deleted(_)) {
            work.documents().remove_deleted(job.document).await?;
        } else if let Some(document) = work.documents().get(job.document).await?
            && matches!(document.state, DocumentState::Pending(_))
            && let Some(document) = outcome.document(document, effort, now)?
        {
            work.documents().update(&document).await?;
            is_told = events::take_down(&self.app, &mut *work, &document).await?;
        }
        work.commit().await?;
        if is_told {
            self.app.deliveries.notify_one();
        }
        Ok(Some(outcome.end()))
    }
}

fn report_panic(ended: std::result::Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended {
        tracing::error!(error = %docent_ports::error::report(&error), "a job's task died; its lease will run out");
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
        JobOutcome::Released => "released",
        JobOutcome::Deleted => "deleted",
        JobOutcome::Deferred => "waited",
        JobOutcome::Obsolete => "obsolete",
    };
    span.record("docent.job.outcome", outcome);
}
