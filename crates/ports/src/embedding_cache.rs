//! Vectors of texts that were embedded before, in the relational store.
//!
//! They are kept by the text alone, for all documents and all processes. A vector belongs to a space, the name
//! that [`Embedder::vector_space`](crate::embedder::Embedder::vector_space) gives: those of two spaces do not mix.

use crate::error::Result;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use std::collections::HashMap;

/// The SHA-256 of exactly what was embedded.
pub type TextDigest = [u8; 32];

/// A vector that is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedVector {
    /// Its numbers; there is at least one.
    pub vector: Vec<f32>,
    /// When it was last used, as far as that was written down.
    pub used_at: DateTime<Utc>,
}

/// Looks vectors up.
#[async_trait]
pub trait EmbeddingCacheReader: Send {
    /// The vectors of those of these texts that have one in this space.
    async fn find(&mut self, space: &str, texts: &[TextDigest]) -> Result<HashMap<TextDigest, CachedVector>>;
}

/// Looks vectors up and keeps them.
#[async_trait]
pub trait EmbeddingCacheWriter: EmbeddingCacheReader {
    /// Keeps vectors, as used at `at`. One that is there already is replaced. No text may be named twice.
    async fn keep(&mut self, space: &str, vectors: &[(TextDigest, &[f32])], at: DateTime<Utc>) -> Result<()>;

    /// Takes down that these were used at `at`; those that are not there are left out.
    async fn touch(&mut self, space: &str, texts: &[TextDigest], at: DateTime<Utc>) -> Result<()>;

    /// Removes vectors of any space that were last used before `before`, at most `limit` of them; says how many.
    async fn purge_unused(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
