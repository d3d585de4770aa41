//! When a runner sweeps: soon after its start and then at intervals, one runner of all at a time.

use super::Runner;
use crate::{
    error::Result,
    maintenance::sweep::{SweepReport, sweep},
};
use chrono::TimeDelta;
use docent_domain::id::LeaseId;
use docent_ports::{error::Fault, singleton_tasks::SingletonTask};
use futures::FutureExt;
use std::{panic::AssertUnwindSafe, time::Duration};
use tracing::Instrument;

/// How long a sweep belongs to a runner that may have died; it is renewed after a third of that.
const LEASE: Duration = Duration::from_secs(30);
/// A runner that starts leaves it at the sweep that another one has done so short a time ago.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// How soon a runner looks again whether it is its turn, and how soon a sweep is done again that could not see or
/// mend everything.
const AGAIN: Duration = Duration::from_secs(60);

impl Runner {
    /// Sweeps, if no runner has done so for `idle` and none is about to; what it did, or nothing.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn sweep(&self, idle: Duration) -> Result<Option<SweepReport>> {
        let (app, lease) = (self.app(), self.app().new_id(LeaseId::generate));
        let now = app.clock.now();
        let mut work = app.store.begin().await?;
        let done_by = now - TimeDelta::from_std(idle).unwrap_or(TimeDelta::MAX);
        if !work.singleton_tasks().acquire(SingletonTask::Sweep, lease, now, now + LEASE, done_by).await? {
            return Ok(None);
        }
        work.commit().await?;
        let span = tracing::info_span!("sweep");
        let swept = tokio::select! {
            swept = sweep(app).instrument(span) => swept,
            () = self.keep_duty(lease) => {
                tracing::warn!("the lease of a sweep was lost; another runner sweeps");
                return Ok(None);
            }
        };
        let mut work = app.store.begin().await?;
        if swept.is_complete() {
            // What came to be after its beginning it may not have seen.
            work.singleton_tasks().complete(SingletonTask::Sweep, lease, now).await?;
        } else {
            work.singleton_tasks().renew(SingletonTask::Sweep, lease, app.clock.now() + self.again()).await?;
        }
        work.commit().await?;
        Ok(Some(swept))
    }

    /// Sweeps again and again, for ever.
    pub(super) async fn sweep_regularly(&self) {
        let Some(interval) = self.sweep_interval() else { return };
        // By then what dead runners held has been taken up.
        self.app().clock.sleep(LEASE.min(interval)).await;
        let mut idle = FRESH.min(interval);
        loop {
            let pause = match AssertUnwindSafe(self.sweep(idle)).catch_unwind().await {
                Ok(Ok(Some(swept))) if swept.is_complete() => interval,
                Ok(Ok(_)) => self.again(),
                Ok(Err(error)) => {
                    self.note(&error);
                    tracing::warn!(error = %docent_ports::error::report(&error), "a sweep could not be begun or ended");
                    self.again()
                }
                Err(_) => {
                    tracing::error!("a sweep panicked");
                    interval
                }
            };
            idle = interval;
            self.app().clock.sleep(pause).await;
        }
    }

    fn again(&self) -> Duration {
        self.sweep_interval().map_or(AGAIN, |interval| interval.min(AGAIN))
    }

    /// Renews the lease; returns when it was lost.
    async fn keep_duty(&self, lease: LeaseId) {
        let app = self.app();
        loop {
            app.clock.sleep(LEASE / 3).await;
            let until = app.clock.now() + LEASE;
            let renew = async {
                let mut work = app.store.begin().await?;
                let is_held = work.singleton_tasks().renew(SingletonTask::Sweep, lease, until).await?;
                work.commit().await?;
                Ok::<_, Fault>(is_held)
            };
            match renew.await {
                Ok(true) => {}
                Ok(false) => return,
                // The sweep itself will tell of it.
                Err(fault) => {
                    tracing::debug!(fault = %fault.report(), "the lease of a sweep could not be renewed")
                }
            }
        }
    }
}
