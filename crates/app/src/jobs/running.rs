//! The jobs running in this process: their stages, and their cancellation when the document is deleted or its file replaced. Runners of
//! other processes notice the deletion when they renew their lease.

use docent_domain::id::{DocumentId, LeaseId};
use docent_domain::metrics::Stage;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// The jobs running in this process, and the permits that they share.
#[derive(Debug)]
pub(crate) struct Running {
    jobs: Mutex<HashMap<LeaseId, RunningJob>>,
    chunking: Semaphore,
}

#[derive(Debug)]
struct RunningJob {
    document: DocumentId,
    token: CancellationToken,
    stage: Option<Stage>,
}

impl Running {
    /// Allows this many documents to be split into chunks at the same time. There may be more jobs: the others wait
    /// for a back end or for a permit.
    pub(crate) fn new(documents: usize) -> Self {
        Self { jobs: Mutex::default(), chunking: Semaphore::new(documents) }
    }

    /// Cancels the running jobs of a document.
    pub(crate) fn cancel(&self, document: DocumentId) {
        for job in self.jobs().values().filter(|job| job.document == document) {
            job.token.cancel();
        }
    }

    /// The current stage of a document's ingestion, if it runs in this process and has started.
    pub(crate) fn stage(&self, document: DocumentId) -> Option<Stage> {
        self.jobs().values().filter(|job| job.document == document).find_map(|job| job.stage)
    }

    /// Sets the stage of a document's ingestion.
    pub(crate) fn set_stage(&self, document: DocumentId, stage: Stage) {
        // Those of earlier versions are cancelled.
        for job in self.jobs().values_mut().filter(|job| job.document == document) {
            job.stage = Some(stage);
        }
    }

    /// Waits for a permit to split a document into chunks.
    pub(crate) async fn chunking_permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.chunking.acquire().await.ok()
    }

    /// Registers a job of a document until the guard is dropped.
    pub(crate) fn begin(&self, lease: LeaseId, document: DocumentId) -> Guard<'_> {
        let token = CancellationToken::new();
        self.jobs().insert(lease, RunningJob { document, token: token.clone(), stage: None });
        Guard { running: self, lease, token }
    }

    // The map is consistent even if a thread panicked while holding the lock.
    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<LeaseId, RunningJob>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The registration of a running job.
#[derive(Debug)]
pub(crate) struct Guard<'a> {
    running: &'a Running,
    lease: LeaseId,
    pub(crate) token: CancellationToken,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.running.jobs().remove(&self.lease);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stage_is_known_while_the_job_runs() {
        let running = Running::new(1);
        let document: DocumentId = "01900000-0000-7000-8000-000000000001".parse().unwrap();
        running.set_stage(document, Stage::Extract);
        assert_eq!(running.stage(document), None);
        let job = running.begin("01900000-0000-7000-8000-000000000002".parse().unwrap(), document);
        assert_eq!(running.stage(document), None);
        running.set_stage(document, Stage::Extract);
        running.set_stage(document, Stage::Chunk);
        assert_eq!(running.stage(document), Some(Stage::Chunk));
        drop(job);
        assert_eq!(running.stage(document), None);
    }
}
