//! The vector store on a Qdrant server (1.12 or newer; 1.20 is recommended), over gRPC.
//!
//! A vector collection stores the chunks of all documents. Each chunk is a point with the chunk's ID:
//!
//! ```text
//! dense              cosine, with the dimensions of the first vectors; absent if there are no vectors
//! terms              sparse: the chunk's terms with their frequencies, and those of title and lead; see [`terms`]
//! payload            document_id (the ID of the version), title, filename, ordinal, length, text, span, pages, and the document's labels: see
//!                    [`labels`]
//! ```
//!
//! A search is one request. The server selects candidates by the weighted terms of the query and, if the query has a
//! dense vector, by both rankings, among the points that the scope and the condition allow. They are then ranked here with the functions that all vector stores share. These
//! need term statistics, which Qdrant does not provide: the relational store holds them, updated with each document
//! that is written or removed.
//!
//! Another replica may create or delete the collection at any time, so what is known about it is only a cache.
//!
//! Several installations may share a server. A collection's metadata has the ID of the index generation that it belongs
//! to (servers before 1.16 ignore it); the collection of another generation is neither read nor changed.

mod attribute_indexes;
mod collection;
mod collections;
mod connection;
mod filters;
mod inventory;
mod labels;
mod points;
mod query;
mod rank;
mod rest;
mod spans;
mod terms;
mod value;
mod writes;

use async_trait::async_trait;
use collection::Collection;
pub use collections::QdrantCollections;
use connection::{Connection, kind};
use docent_domain::explanation::FieldScores;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{
    self, ChunkFilter, FoundChunk, IndexEntry, IndexedVersion, QueryEmbedding, StoredChunk,
};
use docent_ports::store::Store;
use docent_ports::term_statistics::Contribution;
use docent_ports::trace::TracePropagator;
use docent_ports::vector_index::{IndexPage, VectorIndex};
use qdrant_client::qdrant::{CountPoints, GetPoints};
use rank::Candidate;
use spans::traced;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use terms::{QueryTerms, WeightedTerms};
use tonic::Code;

/// Timeouts, trace propagation and the collection's name.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Options {
    /// The collection's name.
    pub collection: String,
    /// Timeout for connecting.
    pub connect_timeout: Duration,
    /// Timeout for a search, a count or a check.
    pub read_timeout: Duration,
    /// Timeout for one request that changes something.
    pub write_timeout: Duration,
    /// Adds the trace context to each call; none if tracing is off.
    pub traces: Option<Arc<dyn TracePropagator>>,
    /// Whether new collections read vectors, their indexes and the payload from disk. Dense vectors are then also kept in memory, as
    /// bytes, by which the server selects candidates; they are ranked by the exact vectors. Existing collections are not changed.
    pub on_disk: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            collection: "docent_chunks".to_owned(),
            connect_timeout: Duration::from_secs(2),
            read_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(30),
            traces: None,
            on_disk: false,
        }
    }
}

/// A vector store on a Qdrant server.
pub struct QdrantIndex {
    connection: Arc<Connection>,
    collection: Collection,
    /// Stores the term statistics.
    statistics: Arc<dyn Store>,
}

impl QdrantIndex {
    /// Creates a client for the server's gRPC address, such as `http://localhost:6334`. `https` uses TLS with
    /// the system's trusted certificates. Connects at the first call. Term statistics are stored in `statistics`.
    ///
    /// # Errors
    /// If the address or the key is invalid.
    pub fn new(
        url: &str,
        api_key: Option<&str>,
        options: Options,
        statistics: Arc<dyn Store>,
    ) -> Result<Self> {
        let connection = Arc::new(Connection::new(url, api_key, &options)?);
        Ok(Self {
            connection,
            collection: Collection::new(options.collection, None, options.on_disk),
            statistics,
        })
    }

