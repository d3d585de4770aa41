//! Port wrappers that pause a task before each call, so that a test controls the order of concurrent calls.

use async_trait::async_trait;
use docent_domain::document::BlobKey;
use docent_domain::explanation::FieldScores;
use docent_domain::fault::Result;
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{
    ChunkFilter, FoundChunk, IndexEntry, IndexedVersion, QueryEmbedding, StoredChunk,
};
use docent_ports::blob_store::{BlobList, BlobStore, BlobWriter, ByteStream};
use docent_ports::store::{ReadView, Schema, Store, UnitOfWork};
use docent_ports::vector_index::{IndexPage, VectorIndex};
use docent_testkit::wait;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

tokio::task_local! {
    static CALL_GATE: Arc<CallGate>;
}

/// Pauses one task before each of its port calls. Several calls can wait at once.
#[derive(Debug)]
pub(crate) struct CallGate {
    permits: Semaphore,
    seen: watch::Sender<Seen>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    waiting: usize,
    passed: u64,
}

impl CallGate {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { permits: Semaphore::new(0), seen: watch::Sender::default() })
    }

    /// Runs a task whose calls wait at this gate.
    pub(crate) async fn hold<T>(self: Arc<Self>, task: impl Future<Output = T>) -> T {
        CALL_GATE.scope(self, task).await
    }

    /// Lets the task make one call, and returns when it waits again.
    pub(crate) async fn step(&self) {
        let before = self.seen.borrow().passed;
        self.permits.add_permits(1);
        self.wait_for(|seen| seen.passed > before).await;
        self.reached().await;
    }

    /// Returns when the task waits.
    pub(crate) async fn reached(&self) {
        self.wait_for(|seen| seen.waiting > 0).await;
    }

    async fn wait_for(&self, mut is_so: impl FnMut(&Seen) -> bool) {
        wait::until("calls reach the gate", async || is_so(&self.seen.borrow())).await;
    }

    async fn pass(&self) {
        let _waiting = Waiting::begin(&self.seen);
        let permit = self.permits.acquire().await;
        permit.expect("it is never closed").forget();
        self.seen.send_modify(|seen| seen.passed += 1);
    }
}

/// A task that waits at a gate of its own.
pub(crate) struct GatedTask<T> {
    gate: Arc<CallGate>,
    task: JoinHandle<T>,
}

impl<T: Send + 'static> GatedTask<T> {
    /// Starts the task, and returns when it waits before its first call.
    pub(crate) async fn start(work: impl Future<Output = T> + Send + 'static) -> Self {
        let gate = CallGate::new();
        let task = tokio::spawn(Arc::clone(&gate).hold(work));
        gate.reached().await;
        Self { gate, task }
    }

    /// Lets the task make one call. Returns true if it has ended.
    pub(crate) async fn step(&mut self) -> bool {
        tokio::select! { () = self.gate.step() => false, _ = &mut self.task => true }
    }

    /// Lets the task make all further calls.
    pub(crate) async fn finish(mut self) -> T {
        loop {
            tokio::select! {
                ended = &mut self.task => break ended.unwrap(),
                () = self.gate.step() => {}
            }
        }
    }
}

/// Counts a call as waiting until it is dropped.
struct Waiting<'a>(&'a watch::Sender<Seen>);

impl<'a> Waiting<'a> {
    fn begin(seen: &'a watch::Sender<Seen>) -> Self {
        seen.send_modify(|seen| seen.waiting += 1);
        Self(seen)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|seen| seen.waiting -= 1);
    }
}

async fn pass() {
    if let Ok(gate) = CALL_GATE.try_with(Arc::clone) {
        gate.pass().await;
    }
}

/// A port whose calls wait at their task's gate. Calls within a unit of work do not wait: units are atomic, and a
/// task waiting within one would block all others.
pub(crate) struct Stepped<P: ?Sized>(pub(crate) Arc<P>);

#[async_trait]
impl Store for Stepped<dyn Store> {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>> {
        pass().await;
        self.0.begin().await
    }

    async fn read(&self) -> Result<Box<dyn ReadView>> {
        pass().await;
        self.0.read().await
    }

    async fn check(&self) -> Result<()> {
        self.0.check().await
    }

    async fn check_writable(&self) -> Result<()> {
        self.0.check_writable().await
    }

    async fn schema(&self) -> Result<Schema> {
        self.0.schema().await
    }
}

#[async_trait]
impl VectorIndex for Stepped<dyn VectorIndex> {
    async fn replace(&self, document: &IndexedVersion, entries: Vec<IndexEntry>) -> Result<()> {
        pass().await;
        self.0.replace(document, entries).await
    }

    async fn relabel(&self, document: &IndexedVersion) -> Result<()> {
        pass().await;
        self.0.relabel(document).await
    }

    async fn remove(&self, document: VersionId) -> Result<()> {
        pass().await;
        self.0.remove(document).await
    }

    async fn search(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>> {
        pass().await;
        self.0.search(query, filter).await
    }

    async fn explain(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<HashMap<ChunkId, FieldScores>> {
        pass().await;
        self.0.explain(query, filter).await
    }

    async fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        self.0.frequencies(terms).await
    }

    async fn counts(&self, documents: &[VersionId]) -> Result<HashMap<VersionId, u64>> {
        self.0.counts(documents).await
    }

    async fn versions(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        self.0.versions(after, limit).await
    }

    async fn chunks(&self, document: VersionId) -> Result<Vec<StoredChunk>> {
        self.0.chunks(document).await
    }

    async fn chunk_range(&self, document: VersionId, ordinals: Range<u32>) -> Result<Vec<StoredChunk>> {
        self.0.chunk_range(document, ordinals).await
    }

    async fn dimensions(&self) -> Result<Option<usize>> {
        self.0.dimensions().await
    }

    async fn count(&self, document: VersionId) -> Result<u64> {
        self.0.count(document).await
    }

    async fn check(&self) -> Result<()> {
        self.0.check().await
    }
}

#[async_trait]
impl BlobStore for Stepped<dyn BlobStore> {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>> {
        pass().await;
        self.0.create(key).await
    }

    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>> {
        pass().await;
        self.0.open(key).await
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>> {
        self.0.size(key).await
    }

    fn list(&self) -> BlobList {
        self.0.list()
    }

    async fn delete(&self, key: &BlobKey) -> Result<bool> {
        pass().await;
        self.0.delete(key).await
    }

    async fn check(&self) -> Result<()> {
        self.0.check().await
    }
}
