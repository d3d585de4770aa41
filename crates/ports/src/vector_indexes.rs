//! The collections of the vector store, by their names.

use crate::{error::Result, vector_index::VectorIndex};
use async_trait::async_trait;
use std::sync::Arc;

/// Opens and removes collections.
#[async_trait]
pub trait VectorIndexes: Send + Sync {
    /// The collection with this name, which may have to come into being first. May be repeated, and gives the
    /// same one for as long as it is open.
    ///
    /// # Errors
    /// When it cannot be opened: `Unavailable` also when another process has it for itself.
    async fn open(&self, name: &str) -> Result<Arc<dyn VectorIndex>>;

    /// Lets go of a collection, so that another process can open it. Whoever still holds it must have let go
    /// of it before. May be repeated.
    async fn close(&self, name: &str) -> Result<()>;

    /// Whether anything is kept under this name.
    async fn exists(&self, name: &str) -> Result<bool>;

    /// Removes a collection and all that it holds. That there is none is as good; may be repeated.
    ///
    /// # Errors
    /// `Unavailable` also while another process has it for itself.
    async fn remove(&self, name: &str) -> Result<()>;

    /// Whether the vector store can be reached.
    async fn check(&self) -> Result<()>;
}
