//! The process whose embedded index belongs to a database that other processes can reach.
//!
//! Two processes with embedded indexes on one database server would each index some documents and find only those. So
//! the owner of the index leases a task in the database. The lease has the ID of its data directory: after a crash it
//! continues immediately, while another directory waits until the lease has expired.

use crate::App;
use crate::error::Result;
use chrono::DateTime;
use docent_domain::id::LeaseId;
use docent_ports::singleton_tasks::SingletonTask::EmbeddedIndex;
use docent_ports::singleton_tasks::TaskClaim;
use std::sync::Arc;
use std::time::Duration;

/// How long the lease lasts; it is renewed after a third of that.
const LEASE: Duration = Duration::from_secs(30);

/// The lease on the database of an embedded index.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct IndexOwner {
    app: Arc<App>,
    id: LeaseId,
}

impl IndexOwner {
    /// The owner with this ID, which is always the same for a data directory.
    pub fn new(app: Arc<App>, id: LeaseId) -> Self {
        Self { app, id }
    }

    /// Takes the lease; returns false while another owner has it.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub async fn acquire(&self) -> Result<bool> {
        let now = self.app.now();
        let mut work = self.app.store.begin().await?;
        let tasks = work.singleton_tasks();
        let until = now + LEASE;
        let claim =
            TaskClaim { task: EmbeddedIndex, lease: self.id, now, until, done_by: DateTime::UNIX_EPOCH };
        let is_acquired = tasks.renew(EmbeddedIndex, self.id, until).await? || tasks.acquire(claim).await?;
        work.commit().await?;
        Ok(is_acquired)
    }

    /// Renews the lease; returns when another owner has taken it, which can happen after the database was out of reach
    /// for longer than the lease.
    pub async fn hold(&self) {
        loop {
            self.app.sleep(LEASE / 3).await;
            match self.renew().await {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.app.note_error(&error);
                    tracing::warn!(error = %docent_domain::fault::report(&error), "the lease of the embedded index could not be renewed");
                }
            }
        }
    }

    /// Returns the lease, so that another owner need not wait until it expires.
    pub async fn release(&self) {
        if let Err(error) = self.try_release().await {
            tracing::debug!(error = %docent_domain::fault::report(&error), "the lease of the embedded index was not returned and will expire");
        }
    }

    async fn renew(&self) -> Result<bool> {
        let mut work = self.app.store.begin().await?;
        let is_held = work.singleton_tasks().renew(EmbeddedIndex, self.id, self.app.now() + LEASE).await?;
        work.commit().await?;
        Ok(is_held)
    }

    async fn try_release(&self) -> Result<()> {
        let mut work = self.app.store.begin().await?;
        work.singleton_tasks().complete(EmbeddedIndex, self.id, DateTime::UNIX_EPOCH).await?;
        work.commit().await?;
        Ok(())
    }
}
