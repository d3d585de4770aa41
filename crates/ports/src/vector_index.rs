//! Vector indexes: the chunks of versions of documents and the search for them.

use async_trait::async_trait;
use docent_domain::explanation::FieldScores;
use docent_domain::fault::Result;
#[cfg(doc)]
use docent_domain::id::CollectionId;
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{
    ChunkFilter, FoundChunk, IndexEntry, IndexedVersion, QueryEmbedding, StoredChunk,
};
use std::collections::HashMap;
use std::ops::Range;

/// A page of versions with chunks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexPage {
    /// Versions, distinct within the page.
    pub versions: Vec<VersionId>,
    /// Cursor of the next page; `None` on the last one.
    pub next: Option<String>,
}

/// A vector collection with the chunks of all documents, created by the first upsert.
#[async_trait]
pub trait VectorIndex: Send + Sync {
    /// Replaces the chunks of `version` by `entries`, which are durable and searchable when this returns. Idempotent.
    ///
    /// # Errors
    /// If a dense vector has the wrong dimensions (not transient) or the store is unreachable. The chunks can then be
    /// the old ones, the new ones or a mixture.
    async fn replace(&self, version: &IndexedVersion, entries: Vec<IndexEntry>) -> Result<()>;

    /// Replaces the labels of a version's chunks, if it has any. Idempotent.
    async fn relabel(&self, version: &IndexedVersion) -> Result<()>;

    /// Removes the chunks of a version. Idempotent.
    async fn remove(&self, version: VersionId) -> Result<()>;

    /// Returns the matching chunks, best first. Chunks that have nothing in common with the query are omitted.
    ///
    /// Scope and condition apply to the labels that were last stored. Chunks stored by versions that knew no labels count
    /// as those of a document in the collection [`CollectionId::EVERYONE`] without attributes.
    async fn search(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>>;

    /// Returns the scores by field of the chunks that [`search`](Self::search) finds.
    async fn explain(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<HashMap<ChunkId, FieldScores>>;

    /// Counts the chunks with each of these terms in their text, in the whole index. Stores that do not keep terms may
    /// take two different ones for the same.
    async fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>>;

    /// Counts the chunks of a version.
    async fn count(&self, version: VersionId) -> Result<u64>;

    /// Counts the chunks of each of these versions; versions without chunks are omitted.
    async fn counts(&self, versions: &[VersionId]) -> Result<HashMap<VersionId, u64>>;

    /// Lists the versions with chunks, about `limit` chunks or versions per page, after the cursor `after`. Every
    /// version that has chunks throughout is on at least one page.
    async fn versions(&self, after: Option<&str>, limit: usize) -> Result<IndexPage>;

    /// Returns the stored chunks of a version in the order of their ordinals.
    async fn chunks(&self, version: VersionId) -> Result<Vec<StoredChunk>>;

    /// Returns those stored chunks of a version whose ordinal is in `ordinals`, in their order. Reads no other chunk.
    async fn chunk_range(&self, version: VersionId, ordinals: Range<u32>) -> Result<Vec<StoredChunk>>;

    /// Returns the dimensions of the dense vectors; `None` if the vector collection has none.
    async fn dimensions(&self) -> Result<Option<usize>>;

    /// Checks that the store is reachable.
    async fn check(&self) -> Result<()>;
}
