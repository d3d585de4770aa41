//! Term statistics of vector collections, for vector stores that do not keep them.
//!
//! Terms are identified by numbers given by the vector store, different ones for text, title and lead. The contribution
//! of each version of a document is stored, so that it can be removed exactly.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::id::VersionId;
use docent_domain::ranking::CorpusStatistics;
use std::collections::{BTreeMap, HashMap};

/// The contribution of a version to the statistics of its vector collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// Number of chunks.
    pub chunks: u32,
    /// Number of terms in all chunks, with repetitions.
    pub length: u64,
    /// Number of chunks with each term; 1 for terms of title and lead.
    pub places: BTreeMap<u32, u32>,
}

/// Term statistics of a vector collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermStatistics {
    /// Size of the corpus.
    pub totals: CorpusStatistics,
    /// Document frequency of each requested term, without terms that do not occur.
    pub frequencies: HashMap<u32, u64>,
}

/// Reads term statistics.
#[async_trait]
pub trait TermStatisticsReader: Send {
    /// Returns a consistent snapshot for these terms.
    async fn read(&mut self, collection: &str, places: &[u32]) -> Result<TermStatistics>;
}

/// Reads and changes term statistics.
#[async_trait]
pub trait TermStatisticsWriter: TermStatisticsReader {
    /// Sets the contribution of a version. Idempotent.
    ///
    /// Units of work that change the same vector collection wait for each other.
    async fn put(&mut self, collection: &str, version: VersionId, added: &Contribution) -> Result<()>;

    /// Removes the contribution of a version. Idempotent.
    async fn remove(&mut self, collection: &str, version: VersionId) -> Result<()>;

    /// Removes all contributions to a vector collection.
    async fn clear(&mut self, collection: &str) -> Result<()>;
}