    async fn find(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>> {
        let (candidates, terms, dense) = self.candidates(query, filter).await?;
        self.passages(rank::best(candidates, terms.as_ref(), dense, filter.limit)).await
    }

    /// Reads the chunks with these scores. One that was deleted meanwhile is left out.
    async fn passages(&self, best: Vec<(ChunkId, f32)>) -> Result<Vec<FoundChunk>> {
        if best.is_empty() {
            return Ok(Vec::new());
        }
        let request = GetPoints {
            collection_name: self.collection.name().to_owned(),
            ids: best.iter().map(|(chunk, _)| points::id(*chunk)).collect(),
            with_payload: Some(points::only(&points::PASSAGE)),
            with_vectors: Some(false.into()),
            ..GetPoints::default()
        };
        let found = self.connection.read(self.connection.points().get(request)).await;
        let found = self.unless_absent("read passages", found)?.map(|found| found.result).unwrap_or_default();
        let chunks = found.into_iter().map(|point| points::passage(point).map(|chunk| (chunk.id, chunk)));
        let mut chunks = chunks.collect::<Result<HashMap<_, _>>>()?;
        let scored = |(id, score)| Some(FoundChunk { score, ..chunks.remove(&id)? });
        Ok(best.into_iter().filter_map(scored).collect())
    }

    /// The chunks that are ranked, and what they are ranked by.
    async fn candidates<'q>(
        &self,
        query: &'q QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<(Vec<Candidate>, Option<WeightedTerms>, Option<&'q [f32]>)> {
        self.collection.verify(&self.connection).await?;
        let dense = match &query.dense {
            Some(dense) if self.collection.has_dense(&self.connection, dense.len() as u64).await? => {
                query.dense.as_deref()
            }
            _ => None,
        };
        let terms = match query.sparse.as_ref().filter(|terms| !terms.is_empty()) {
            Some(terms) => Some(self.weighted(terms).await?),
            None => None,
        };
        let request = query::request(self.collection.name(), terms.as_ref(), dense, filter);
        let Some(request) = request else { return Ok((Vec::new(), terms, dense)) };
        if let Some(condition) = filter.condition {
            self.collection.index_attributes(&self.connection, condition).await;
        }
        let found = self.connection.read(self.connection.points().query(request)).await;
        let candidates = match self.unless_absent("search", found)? {
            Some(found) => points::candidates(found.result)?,
            None => Vec::new(),
        };
        Ok((candidates, terms, dense))
    }

    /// Adds the current weights to the query's terms.
    async fn weighted(&self, terms: &retrieval::QueryTerms) -> Result<WeightedTerms> {
        let query = QueryTerms::new(terms);
        let mut view = self.statistics.read_latest().await?;
        let known = view.term_statistics().read(self.collection.name(), &query.places()).await?;
        Ok(query.weighted(&known))
    }

    /// Stores a document's contribution to the term statistics.
    async fn put_statistics(&self, document: VersionId, added: &Contribution) -> Result<()> {
        let mut unit = self.statistics.begin().await?;
        unit.term_statistics().put(self.collection.name(), document, added).await?;
        unit.commit().await
    }

    async fn remove_statistics(&self, document: VersionId) -> Result<()> {
        let mut unit = self.statistics.begin().await?;
        unit.term_statistics().remove(self.collection.name(), document).await?;
        unit.commit().await
    }

    /// Turns a missing collection into `None`.
    fn unless_absent<T>(&self, doing: &'static str, answer: Result<T, tonic::Status>) -> Result<Option<T>> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(status) if status.code() == Code::NotFound => {
                self.collection.invalidate();
                Ok(None)
            }
            Err(status) => Err(self.fault(doing, status)),
        }
    }

    fn fault(&self, doing: &'static str, status: tonic::Status) -> Fault {
        // The rejection may be due to a collection that was changed.
        if kind(&status) == FaultKind::Rejected {
            self.collection.invalidate();
        }
        connection::fault(doing, status)
    }
}

/// The dimensions of a document's dense vectors, if it has any.
fn dimensions(entries: &[IndexEntry]) -> Result<Option<u64>> {
    let mut sizes = entries.iter().filter_map(|entry| entry.embedding.dense.as_ref()).map(Vec::len);
    let Some(size) = sizes.next() else { return Ok(None) };
    if size == 0 || sizes.any(|other| other != size) {
        return Err(rejected(
            "the dense vectors of a document must have the same, positive number of dimensions",
        ));
    }
    Ok(Some(size as u64))
}

