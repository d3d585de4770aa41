//! The vector store on a Qdrant server (1.12 or newer), over gRPC.
//!
//! A collection holds the chunks of all documents, one point each, under the chunk's id:
//!
//! ```text
//! dense              cosine, of the size that the first vectors had; only when there are vectors
//! terms              sparse: the chunk's terms, with how often they occur, and those of title and lead; see [`terms`]
//! payload            document_id, title, filename, ordinal, length, text, span, pages
//! ```
//!
//! A search is one request to the server, which chooses candidates: by the terms, weighed as this collection makes
//! them worth, and where the query has a dense vector too, by both rankings. They are ranked here, by the functions
//! that rank on every store. How often terms occur, which that takes, the server cannot tell: it is kept in the
//! relational store, counted anew with each document that is written or removed.
//!
//! Nothing is assumed of the collection but what it was found to be: it may be made by another
//! replica, or deleted, at any time.

mod collection;
mod collections;
mod connection;
mod inventory;
mod points;
mod query;
mod rank;
mod spans;
mod terms;

use async_trait::async_trait;
use collection::Collection;
pub use collections::QdrantCollections;
use connection::{Connection, kind};
use docent_domain::{
    id::DocumentId,
    retrieval::{IndexEntry, IndexedDocument, QueryEmbedding, ScoredChunk, StoredChunk, TermCounts},
};
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    store::Store,
    term_statistics::Contribution,
    vector_index::{IndexPage, VectorIndex},
};
use qdrant_client::qdrant::{CountPoints, DeletePoints, Filter, PointStruct, UpsertPoints};
pub use spans::HeaderHook;
use spans::traced;
use std::{collections::HashMap, sync::Arc, time::Duration};
use terms::{Sought, Weighed};
use tonic::Code;

/// Points in one request; the largest have some 40 KB.
const BATCH: usize = 64;

/// How the server is reached, and what the collection is called.
#[derive(Clone, Debug)]
pub struct Options {
    /// The collection's name.
    pub collection: String,
    /// What making a connection may take.
    pub connect_timeout: Duration,
    /// What a search, a count or a check may take.
    pub read_timeout: Duration,
    /// What one request that changes something may take, until it is done.
    pub write_timeout: Duration,
    /// What adds headers to each call, if anything does.
    pub header_hook: Option<HeaderHook>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            collection: "docent_chunks".to_owned(),
            connect_timeout: Duration::from_secs(2),
            read_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(30),
            header_hook: None,
        }
    }
}

/// A vector store on a Qdrant server.
pub struct QdrantIndex {
    connection: Arc<Connection>,
    collection: Collection,
    /// Where it is counted how often terms occur.
    statistics: Arc<dyn Store>,
}

impl QdrantIndex {
    /// Takes the address of the server's gRPC port, such as `http://localhost:6334`; `https` is TLS,
    /// which trusts the system's certificates. Connects to nothing yet. How often terms occur is counted in
    /// `statistics`.
    ///
    /// # Errors
    /// When the address or the key cannot be used.
    pub fn new(
        url: &str,
        api_key: Option<&str>,
        options: Options,
        statistics: Arc<dyn Store>,
    ) -> Result<Self> {
        let connection = Arc::new(Connection::new(url, api_key, &options)?);
        Ok(Self { connection, collection: Collection::new(options.collection), statistics })
    }

    /// Writes all points. A collection that is gone is made again first.
    async fn upsert(&self, points: &[PointStruct], dimensions: Option<u64>) -> Result<()> {
        let mut remade = false;
        loop {
            self.collection.ensure(&self.connection, dimensions).await?;
            match self.try_upsert(points).await {
                Err(status) if status.code() == Code::NotFound && !remade => {
                    self.collection.forget();
                    remade = true;
                }
                Err(status) => return Err(self.fault("write chunks", status)),
                Ok(()) => return Ok(()),
            }
        }
    }

    async fn try_upsert(&self, points: &[PointStruct]) -> Result<(), tonic::Status> {
        for batch in points.chunks(BATCH) {
            let request = UpsertPoints {
                collection_name: self.collection.name().to_owned(),
                wait: Some(true),
                points: batch.to_vec(),
                ..UpsertPoints::default()
            };
            self.connection.write(self.connection.points().upsert(request)).await?;
        }
        Ok(())
    }

    /// Deletes points. That there is no collection is as good.
    async fn delete(&self, filter: Filter) -> Result<()> {
        let request = DeletePoints {
            collection_name: self.collection.name().to_owned(),
            wait: Some(true),
            points: Some(filter.into()),
            ..DeletePoints::default()
        };
        let deleted = self.connection.write(self.connection.points().delete(request)).await;
        self.unless_absent("delete chunks", deleted).map(|_| ())
    }

