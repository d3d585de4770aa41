//! The schedule of sweeps: soon after the start and then at intervals, in one process at a time.

use super::Background;
use crate::error::Result;
use crate::maintenance::sweep::{SweepReport, sweep};
use chrono::TimeDelta;
use docent_domain::fault::Fault;
use docent_domain::id::LeaseId;
use docent_ports::singleton_tasks::{SingletonTask, TaskClaim};
use futures::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tracing::Instrument;

/// How long the lease of a sweep lasts; it is renewed after a third of that.
const LEASE: Duration = Duration::from_secs(30);
/// A process that has just started skips its first sweep if another process swept this recently.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// The pause before a sweep that another process was doing, or that was incomplete, is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);

impl Background {
    /// Sweeps, unless a process did so within `idle` or is sweeping now; returns what it found, if it swept.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn sweep(&self, idle: Duration) -> Result<Option<SweepReport>> {
        let (app, lease) = (&*self.app, self.app.new_id(LeaseId::generate));
        let now = app.now();
        let mut work = app.store.begin().await?;
        let done_by = now - TimeDelta::from_std(idle).unwrap_or(TimeDelta::MAX);
        let claim = TaskClaim { task: SingletonTask::Sweep, lease, now, until: now + LEASE, done_by };
        if !work.singleton_tasks().acquire(claim).await? {
            return Ok(None);
        }
        work.commit().await?;
        let span = tracing::info_span!("sweep");
        let swept = tokio::select! {
            swept = sweep(app).instrument(span) => swept,
            () = self.renew_lease(lease) => {
                tracing::warn!("the lease of the sweep was lost to another process");
                return Ok(None);
            }
        };
        let mut work = app.store.begin().await?;
        if swept.is_complete() {
            // Recorded as of its start: it may have missed what was created later.
            work.singleton_tasks().complete(SingletonTask::Sweep, lease, now).await?;
        } else {
            work.singleton_tasks()
                .renew(SingletonTask::Sweep, lease, app.now() + self.retry_interval())
                .await?;
        }
        work.commit().await?;
        Ok(Some(swept))
    }

    /// Sweeps at intervals, until cancelled.
    pub(super) async fn sweep_regularly(&self) {
        let Some(interval) = self.sweep_interval else { return };
        // By then the leases of jobs that crashed processes held have run out.
        self.app.sleep(LEASE.min(interval)).await;
        let mut idle = FRESH.min(interval);
        loop {
            let pause = match AssertUnwindSafe(self.sweep(idle)).catch_unwind().await {
                Ok(Ok(Some(swept))) if swept.is_complete() => interval,
                Ok(Ok(_)) => self.retry_interval(),
                Ok(Err(error)) => {
                    self.app.note_error(&error);
                    tracing::warn!(error = %docent_domain::fault::report(&error), "a sweep could not be started or recorded");
                    self.retry_interval()
                }
                Err(_) => {
                    tracing::error!("a sweep panicked");
                    interval
                }
            };
            idle = interval;
            self.app.sleep(pause).await;
        }
    }

    fn retry_interval(&self) -> Duration {
        self.sweep_interval.map_or(RETRY_INTERVAL, |interval| interval.min(RETRY_INTERVAL))
    }

    /// Renews the lease; returns when it was lost.
    async fn renew_lease(&self, lease: LeaseId) {
        let app = &self.app;
        loop {
            app.sleep(LEASE / 3).await;
            let until = app.now() + LEASE;
            let renew = async {
                let mut work = app.store.begin().await?;
                let is_held = work.singleton_tasks().renew(SingletonTask::Sweep, lease, until).await?;
                work.commit().await?;
                Ok::<_, Fault>(is_held)
            };
            match renew.await {
                Ok(true) => {}
                Ok(false) => return,
                // The sweep needs the database as well and reports the fault.
                Err(fault) => {
                    tracing::debug!(fault = %fault.report(), "the lease of a sweep could not be renewed")
                }
            }
        }
    }
}
