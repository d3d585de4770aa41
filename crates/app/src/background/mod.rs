//! What runs without a request: the job runner, and the recurring work beside it, which are webhook deliveries, labels of
//! documents, sweeps and purges.

mod handlers;
pub mod index_owner;
mod labelling;
mod outcome;
mod purging;
mod retention;
pub mod runner;
mod sweeping;

pub use runner::{Runner, RunnerSettings};

use crate::App;
use crate::webhooks::delivery_worker::DeliveryWorker;
use docent_ports::audit::AuditExports;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The recurring work of a process that runs jobs.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Background {
    app: Arc<App>,
    sweep_interval: Option<Duration>,
    retention: Option<AuditRetention>,
}

/// How long entries of the audit log are kept, and where they are exported to.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct AuditRetention {
    /// Age at which entries are removed.
    pub age: Duration,
    /// Where they are exported to.
    pub exports: Arc<dyn AuditExports>,
}

impl Background {
    /// `sweep_interval` is the time between two sweeps; without it this process never sweeps.
    pub fn new(app: Arc<App>, sweep_interval: Option<Duration>) -> Self {
        Self { app, sweep_interval, retention: None }
    }

    /// Removes entries of the audit log at this age.
    #[must_use]
    pub fn with_retention(self, retention: Option<AuditRetention>) -> Self {
        Self { retention, ..self }
    }

    /// Delivers, sweeps and purges until `stop`. Deliveries under way get a few seconds to finish.
    pub async fn run(&self, stop: CancellationToken) {
        let mut tasks = JoinSet::new();
        let (worker, stopped) = (DeliveryWorker::new(Arc::clone(&self.app)), stop.clone());
        tasks.spawn(async move { worker.run(stopped).await });
        let (background, stopped) = (self.clone(), stop.clone());
        tasks.spawn(async move {
            stopped.run_until_cancelled(background.sweep_regularly()).await;
        });
        let (background, stopped) = (self.clone(), stop.clone());
        tasks.spawn(async move {
            stopped.run_until_cancelled(background.label_regularly()).await;
        });
        let background = self.clone();
        tasks.spawn(async move {
            stop.run_until_cancelled(background.purge_regularly()).await;
        });
        while let Some(ended) = tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a background task panicked; it runs again after a restart");
            }
        }
    }
}
