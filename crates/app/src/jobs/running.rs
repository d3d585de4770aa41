//! The ingestions under way in this process, so that a deletion can stop them at once. Those of other
//! processes notice it when they renew their lease.

use crate::accounts::turns::Turns;
use docent_domain::id::DocumentId;
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};
use tokio::sync::{OwnedMutexGuard, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

/// What can be cancelled, and what of it takes a core.
#[derive(Debug)]
pub struct Running {
    tokens: Mutex<HashMap<DocumentId, CancellationToken>>,
    readings: Turns,
    cutting: Semaphore,
}

impl Default for Running {
    /// As many documents are cut at a time as there are jobs.
    fn default() -> Self {
        Self::cutting_at_most(Semaphore::MAX_PERMITS)
    }
}

impl Running {
    /// At most so many documents are cut into chunks at a time, however many jobs there are: the others wait for
    /// a back end meanwhile, or for their turn.
    pub fn cutting_at_most(documents: usize) -> Self {
        Self { tokens: Mutex::default(), readings: Turns::default(), cutting: Semaphore::new(documents) }
    }

    /// Cancels what is under way for a document, if anything is.
    pub fn cancel(&self, document: DocumentId) {
        if let Some(token) = self.tokens().get(&document) {
            token.cancel();
        }
    }

    /// Lets those who want to read the same file take turns: the second one finds what the first has read.
    pub(crate) async fn reading(&self, file: &str) -> OwnedMutexGuard<()> {
        self.readings.turn(file).await
    }

    /// Waits for the turn to cut a document into chunks.
    pub(crate) async fn cutting(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.cutting.acquire().await.ok()
    }

    /// Takes note of work on a document, for as long as the guard lives.
    pub(crate) fn begin(&self, document: DocumentId) -> Guard<'_> {
        let token = CancellationToken::new();
        self.tokens().insert(document, token.clone());
        Guard { running: self, document, token }
    }

    // The map is whole at every instant, also when a thread that held the lock has panicked.
    fn tokens(&self) -> std::sync::MutexGuard<'_, HashMap<DocumentId, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.running.tokens().remove(&self.document);
    }
}
