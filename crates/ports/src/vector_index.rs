//! The vector store.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::{
    id::DocumentId,
    retrieval::{IndexEntry, IndexedDocument, QueryEmbedding, ScoredChunk},
};

/// One collection that holds the chunks of all documents; it comes into being with the first upsert.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Makes `entries` the chunks of `document`: what it had before is gone, and all of them are
    /// durable and findable when this returns. May be repeated.
    ///
    /// # Errors
    /// When a dense vector has other dimensions than the collection (not transient), or the store
    /// cannot be reached; then the document's chunks may be the old ones, the new ones, or in part.
    async fn replace(&self, document: &IndexedDocument, entries: Vec<IndexEntry>) -> Result<()>;

    /// Removes a document's chunks. May be repeated.
    async fn remove(&self, document: DocumentId) -> Result<()>;

    /// The chunks that fit the query best, best first, at most `limit`, of the documents named (of
    /// all when `None`). Chunks that share nothing with the query are left out.
    async fn search(
        &self,
        query: &QueryEmbedding,
        documents: Option<&[DocumentId]>,
        limit: usize,
    ) -> Result<Vec<ScoredChunk>>;

    /// How many chunks the document has.
    async fn count(&self, document: DocumentId) -> Result<u64>;

    /// Whether the store can be reached.
    async fn check(&self) -> Result<()>;
}
