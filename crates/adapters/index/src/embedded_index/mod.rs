//! An in-process vector store: tantivy for lexical search, an exact scan for dense vectors.
//!
//! An index is a folder, which one process at a time has open:
//!
//! ```text
//! lock           held by the process; the system releases it when the process ends
//! lexical/       a tantivy index: one document per chunk, with its text and its terms
//! vectors.bin    the dense vectors, if there are any; see `vectors`
//! labels.jsonl   the labels of documents, to which scopes and conditions apply; see `labels`
//! ```
//!
//! Tantivy's commit determines which chunks exist. Vectors and labels are made durable before the commit that refers to
//! them, so a crash leaves at worst unreferenced vectors and labels.
//!
//! Suitable for about 200,000 chunks with dense vectors, because every query is compared with all of them, and several
//! times as many without.

mod collections;
mod inventory;
mod labels;
mod schema;
mod search;
mod spans;
mod vectors;
mod writer;

use async_trait::async_trait;
pub use collections::EmbeddedIndexes;
use docent_domain::explanation::FieldScores;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::retrieval::{
    ChunkFilter, FoundChunk, IndexEntry, IndexedVersion, QueryEmbedding, StoredChunk,
};
use docent_ports::vector_index::{IndexPage, VectorIndex};
use labels::{LabelFile, Labels};
use schema::Fields;
use search::{RunCache, ScorePool};
use spans::traced;
use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, IndexSettings, ReloadPolicy, Searcher, TantivyError};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use vectors::{VectorFile, Vectors};
use writer::{Files, Writer};

/// Memory and concurrency of an [`EmbeddedIndex`].
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Bytes of terms that are buffered before they are written to disk; at least 15 MB.
    pub writer_memory: usize,
    /// Maximum number of concurrent searches; further ones wait.
    pub concurrent_searches: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { writer_memory: 20_000_000, concurrent_searches: 8 }
    }
}

/// A vector index in a folder. Dropping it waits for the current commit.
pub struct EmbeddedIndex {
    shared: Arc<Shared>,
    searches: Semaphore,
    writer: Writer,
}

/// State shared by searches and the writer.
struct Shared {
    folder: PathBuf,
    index: Index,
    reader: IndexReader,
    fields: Fields,
    vectors: Mutex<Option<Arc<Vectors>>>,
    labels: Labels,
    runs: RunCache,
    scores: ScorePool,
    /// Held while the folder may be accessed.
    _lock: Lock,
}

impl Shared {
    /// Returns chunks and vectors of the last commit. The vector of a chunk removed in the meantime may be missing, but
    /// not that of an existing chunk.
    fn snapshot(&self) -> (Searcher, Option<Arc<Vectors>>) {
        let searcher = self.reader.searcher();
        let vectors = self.vectors.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (searcher, vectors)
    }

    fn publish(&self, vectors: Option<Arc<Vectors>>) {
        *self.vectors.lock().unwrap_or_else(PoisonError::into_inner) = vectors;
    }
}

impl EmbeddedIndex {
    /// Opens the index, creating a missing folder. Blocks the thread.
    ///
    /// # Errors
    /// If another process has it open (transient), the folder cannot be read or written, or its content is damaged or of
    /// another version; the fault names the folder and what to do.
    pub fn open(folder: &Path, options: Options) -> Result<Self> {
        let lock = lock(folder)?;
        // Tantivy panics on some kinds of damage.
        let (shared, files) = catch_unwind(AssertUnwindSafe(|| read(folder, lock)))
            .unwrap_or_else(|_| Err(damaged(folder, "reading it failed")))?;
        let shared = Arc::new(shared);
        let writer = Writer::start(Arc::clone(&shared), files, options.writer_memory)?;
        Ok(Self { shared, searches: Semaphore::new(options.concurrent_searches.max(1)), writer })
    }

    /// Runs `work` on a blocking thread, with limited concurrency.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> tantivy::Result<T> + Send + 'static,
    ) -> Result<T> {
        // The semaphore is never closed.
        let _permit = self.searches.acquire().await;
        let shared = Arc::clone(&self.shared);
        let done = spawn_blocking(move || work(&shared)).await;
        let failed = |kind| Fault::new(Component::VectorStore, kind, "cannot read the embedded index");
        match done {
            Ok(result) => result.map_err(|error| fault("cannot read the embedded index", error)),
            Err(error) => Err(failed(FaultKind::Internal).caused_by(error)),
        }
    }

    /// Runs a query on a blocking thread.
    async fn query<T: Send + 'static>(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
        run: impl FnOnce(&Shared, &QueryEmbedding, ChunkFilter<'_>) -> tantivy::Result<T> + Send + 'static,
    ) -> Result<T> {
        if let (Some(query), Some(vectors)) = (&query.dense, self.shared.snapshot().1) {
            vectors.check_dimensions(query.len())?;
        }
        let query = query.clone();
        let (scope, condition) = (filter.scope.clone(), filter.condition.cloned());
        let (versions, limit) = (filter.versions.map(<[VersionId]>::to_vec), filter.limit);
        let work = self.read(move |shared| {
            let (condition, versions) = (condition.as_ref(), versions.as_deref());
            run(shared, &query, ChunkFilter { scope: &scope, condition, versions, limit })
        });
        traced("query", work).await
    }
}

