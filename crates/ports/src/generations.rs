//! Index generations in the relational store.
//!
//! At most one is active, and at most one is being built.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::generation::IndexGeneration;
use docent_domain::id::GenerationId;

/// Reads index generations.
#[async_trait]
pub trait GenerationReader: Send {
    /// Returns the active generation; `None` in a new installation.
    async fn active(&mut self) -> Result<Option<IndexGeneration>>;

    /// Lists all generations in the order of their IDs. In a unit of work they are locked until it ends, and with them
    /// the result of [`GenerationWriter::is_active`] in other units.
    async fn all(&mut self) -> Result<Vec<IndexGeneration>>;
}

/// Reads and changes index generations.
#[async_trait]
pub trait GenerationWriter: GenerationReader {
    /// Adds a generation. Returns `false` without adding it if it is active or being built and another one with that
    /// state exists.
    async fn insert(&mut self, generation: &IndexGeneration) -> Result<bool>;

    /// Updates a generation. Returns whether it existed.
    ///
    /// # Errors
    /// If it is active or being built and another one with that state exists.
    async fn update(&mut self, generation: &IndexGeneration) -> Result<bool>;

    /// Whether this generation is active. If so, it remains active until the unit of work ends.
    async fn is_active(&mut self, id: GenerationId) -> Result<bool>;

    /// Removes the record of a generation. Returns whether it existed.
    async fn remove(&mut self, id: GenerationId) -> Result<bool>;
}
