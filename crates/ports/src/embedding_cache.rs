//! Cache of embedding vectors in the relational store.
//!
//! The key is the text alone, for all documents and processes, within a vector space: see
//! [`Embedder::vector_space`](crate::embedder::Embedder::vector_space).

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use std::collections::HashMap;

/// The SHA-256 digest of an embedded text.
pub type TextDigest = [u8; 32];

/// A cached vector.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedVector {
    /// Components of the vector; never empty.
    pub vector: Vec<f32>,
    /// Recorded time of the last use.
    pub used_at: DateTime<Utc>,
}

/// Reads cached vectors.
#[async_trait]
pub trait EmbeddingCacheReader: Send {
    /// Returns the cached vectors of these texts in this space.
    async fn find(&mut self, space: &str, texts: &[TextDigest]) -> Result<HashMap<TextDigest, CachedVector>>;
}

/// Reads and changes cached vectors.
#[async_trait]
pub trait EmbeddingCacheWriter: EmbeddingCacheReader {
    /// Inserts or replaces vectors, used at `at`. Texts must be distinct.
    async fn put(&mut self, space: &str, vectors: &[(TextDigest, &[f32])], at: DateTime<Utc>) -> Result<()>;

    /// Records a use of these texts at `at`. Texts that are not cached are ignored.
    async fn touch(&mut self, space: &str, texts: &[TextDigest], at: DateTime<Utc>) -> Result<()>;

    /// Removes at most `limit` vectors of any space last used before `before`. Returns how many.
    async fn purge_unused(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64>;
}
