//! The vector store.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::{
    id::DocumentId,
    retrieval::{IndexEntry, IndexedDocument, QueryEmbedding, ScoredChunk, StoredChunk},
};
use std::collections::HashMap;

/// A page of the documents that have chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexPage {
    /// The documents, each once on a page.
    pub documents: Vec<DocumentId>,
    /// What to ask for the next page with; `None` on the last one.
    pub next: Option<String>,
}

/// A collection that holds the chunks of all documents; it comes into being with the first upsert.
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

    /// How many chunks each of these documents has; those that have none are left out.
    async fn counts(&self, documents: &[DocumentId]) -> Result<HashMap<DocumentId, u64>>;

    /// The documents that have chunks, page by page: of about `limit` chunks or documents at a time, after the
    /// page that gave `after`. Every document that has chunks throughout is on some page; one may be on several.
    async fn documents(&self, after: Option<&str>, limit: usize) -> Result<IndexPage>;

    /// All chunks of a document, in the order of their ordinals: what can be read back of them.
    async fn chunks(&self, document: DocumentId) -> Result<Vec<StoredChunk>>;

    /// The dimensions of the dense vectors that the collection holds or is made for; `None` without any.
    async fn dimensions(&self) -> Result<Option<usize>>;

    /// Whether the store can be reached.
    async fn check(&self) -> Result<()>;
}
