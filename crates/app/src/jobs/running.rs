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
    progress: Option<IngestionProgress>,
}

/// How far an ingestion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IngestionProgress {
    /// The current stage.
    pub stage: Stage,
    /// The page that is being recognised.
    pub page: Option<u32>,
    /// Number of pages, once the text was extracted.
    pub pages: Option<u32>,
}

impl Running {
    /// Allows this many documents to be split into chunks at the same time. There may be more jobs: the others wait
    /// for a back end or for a permit.
    pub(crate) fn new(documents: usize) -> Self {
        Self { jobs: Mutex::default(), chunking: Semaphore::new(documents) }
    }

    /// Cancels the running jobs of a document.
    pub(crate) fn cancel(&self, document: DocumentId) {
        self.of_document(document).cancel();
    }

    /// The jobs of a document that run now, to cancel them alone later.
    pub(crate) fn of_document(&self, document: DocumentId) -> RunningJobs {
        let jobs = self.jobs();
        let tokens = jobs.values().filter(|job| job.document == document).map(|job| job.token.clone());
        RunningJobs(tokens.collect())
    }

    /// How far the ingestion of a document is, if it runs in this process and has started.
    pub(crate) fn progress(&self, document: DocumentId) -> Option<IngestionProgress> {
        self.jobs().values().filter(|job| job.document == document).find_map(|job| job.progress)
    }

    /// Sets the stage of a document's ingestion.
    pub(crate) fn set_stage(&self, document: DocumentId, stage: Stage) {
        self.update(document, |job| {
            let pages = job.progress.and_then(|progress| progress.pages);
            job.progress = Some(IngestionProgress { stage, page: None, pages });
        });
    }

    /// Sets the number of pages of a document that is being ingested.
    pub(crate) fn set_pages(&self, document: DocumentId, pages: usize) {
        let pages = u32::try_from(pages).ok();
        self.update(document, |job| {
            if let Some(progress) = &mut job.progress {
                progress.pages = pages;
            }
        });
    }

    /// Sets the page of a document that is being recognised.
    pub(crate) fn set_page(&self, document: DocumentId, page: u32) {
        self.update(document, |job| {
            if let Some(progress) = &mut job.progress {
                progress.page = Some(page);
            }
        });
    }

    fn update(&self, document: DocumentId, change: impl Fn(&mut RunningJob)) {
        // Those of earlier versions are cancelled.
        self.jobs().values_mut().filter(|job| job.document == document).for_each(change);
    }

    /// Waits for a permit to split a document into chunks.
    pub(crate) async fn chunking_permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed.
        self.chunking.acquire().await.ok()
    }

    /// Registers a job of a document until the guard is dropped.
    pub(crate) fn begin(&self, lease: LeaseId, document: DocumentId) -> Guard<'_> {
        let token = CancellationToken::new();
        self.jobs().insert(lease, RunningJob { document, token: token.clone(), progress: None });
        Guard { running: self, lease, token }
    }

    // The map is consistent even if a thread panicked while holding the lock.
    fn jobs(&self) -> std::sync::MutexGuard<'_, HashMap<LeaseId, RunningJob>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Jobs that were running at some time.
#[derive(Debug)]
pub(crate) struct RunningJobs(Vec<CancellationToken>);

impl RunningJobs {
    /// Cancels those that still run.
    pub(crate) fn cancel(&self) {
        self.0.iter().for_each(CancellationToken::cancel);
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
    fn progress_is_known_while_the_job_runs() {
        let running = Running::new(1);
        let document: DocumentId = "01900000-0000-7000-8000-000000000001".parse().unwrap();
        running.set_stage(document, Stage::Extract);
        assert_eq!(running.progress(document), None);
        let job = running.begin("01900000-0000-7000-8000-000000000002".parse().unwrap(), document);
        running.set_page(document, 1);
        assert_eq!(running.progress(document), None);
        let progress = |stage, page, pages| Some(IngestionProgress { stage, page, pages });
        running.set_stage(document, Stage::Extract);
        assert_eq!(running.progress(document), progress(Stage::Extract, None, None));
        running.set_pages(document, 9);
        running.set_stage(document, Stage::Recognize);
        running.set_page(document, 4);
        assert_eq!(running.progress(document), progress(Stage::Recognize, Some(4), Some(9)));
        running.set_stage(document, Stage::Chunk);
        assert_eq!(running.progress(document), progress(Stage::Chunk, None, Some(9)));
        drop(job);
        assert_eq!(running.progress(document), None);
    }

    #[test]
    fn jobs_that_begin_later_are_not_cancelled_with_earlier_ones() {
        let running = Running::new(1);
        let document: DocumentId = "01900000-0000-7000-8000-000000000001".parse().unwrap();
        let earlier = running.begin("01900000-0000-7000-8000-000000000002".parse().unwrap(), document);
        let other = "01900000-0000-7000-8000-000000000003".parse().unwrap();
        let of_other = running.begin("01900000-0000-7000-8000-000000000004".parse().unwrap(), other);
        let jobs = running.of_document(document);
        let later = running.begin("01900000-0000-7000-8000-000000000005".parse().unwrap(), document);
        jobs.cancel();
        let cancelled = [&earlier, &of_other, &later].map(|job| job.token.is_cancelled());
        assert_eq!(cancelled, [true, false, false]);
    }
}