fn rejected(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(Component::VectorStore, FaultKind::Rejected, message)
}

#[async_trait]
impl VectorIndex for QdrantIndex {
    // New points are written before old ones are deleted, so that searches always find the document. Points have
    // the chunks' IDs, so that a repetition after a crash overwrites them.
    async fn replace(&self, document: &IndexedVersion, entries: Vec<IndexEntry>) -> Result<()> {
        let dimensions = dimensions(&entries)?;
        let added = terms::contribution(&entries);
        let ids: Vec<_> = entries.iter().map(|entry| points::id(entry.id)).collect();
        let points: Vec<_> = entries.into_iter().map(|entry| points::write(document, entry)).collect();
        let work = async {
            if !points.is_empty() {
                self.upsert(&points, dimensions).await?;
            }
            // A deletion that matches nothing would let servers before 1.20 forget the points just written, if they
            // restart (qdrant#10402).
            if self.count(document.id).await? > points.len() as u64 {
                self.delete(filters::all_of_except(document.id, ids)).await?;
            }
            match added.chunks {
                0 => self.remove_statistics(document.id).await,
                _ => self.put_statistics(document.id, &added).await,
            }
        };
        traced("upsert", self.collection.name(), work).await
    }

    async fn relabel(&self, document: &IndexedVersion) -> Result<()> {
        traced("relabel", self.collection.name(), self.set_labels(document)).await
    }

    async fn remove(&self, document: VersionId) -> Result<()> {
        let work = async {
            self.delete(filters::all_of(document)).await?;
            self.remove_statistics(document).await
        };
        traced("delete", self.collection.name(), work).await
    }

    async fn search(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>> {
        traced("query", self.collection.name(), self.find(query, filter)).await
    }

    async fn explain(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<HashMap<ChunkId, FieldScores>> {
        let explain = async {
            let (candidates, terms, dense) = self.candidates(query, filter).await?;
            let mut scores = rank::by_field(&candidates, terms.as_ref(), dense);
            let best = rank::best(candidates, terms.as_ref(), dense, filter.limit);
            let best: HashSet<ChunkId> = best.into_iter().map(|(chunk, _)| chunk).collect();
            scores.retain(|id, _| best.contains(id));
            Ok(scores)
        };
        traced("query", self.collection.name(), explain).await
    }

    async fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        let places: Vec<u32> = terms.iter().map(|term| terms::body_place(term)).collect();
        let mut view = self.statistics.read_latest().await?;
        let known = view.term_statistics().read(self.collection.name(), &places).await?.frequencies;
        Ok(places.iter().map(|place| known.get(place).copied().unwrap_or(0)).collect())
    }

    async fn count(&self, document: VersionId) -> Result<u64> {
        let request = CountPoints {
            collection_name: self.collection.name().to_owned(),
            filter: Some(filters::all_of(document)),
            exact: Some(true),
            ..CountPoints::default()
        };
        let counted = self.connection.read(self.connection.points().count(request)).await;
        let counted = self.unless_absent("count chunks", counted)?;
        Ok(counted.and_then(|answer| answer.result).map_or(0, |result| result.count))
    }

    async fn counts(&self, documents: &[VersionId]) -> Result<HashMap<VersionId, u64>> {
        self.count_each(documents).await
    }

    async fn versions(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        self.page(after, limit).await
    }

    async fn chunks(&self, document: VersionId) -> Result<Vec<StoredChunk>> {
        self.read_back(filters::all_of(document)).await
    }

    async fn chunk_range(&self, document: VersionId, ordinals: Range<u32>) -> Result<Vec<StoredChunk>> {
        // A chunk's ID is derived from its ordinal.
        let points = ordinals.map(|ordinal| points::id(ChunkId::of(document, ordinal))).collect();
        self.read_back(filters::only(points)).await
    }

    async fn dimensions(&self) -> Result<Option<usize>> {
        self.size_of_vectors().await
    }

    async fn check(&self) -> Result<()> {
        // Unlike the server's health check, this also verifies the API key.
        self.collection.inspect(&self.connection).await.map(|_| ())
    }
}
