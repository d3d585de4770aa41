//! The ingestions under way in this process: how far each has come, and what stops it at once when its document
//! is deleted. Those of other processes notice that when they renew their lease.

use crate::accounts::keyed_locks::KeyedLocks;
use docent_domain::{id::DocumentId, metrics::Stage};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};
use tokio::sync::{OwnedMutexGuard, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// What can be cancelled, and what of it takes a core.
#[derive(Debug)]
pub struct Running {
    works: Mutex<HashMap<DocumentId, Work>>,
    readings: KeyedLocks,
    cutting: Semaphore,
}

#[derive(Debug)]
struct Work {
    token: CancellationToken,
    stage: Option<Stage>,
}

impl Running {
    /// At most so many documents are cut into chunks at a time, however many jobs there are: the others wait for
    /// a back end meanwhile, or for their turn.
    pub fn cutting_at_most(documents: usize) -> Self {
        Self { works: Mutex::default(), readings: KeyedLocks::default(), cutting: Semaphore::new(documents) }
    }

    /// Cancels what is under way for a document, if anything is.
    pub fn cancel(&self, document: DocumentId) {
        if let Some(work) = self.works().get(&document) {
            work.token.cancel();
        }
    }

    /// The step that the work on a document is at, if it is done in this process and has begun.
    pub fn stage(&self, document: DocumentId) -> Option<Stage> {
        self.works().get(&document)?.stage
    }

    /// Takes note of the step that the work on a document is at.
    pub(crate) fn reach(&self, document: DocumentId, stage: Stage) {
        if let Some(work) = self.works().get_mut(&document) {
            work.stage = Some(stage);
        }
    }

    /// Lets those who want to read the same file take turns: the second one finds what the first has read.
    pub(crate) async fn reading(&self, file: &str) -> OwnedMutexGuard<()> {
        self.readings.lock(file).await
    }

    /// Waits for the turn to cut a document into chunks.
    pub(crate) async fn cutting(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.cutting.acquire().await.ok()
    }

    /// Takes note of work on a document, for as long as the guard lives.
    pub(crate) fn begin(&self, document: DocumentId) -> Guard<'_> {
        let token = CancellationToken::new();
        self.works().insert(document, Work { token: token.clone(), stage: None });
        Guard { running: self, document, token }
    }

    // The map is whole at every instant, also when a thread that held the lock has panicked.
    fn works(&self) -> std::sync::MutexGuard<'_, HashMap<DocumentId, Work>> {
        self.works.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Work under way.
#[derive(Debug)]
pub(crate) struct Guard<'a> {
    running: &'a Running,
    document: DocumentId,
    pub(crate) token: CancellationToken,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.running.works().remove(&self.document);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_known_for_as_long_as_the_work_goes_on() {
        let running = Running::cutting_at_most(1);
        let document: DocumentId = "01900000-0000-7000-8000-000000000001".parse().unwrap();
        running.reach(document, Stage::Extract);
        assert_eq!(running.stage(document), None);
        let work = running.begin(document);
        assert_eq!(running.stage(document), None);
        running.reach(document, Stage::Extract);
        running.reach(document, Stage::Chunk);
        assert_eq!(running.stage(document), Some(Stage::Chunk));
        drop(work);
        assert_eq!(running.stage(document), None);
    }
}