#[async_trait]
impl VectorIndex for EmbeddedIndex {
    async fn replace(&self, document: &IndexedVersion, entries: Vec<IndexEntry>) -> Result<()> {
        traced("upsert", self.writer.replace(document.clone(), entries)).await
    }

    async fn relabel(&self, document: &IndexedVersion) -> Result<()> {
        traced("relabel", self.writer.relabel(document.clone())).await
    }

    async fn remove(&self, document: VersionId) -> Result<()> {
        traced("delete", self.writer.remove(document)).await
    }

    async fn search(&self, query: &QueryEmbedding, filter: ChunkFilter<'_>) -> Result<Vec<FoundChunk>> {
        self.query(query, filter, search::run).await
    }

    async fn explain(
        &self,
        query: &QueryEmbedding,
        filter: ChunkFilter<'_>,
    ) -> Result<HashMap<ChunkId, FieldScores>> {
        self.query(query, filter, search::explain).await
    }

    async fn frequencies(&self, terms: &[String]) -> Result<Vec<u64>> {
        let terms = terms.to_vec();
        self.read(move |shared| search::frequencies(shared, &terms)).await
    }

    async fn count(&self, document: VersionId) -> Result<u64> {
        self.read(move |shared| {
            search::alive_count(&shared.reader.searcher(), &shared.fields.document_term(document))
        })
        .await
    }

    async fn counts(&self, documents: &[VersionId]) -> Result<HashMap<VersionId, u64>> {
        let documents = documents.to_vec();
        self.read(move |shared| inventory::counts(shared, &documents)).await
    }

    async fn versions(&self, after: Option<&str>, limit: usize) -> Result<IndexPage> {
        let after = after.map(str::parse::<VersionId>).transpose().map_err(|error| {
            Fault::new(Component::VectorStore, FaultKind::Internal, "the page cursor is invalid")
                .caused_by(error)
        })?;
        self.read(move |shared| inventory::versions(shared, after, limit.max(1))).await
    }

    async fn chunks(&self, document: VersionId) -> Result<Vec<StoredChunk>> {
        self.read(move |shared| inventory::chunks(shared, document, 0..u32::MAX)).await
    }

    async fn chunk_range(&self, document: VersionId, ordinals: Range<u32>) -> Result<Vec<StoredChunk>> {
        self.read(move |shared| inventory::chunks(shared, document, ordinals)).await
    }

    async fn dimensions(&self) -> Result<Option<usize>> {
        Ok(self.shared.snapshot().1.map(|vectors| vectors.dimensions()))
    }

    async fn check(&self) -> Result<()> {
        self.writer.check()?;
        let meta = self.shared.folder.join(LEXICAL).join("meta.json");
        tokio::fs::metadata(&meta).await.map(drop).map_err(|error| {
            let folder = self.shared.folder.display();
            unavailable(format!("the embedded index in {folder} is missing")).caused_by(error)
        })
    }
}

const LEXICAL: &str = "lexical";
const VECTORS: &str = "vectors.bin";
const LABELS: &str = "labels.jsonl";

/// Bytes of stored text per compressed block; small, because reading a chunk decompresses the whole block.
const STORED_BLOCK: usize = 4 * 1024;
/// Decompressed blocks cached per segment.
const CACHED_BLOCKS: usize = 32;

/// An exclusive lock of a file, between processes.
struct Lock(File);

impl Lock {
    /// Locks `file`, creating it if missing. `None` if it is locked already.
    fn acquire(file: &Path) -> io::Result<Option<Self>> {
        let file = File::options().create(true).append(true).open(file)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for Lock {
    /// Closing the file would not release the lock at once: a child that is being started has the file open too, until
    /// it executes its program.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "cannot release the lock of an embedded index");
        }
    }
}

fn lock(folder: &Path) -> Result<Lock> {
    let failed = |error| {
        unavailable(format!("the embedded index in {} cannot be opened", folder.display())).caused_by(error)
    };
    std::fs::create_dir_all(folder.join(LEXICAL)).map_err(failed)?;
    Lock::acquire(&folder.join("lock")).map_err(failed)?.ok_or_else(|| in_use(folder))
}

