//! Vector indexes by name: the vector collections of the vector store.

use crate::vector_index::VectorIndex;
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::GenerationId;
use std::sync::Arc;

/// Opens and removes vector collections.
#[async_trait]
pub trait VectorIndexes: Send + Sync {
    /// Opens the vector collection with this name and creates it if it is missing. Returns the same index as long as
    /// it is open. A store that several installations can share records the owner in the collection.
    ///
    /// # Errors
    /// If it cannot be opened: `InUse` or `Unavailable` if another process has exclusive access. If the collection has
    /// another owner, the calls of the index fail.
    async fn open(&self, name: &str, owner: GenerationId) -> Result<Arc<dyn VectorIndex>>;

    /// Closes a vector collection so that another process can open it. All references to the index must have been
    /// dropped. Idempotent.
    async fn close(&self, name: &str) -> Result<()>;

    /// Whether a vector collection with this name exists.
    async fn exists(&self, name: &str) -> Result<bool>;

    /// Removes a vector collection with its chunks. Idempotent: a missing one is not an error.
    ///
    /// # Errors
    /// `InUse` or `Unavailable` while another process has exclusive access.
    async fn remove(&self, name: &str) -> Result<()>;

    /// Checks that the vector store is reachable.
    async fn check(&self) -> Result<()>;

    /// Name and version of the server, such as `Qdrant 1.18.0`; `None` without one.
    async fn version(&self) -> Result<Option<String>> {
        Ok(None)
    }
}
