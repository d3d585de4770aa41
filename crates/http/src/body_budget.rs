//! The memory for large request bodies.

use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes of large bodies in memory at the same time.
const BUDGET: u32 = 32 * 1024 * 1024;

/// The memory for request bodies that are larger than [`SMALL`](crate::extract::body::SMALL).
pub struct BodyBudget(Arc<Semaphore>);

impl Default for BodyBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(BUDGET as usize)))
    }
}

impl BodyBudget {
    /// Reserves this number of bytes until the permit is dropped. `None` while the budget is used up.
    pub fn take(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        Arc::clone(&self.0).try_acquire_many_owned(bytes).ok()
    }
}
