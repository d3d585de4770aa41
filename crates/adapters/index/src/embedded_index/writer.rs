//! Writes changes on one thread with group commit.
//!
//! A commit has the same cost for one change as for many: waits for the disk, and a segment that is merged later. So changes
//! that arrive during a commit, or shortly after it, share the next one. A call returns when its commit is durable and visible
//! to searches.

use super::labels::LabelFile;
use super::vectors::VectorFile;
use super::{Shared, VECTORS, fault, is_full, search, unavailable};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::id::VersionId;
use docent_domain::retrieval::{IndexEntry, IndexedVersion};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tantivy::IndexWriter;
use tantivy::indexer::{IndexWriterOptions, LogMergePolicy};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Maximum number of queued changes, which bounds memory use; further callers wait.
const QUEUE: usize = 32;
/// After a commit, changes are gathered for as long as it took, but not longer than this: under load about half of the time is
/// for commits, and a change after a pause does not wait.
const MAX_GATHERING: Duration = Duration::from_millis(100);
/// An idle writer is closed after this time, which frees its memory.
const IDLE: Duration = Duration::from_secs(5);
/// Segments with a larger fraction of deleted chunks are rewritten.
const MAX_DELETED_RATIO: f32 = 0.25;
/// Segments with fewer chunks are merged as if they were of one size. With Tantivy's default of 10,000, a growing segment below that is
/// written again with every eighth commit: for small documents that is more work than indexing them.
const MIN_LAYER_CHUNKS: u32 = 500;
/// Files with fewer rows are not compacted.
const MIN_ROWS_TO_COMPACT: usize = 1024;
/// A file of labels with fewer lines is compacted only on opening.
const MIN_LINES_TO_COMPACT: usize = 1024;

/// The files that only the writer changes.
pub(super) struct Files {
    pub(super) vectors: Option<VectorFile>,
    pub(super) labels: LabelFile,
}

/// Handle of the writer thread.
pub(super) struct Writer {
    // `None` only during drop.
    queue: Option<Sender<Change>>,
    thread: Option<JoinHandle<()>>,
    slots: Arc<Semaphore>,
}

struct Change {
    action: Action,
    done: oneshot::Sender<Result<()>>,
    _slot: OwnedSemaphorePermit,
}

enum Action {
    Replace(IndexedVersion, Vec<IndexEntry>),
    Relabel(IndexedVersion),
    Remove(VersionId),
}

/// What the actions of a batch changed.
#[derive(Default)]
struct Changed {
    /// Documents with new labels, in order.
    labels: Vec<IndexedVersion>,
    has_chunks: bool,
}

impl Writer {
    pub(super) fn start(shared: Arc<Shared>, files: Files, memory: usize) -> Result<Self> {
        let (queue, changes) = channel();
        let Files { vectors, labels } = files;
        let worker = WriterThread { shared, vectors, labels, memory, writer: None };
        let thread = std::thread::Builder::new()
            .name("docent-index".to_owned())
            .spawn(move || worker.run(&changes))
            .map_err(|error| unavailable("cannot start the index writer".to_owned()).caused_by(error))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), slots: Arc::new(Semaphore::new(QUEUE)) })
    }

    pub(super) async fn replace(&self, document: IndexedVersion, entries: Vec<IndexEntry>) -> Result<()> {
        self.change(Action::Replace(document, entries)).await
    }

    pub(super) async fn relabel(&self, document: IndexedVersion) -> Result<()> {
        self.change(Action::Relabel(document)).await
    }

    pub(super) async fn remove(&self, document: VersionId) -> Result<()> {
        self.change(Action::Remove(document)).await
    }

    /// Checks that the thread is running.
    pub(super) fn check(&self) -> Result<()> {
        match &self.thread {
            Some(thread) if !thread.is_finished() => Ok(()),
            _ => Err(stopped()),
        }
    }

    async fn change(&self, action: Action) -> Result<()> {
        let slot = Arc::clone(&self.slots).acquire_owned().await.map_err(|_| stopped())?;
        let (done, outcome) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(stopped)?;
        queue.send(Change { action, done, _slot: slot }).map_err(|_| stopped())?;
        outcome.await.map_err(|_| stopped())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been reported to the waiting callers.
            let _ = thread.join();
        }
    }
}

fn stopped() -> Fault {
    Fault::new(
        Component::VectorStore,
        FaultKind::Internal,
        "the embedded index's writer has stopped; restart Docent",
    )
}

/// Copies a fault without its cause for each caller of the batch.
fn copy_of(fault: &Fault) -> Fault {
    let text = fault.report();
    let part = format!("{}: ", fault.component().name());
    let message = text.strip_prefix(&part).unwrap_or(&text).to_owned();
    Fault::new(fault.component(), fault.kind(), message)
}

fn disk_fault(error: std::io::Error) -> Fault {
    write_fault("cannot write vectors", error)
}

