//! Generations of the index in the relational store, which says which of them serves.
//!
//! At most one is active, and at most one is being built.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::{generation::IndexGeneration, id::GenerationId};

/// Reads generations.
#[async_trait]
pub trait GenerationReader: Send {
    /// The one that serves; none in an installation that has not served yet.
    async fn active(&mut self) -> Result<Option<IndexGeneration>>;

    /// All of them, in the order of their ids. In a unit of work they stay as they are until it ends, and with
    /// them what [`GenerationWriter::is_active`] says to others.
    async fn all(&mut self) -> Result<Vec<IndexGeneration>>;
}

/// Reads and changes generations.
#[async_trait]
pub trait GenerationWriter: GenerationReader {
    /// Adds a generation; false, and nothing is added, when it is active or being built and there is such a one
    /// already.
    async fn insert(&mut self, generation: &IndexGeneration) -> Result<bool>;

    /// Writes a generation's present values; says whether there was one with its id.
    ///
    /// # Errors
    /// When it is active or being built, and there is another such one.
    async fn update(&mut self, generation: &IndexGeneration) -> Result<bool>;

    /// Whether this one is active. If so, it stays so until the unit ends.
    async fn is_active(&mut self, id: GenerationId) -> Result<bool>;

    /// Forgets a generation; says whether it was known.
    async fn remove(&mut self, id: GenerationId) -> Result<bool>;
}