fn read(folder: &Path, lock: Lock) -> Result<(Shared, Files)> {
    let broken = |error: TantivyError| damaged(folder, "the lexical index cannot be read").caused_by(error);
    let (schema, fields) = schema::schema();
    let lexical = MmapDirectory::open(folder.join(LEXICAL)).map_err(TantivyError::from).map_err(broken)?;
    let exists = Index::exists(&lexical).map_err(TantivyError::from).map_err(broken)?;
    let index = if exists {
        let index = Index::open(lexical).map_err(broken)?;
        if index.schema() != schema {
            return Err(damaged(folder, "it was written by another version"));
        }
        index
    } else {
        let settings = IndexSettings { docstore_blocksize: STORED_BLOCK, ..IndexSettings::default() };
        Index::builder().schema(schema).settings(settings).open_or_create(lexical).map_err(broken)?
    };
    index.tokenizers().register(schema::TERMS, schema::Terms::default());
    let reader: IndexReader = index
        .reader_builder()
        .reload_policy(ReloadPolicy::Manual)
        .doc_store_cache_num_blocks(CACHED_BLOCKS)
        .try_into()
        .map_err(broken)?;
    let used = search::vectors_in_use(&reader.searcher()).map_err(broken)?;
    let vectors = VectorFile::open(&folder.join(VECTORS), used.last)
        .map_err(|error| damaged(folder, "the vectors cannot be read").caused_by(error))?;
    if !used.all_in(vectors.as_ref().map(VectorFile::vectors)) {
        return Err(damaged(folder, "vectors are missing"));
    }
    let (label_file, labels) = read_labels(folder, &fields, &reader.searcher())?;
    let published = Mutex::new(vectors.as_ref().map(|file| Arc::clone(file.vectors())));
    let shared = Shared {
        folder: folder.to_owned(),
        index,
        reader,
        fields,
        vectors: published,
        labels,
        runs: RunCache::default(),
        scores: ScorePool::default(),
        _lock: lock,
    };
    Ok((shared, Files { vectors, labels: label_file }))
}

/// Reads the labels of the documents with chunks.
fn read_labels(folder: &Path, fields: &Fields, searcher: &Searcher) -> Result<(LabelFile, Labels)> {
    let (mut file, mut labels) = LabelFile::open(&folder.join(LABELS))
        .map_err(|error| damaged(folder, "the labels cannot be read").caused_by(error))?;
    if !labels.is_empty() {
        let documents = inventory::all_documents(fields, searcher)
            .map_err(|error| damaged(folder, "the lexical index cannot be read").caused_by(error))?;
        let documents: HashSet<u128> = documents.into_iter().map(labels::key).collect();
        labels.retain(|document, _| documents.contains(document));
        if let Err(error) = file.compact(&labels) {
            tracing::warn!(%error, "cannot compact labels; this is retried after a change");
        }
    }
    Ok((file, Labels::new(labels)))
}

fn in_use(folder: &Path) -> Fault {
    let message = format!("the embedded index in {} is in use by another process", folder.display());
    Fault::new(Component::VectorStore, FaultKind::InUse, message)
}

fn unavailable(message: String) -> Fault {
    Fault::new(Component::VectorStore, FaultKind::Unavailable, message)
}

fn damaged(folder: &Path, reason: &str) -> Fault {
    let folder = folder.display();
    let message = format!(
        "the embedded index in {folder} is not usable: {reason}; move that folder away and ingest the documents again"
    );
    Fault::new(Component::VectorStore, FaultKind::Internal, message)
}

/// Whether the disk is full or a quota exhausted.
fn is_full(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        let kind = match error.downcast_ref::<Arc<io::Error>>() {
            Some(error) => Some(error.kind()),
            None => error.downcast_ref::<io::Error>().map(io::Error::kind),
        };
        if kind.is_some_and(|kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
        {
            return true;
        }
        cause = error.source();
    }
    // Some layers keep only the message.
    error.to_string().contains("No space left on device")
}

/// Converts an error: full disks and I/O errors are transient, everything else is damage or a bug.
fn fault(action: &'static str, error: TantivyError) -> Fault {
    let kind = match &error {
        _ if is_full(&error) => FaultKind::Full,
        TantivyError::IoError(_) | TantivyError::OpenWriteError(_) | TantivyError::LockFailure(..) => {
            FaultKind::Unavailable
        }
        _ => FaultKind::Internal,
    };
    Fault::new(Component::VectorStore, kind, action).caused_by(error)
}

#[cfg(test)]
mod tests;
