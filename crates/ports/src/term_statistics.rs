//! How often terms occur in a collection of the vector store, for stores that cannot tell.
//!
//! Terms are known by their places: numbers that the vector store gives them, different ones for the text, the
//! title and the lead. What a document has added is remembered with it, and so can be taken away exactly.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::{id::DocumentId, ranking::CorpusStatistics};
use std::collections::{BTreeMap, HashMap};

/// What a document adds to the statistics of its collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contribution {
    /// Its chunks.
    pub chunks: u32,
    /// The terms of all its chunks, repetitions counted.
    pub length: u64,
    /// For each place, in how many chunks its term is; for places of title and lead 1.
    pub places: BTreeMap<u32, u32>,
}

/// What is known of a collection's terms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermStatistics {
    /// How much there is.
    pub totals: CorpusStatistics,
    /// For each place that was asked for and is anywhere, the sum of what documents have added.
    pub frequencies: HashMap<u32, u64>,
}

/// Reads statistics.
#[async_trait]
pub trait TermStatisticsReader: Send {
    /// Those of these places, all of one moment.
    async fn read(&mut self, collection: &str, places: &[u32]) -> Result<TermStatistics>;
}

/// Reads and changes statistics.
#[async_trait]
pub trait TermStatisticsWriter: TermStatisticsReader {
    /// Makes this what a document has added, in place of what it had. May be repeated.
    ///
    /// One unit of work at a time does this for a collection: others wait until it has ended.
    async fn put(&mut self, collection: &str, document: DocumentId, added: &Contribution) -> Result<()>;

    /// Takes away what a document has added. May be repeated.
    async fn take(&mut self, collection: &str, document: DocumentId) -> Result<()>;

    /// Forgets a collection.
    async fn clear(&mut self, collection: &str) -> Result<()>;
}