    async fn find(
        &self,
        query: &QueryEmbedding,
        documents: Option<&[DocumentId]>,
        limit: usize,
    ) -> Result<Vec<ScoredChunk>> {
        let dense = match &query.dense {
            Some(dense) if self.collection.has_dense(&self.connection, dense.len() as u64).await? => {
                query.dense.as_deref()
            }
            _ => None,
        };
        let terms = match query.sparse.as_ref().filter(|terms| !terms.is_empty()) {
            Some(terms) => Some(self.weighed(terms).await?),
            None => None,
        };
        let request = query::request(self.collection.name(), terms.as_ref(), dense, documents, limit);
        let Some(request) = request else { return Ok(Vec::new()) };
        let found = self.connection.read(self.connection.points().query(request)).await;
        let Some(found) = self.unless_absent("search", found)? else { return Ok(Vec::new()) };
        Ok(rank::best(points::candidates(found.result)?, terms.as_ref(), dense, limit))
    }

    /// The terms with what they are worth now.
    async fn weighed(&self, terms: &TermCounts) -> Result<Weighed> {
        let sought = Sought::of(terms);
        let mut view = self.statistics.read_latest().await?;
        let known = view.term_statistics().read(self.collection.name(), &sought.places()).await?;
        Ok(sought.weighed(&known))
    }

    /// Takes down what a document's chunks add to the statistics.
    async fn count_terms(&self, document: DocumentId, added: &Contribution) -> Result<()> {
        let mut unit = self.statistics.begin().await?;
        unit.term_statistics().put(self.collection.name(), document, added).await?;
        unit.commit().await
    }

    async fn forget_terms(&self, document: DocumentId) -> Result<()> {
        let mut unit = self.statistics.begin().await?;
        unit.term_statistics().remove(self.collection.name(), document).await?;
        unit.commit().await
    }

    /// `None` when the collection does not exist.
    fn unless_absent<T>(&self, doing: &'static str, answer: Result<T, tonic::Status>) -> Result<Option<T>> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(status) if status.code() == Code::NotFound => {
                self.collection.forget();
                Ok(None)
            }
            Err(status) => Err(self.fault(doing, status)),
        }
    }

    fn fault(&self, doing: &'static str, status: tonic::Status) -> Fault {
        // What the server refuses may be due to a collection that is not what it was.
        if kind(&status) == FaultKind::Rejected {
            self.collection.forget();
        }
        connection::fault(doing, status)
    }
}

/// The number of dimensions of a document's dense vectors, if it has any.
fn dimensions(entries: &[IndexEntry]) -> Result<Option<u64>> {
    let mut sizes = entries.iter().filter_map(|entry| entry.embedding.dense.as_ref()).map(Vec::len);
    let Some(size) = sizes.next() else { return Ok(None) };
    if size == 0 || sizes.any(|other| other != size) {
        return Err(rejected("the dense vectors of a document differ in their dimensions, or have none"));
    }
    Ok(Some(size as u64))
}

fn rejected(message: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
    Fault::new(Component::VectorStore, FaultKind::Rejected, message)
}

#[async_trait]
impl VectorIndex for QdrantIndex {
    // New points are written before old ones are deleted, so that a search never finds the document
    // empty. Points have the chunks' ids: a replay after a crash overwrites them, and counts their terms.
    async fn replace(&self, document: &IndexedDocument, entries: Vec<IndexEntry>) -> Result<()> {
        let dimensions = dimensions(&entries)?;
        let added = terms::contribution(&entries);
        let ids: Vec<_> = entries.iter().map(|entry| points::id(entry.id)).collect();
        let points: Vec<_> = entries.into_iter().map(|entry| points::write(document, entry)).collect();
        let work = async {
            if !points.is_empty() {
                self.upsert(&points, dimensions).await?;
            }
            self.delete(query::all_of_but(document.id, ids)).await?;
            match added.chunks {
                0 => self.forget_terms(document.id).await,
                _ => self.count_terms(document.id, &added).await,
            }
        };
        traced("upsert", self.collection.name(), work).await
    }

    async fn remove(&self, document: DocumentId) -> Result<()> {
        let work = async {
            self.delete(query::all_of(document)).await?;
            self.forget_terms(document).await
        };
        traced("delete", self.collection.name(), work).await
    }

    async fn search(
        &self,
        query: &QueryEmbedding,
        documents: Option<&[DocumentId]>,
        limit: usize,
    ) -> Result<Vec<ScoredChunk>> {
        traced("query", self.collection.name(), self.find(query, documents, limit)).await
    }

    async fn count(&self, document: DocumentId) -> Result<u64> {
        let request = CountPoints {
            collection_name: self.collection.name().to_owned(),
            filter: Some(query::all_of(document)),
            exact: Some(true),
            ..CountPoints::default()
        };
        let counted = self.connection.read(self.connection.points().count(request)).await;
        let counted = self.unless_absent("count chunks", counted)?;
        Ok(counted.and_then(|answer| answer.result).map_or(0, |result| result.count))
    }

    async fn counts(&self, documents: &[DocumentId]) -> Result<HashMap<DocumentId, u64>> {
        self.count_each(documents).await
    }

    async fn documents(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        self.page(after, limit).await
    }

    async fn chunks(&self, document: DocumentId) -> Result<Vec<StoredChunk>> {
        self.read_back(document).await
    }

    async fn dimensions(&self) -> Result<Option<usize>> {
        self.size_of_vectors().await
    }

    async fn check(&self) -> Result<()> {
        // Unlike the server's own health check, this also shows whether the key is good.
        self.collection.exists(&self.connection).await.map(|_| ())
    }
}