fn write_fault(action: &'static str, error: std::io::Error) -> Fault {
    let kind = if is_full(&error) { FaultKind::Full } else { FaultKind::Unavailable };
    Fault::new(Component::VectorStore, kind, action).caused_by(error)
}

/// Collects the changes that arrive until a moment, and those that wait already.
fn gather(first: Change, changes: &Receiver<Change>, until: Instant) -> Vec<Change> {
    let mut batch = vec![first];
    while batch.len() < QUEUE {
        match changes.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(change) => batch.push(change),
            Err(_) => break,
        }
    }
    batch
}

/// State of the writer thread.
struct WriterThread {
    shared: Arc<Shared>,
    vectors: Option<VectorFile>,
    labels: LabelFile,
    memory: usize,
    /// Open while there are changes to write.
    writer: Option<IndexWriter>,
}

impl WriterThread {
    fn run(mut self, changes: &Receiver<Change>) {
        let mut next_commit = Instant::now();
        loop {
            match changes.recv_timeout(IDLE) {
                Ok(first) => {
                    let batch = gather(first, changes, next_commit);
                    let began = Instant::now();
                    self.commit(batch);
                    next_commit = Instant::now() + began.elapsed().min(MAX_GATHERING);
                }
                Err(RecvTimeoutError::Timeout) => self.close_idle_writer(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Closes the writer after its merges to free its buffers.
    fn close_idle_writer(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        if let Err(error) = writer.wait_merging_threads() {
            tracing::warn!(%error, "cannot merge segments of the embedded index; they are merged later");
        }
        // Merges created new segments; running searches keep the old files open.
        if let Err(error) = self.shared.reader.reload() {
            tracing::warn!(%error, "cannot reload the embedded index");
        }
    }

    fn commit(&mut self, batch: Vec<Change>) {
        let mut accepted = Vec::with_capacity(batch.len());
        let (mut changed, mut failed) = (Changed::default(), None);
        for Change { action, done, _slot } in batch {
            match failed.is_none().then(|| self.apply(action, &mut changed)) {
                Some(Ok(())) => accepted.push((done, _slot)),
                // Nothing was written, so other changes of the batch are not affected.
                Some(Err(fault)) if fault.kind() == FaultKind::Rejected => drop(done.send(Err(fault))),
                Some(Err(fault)) => {
                    failed = Some(fault);
                    accepted.push((done, _slot));
                }
                None => accepted.push((done, _slot)),
            }
        }
        let outcome = match failed {
            None => self.finish(&mut changed),
            Some(fault) => Err(fault),
        };
        if outcome.is_err() {
            // Dropping the writer without a commit discards the batch.
            self.writer = None;
        }
        for (done, slot) in accepted {
            drop(slot);
            // The caller may have been cancelled.
            let _ = done.send(match &outcome {
                Ok(()) => Ok(()),
                Err(fault) => Err(copy_of(fault)),
            });
        }
        if changed.has_chunks {
            self.compact();
        }
        self.compact_labels();
    }

    fn apply(&mut self, action: Action, changed: &mut Changed) -> Result<()> {
        match action {
            Action::Relabel(document) => changed.labels.push(document),
            Action::Remove(document) => {
                let term = self.shared.fields.document_term(document);
                self.writer()?.delete_term(term);
                changed.has_chunks = true;
            }
            Action::Replace(document, mut entries) => {
                let has_entries = !entries.is_empty();
                let keys = self.store_vectors(&mut entries)?;
                let fields = self.shared.fields;
                let writer = self.writer()?;
                writer.delete_term(fields.document_term(document.id));
                for (at, (entry, key)) in entries.into_iter().zip(keys).enumerate() {
                    let record = fields.write(&document, entry, key, at == 0);
                    writer.add_document(record).map_err(|error| fault("cannot add a chunk", error))?;
                }
                changed.labels.extend(has_entries.then_some(document));
                changed.has_chunks = true;
            }
        }
        Ok(())
    }

    /// Stores the dense vectors of a document durably and returns each entry's key.
    fn store_vectors(&mut self, entries: &mut [IndexEntry]) -> Result<Vec<Option<u64>>> {
        let dense: Vec<Option<Vec<f32>>> =
            entries.iter_mut().map(|entry| entry.embedding.dense.take()).collect();
        let Some(dimensions) = dense.iter().flatten().map(Vec::len).next() else {
            return Ok(vec![None; entries.len()]);
        };
        if dimensions == 0 || dense.iter().flatten().any(|vector| vector.len() != dimensions) {
            let message = "the dense vectors of a document have different or no dimensions";
            return Err(Fault::new(Component::VectorStore, FaultKind::Rejected, message));
        }
        let file = match &mut self.vectors {
            Some(file) => {
                file.vectors().check_dimensions(dimensions)?;
                file
            }
            none => none.insert(
                VectorFile::create(&self.shared.folder.join(VECTORS), dimensions).map_err(disk_fault)?,
            ),
        };
        let has_vector: Vec<bool> = dense.iter().map(Option::is_some).collect();
        let vectors: Vec<Vec<f32>> = dense.into_iter().flatten().collect();
        let mut keys = file.append(&vectors).map_err(disk_fault)?..;
        Ok(has_vector.into_iter().map(|has_vector| if has_vector { keys.next() } else { None }).collect())
    }

    /// Commits and makes the changes visible to searches.
    fn finish(&mut self, changed: &mut Changed) -> Result<()> {
        // Labels come first: a chunk must be neither stored nor visible without them.
        if !changed.labels.is_empty() {
            self.labels.append(&changed.labels).map_err(|error| write_fault("cannot write labels", error))?;
            self.shared.labels.put(std::mem::take(&mut changed.labels));
        }
        if !changed.has_chunks {
            return Ok(());
        }
        // Vectors are published first: a chunk must not be visible before its vector.
        self.shared.publish(self.vectors.as_ref().map(|file| Arc::clone(file.vectors())));
        self.writer()?.commit().map_err(|error| fault("cannot commit to the embedded index", error))?;
        self.shared
            .reader
            .reload()
            .map_err(|error| fault("cannot reload the embedded index after a commit", error))
    }

    fn writer(&mut self) -> Result<&mut IndexWriter> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.open_writer().map_err(|error| fault("cannot open the index writer", error))?,
        };
        Ok(self.writer.insert(writer))
    }

    fn open_writer(&self) -> tantivy::Result<IndexWriter> {
        let options = IndexWriterOptions::builder()
            .memory_budget_per_thread(self.memory)
            .num_worker_threads(1)
            .num_merge_threads(1)
            .build();
        let writer = self.shared.index.writer_with_options(options)?;
        let mut policy = LogMergePolicy::default();
        policy.set_del_docs_ratio_before_merge(MAX_DELETED_RATIO);
        policy.set_min_layer_size(MIN_LAYER_CHUNKS);
        writer.set_merge_policy(Box::new(policy));
        Ok(writer)
    }

    /// Compacts the vectors if most of them are dead. Errors do not affect callers.
    fn compact(&mut self) {
        if let Err(error) = self.try_compact() {
            tracing::warn!(%error, "cannot compact vectors; this is retried after the next change");
        }
    }

    /// Compacts the file of labels, which grows with each change. Errors do not affect callers.
    fn compact_labels(&mut self) {
        if self.labels.lines() >= MIN_LINES_TO_COMPACT
            && let Err(error) = self.labels.compact(self.shared.labels.get().labels())
        {
            tracing::warn!(%error, "cannot compact labels; this is retried after the next change");
        }
    }

    fn try_compact(&mut self) -> Result<()> {
        let Some(file) = &mut self.vectors else { return Ok(()) };
        let used = search::vectors_in_use(&self.shared.reader.searcher())
            .map_err(|error| fault("cannot read which vectors are in use", error))?;
        let rows = file.vectors().rows();
        if used.live.is_empty() {
            // Without vectors, new ones may have other dimensions.
            self.vectors = None;
            self.shared.publish(None);
            return std::fs::remove_file(self.shared.folder.join(VECTORS)).map_err(disk_fault);
        }
        if rows > MIN_ROWS_TO_COMPACT && used.live.len() * 2 < rows {
            file.compact(&used.live).map_err(disk_fault)?;
            self.shared.publish(Some(Arc::clone(file.vectors())));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::version_id;

    fn change(slots: &Arc<Semaphore>) -> Change {
        let slot = Arc::clone(slots).try_acquire_owned().unwrap();
        Change { action: Action::Remove(version_id(1)), done: oneshot::channel().0, _slot: slot }
    }

    #[test]
    fn a_batch_has_the_changes_that_arrive_in_time() {
        let slots = Arc::new(Semaphore::new(3));
        let (queue, changes) = channel();
        let first = change(&slots);
        let later = [change(&slots), change(&slots)];
        let sender =
            std::thread::spawn(move || later.into_iter().for_each(|change| queue.send(change).unwrap()));
        // It ends before that when no more can arrive.
        let batch = gather(first, &changes, Instant::now() + Duration::from_secs(3600));
        assert_eq!(batch.len(), 3);
        sender.join().unwrap();
    }

    #[test]
    fn a_late_batch_has_the_changes_that_wait() {
        let slots = Arc::new(Semaphore::new(QUEUE + 3));
        let (queue, changes) = channel();
        for _ in 0..=QUEUE {
            queue.send(change(&slots)).unwrap();
        }
        let batch = gather(change(&slots), &changes, Instant::now());
        assert_eq!(batch.len(), QUEUE);
        assert_eq!(gather(change(&slots), &changes, Instant::now()).len(), 3);
    }
}
