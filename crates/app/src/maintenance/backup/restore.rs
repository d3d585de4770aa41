//! Restores an installation from an archive.
//!
//! The archive is read three times: to verify it, to write files and chunks, and to write all records in one
//! transaction. The database is empty until that transaction commits, so an interrupted restore can be run again.

use super::entries::EntryReader;
use super::manifest::Manifest;
use super::pages::records;
use super::{BackupError, FILE, FORMAT, MANIFEST, REPLACEMENT, invalid_archive};
use crate::App;
use crate::generations::OpenIndex;
use crate::ingest::lead_of;
use crate::maintenance::diagnostics::version_of;
use crate::maintenance::progress::Progress;
use docent_domain::document::{BlobKey, Document, DocumentState};
use docent_domain::external_file::ExternalFile;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{ChunkId, DocumentId, JobId, VersionId};
use docent_domain::job::{Job, JobKind};
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::{Embedding, IndexEntry, IndexedVersion, Passages, StoredChunk};
use docent_ports::archive::ArchiveSource;
use docent_ports::blob_store::BlobWriter;
use docent_ports::records::{ArchivedChunk, ArchivedDocument};
use docent_ports::store::UnitOfWork;
use docent_text::headings;
use futures::TryStreamExt;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Chunks per embedding call.
const BATCH: usize = 64;
/// Documents that the vector index lists at a time.
const INDEX_PAGE: usize = 1000;

/// The number of summary records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RestoreSummary {
    /// Accounts.
    pub users: u64,
    /// Documents.
    pub documents: u64,
    /// Documents that are queued for ingestion.
    pub queued: u64,
    /// Chunks.
    pub chunks: u64,
    /// Whether the chunks were embedded again, because this installation has another embedding model.
    pub reembedded: bool,
}

/// Restores an archive into this installation, whose schema must be up to date.
///
/// # Errors
/// When the archive is not valid, the installation is not empty, or a component fails. No records are written then,
/// and the restore can be retried.
pub async fn restore(
    app: &App,
    source: &dyn ArchiveSource,
    progress: &dyn Progress,
) -> Result<RestoreSummary, BackupError> {
    let archive = verify(source, progress).await?;
    let active = app.active_index().await?;
    check_empty(app, &active, &archive.documents).await?;
    let same_model = archive.manifest.embedding_model == active.embedder()?.model();
    let documents = archive.documents;
    let mut files = FileRestore { app, active, same_model, documents, indexed: HashSet::new(), chunks: 0 };
    files.restore(source, progress).await?;
    let FileRestore { indexed, chunks, .. } = files;
    let summary =
        RestoreSummary { chunks, reembedded: !same_model && chunks > 0, ..RestoreSummary::default() };
    record(app, source, &indexed, summary).await
}

/// A verified archive.
struct Archive {
    manifest: Manifest,
    documents: HashMap<DocumentId, Versions>,
}

/// The versions of a document in an archive.
#[derive(Clone, Copy)]
struct Versions {
    current: VersionId,
    replacement: Option<VersionId>,
}

/// The document ID and file name of an entry in `documents/`.
fn document_entry(name: &str) -> Option<(DocumentId, &str)> {
    let (id, part) = name.strip_prefix("documents/")?.split_once('/')?;
    Some((id.parse().ok()?, part))
}

async fn manifest(contents: &mut EntryReader) -> Result<Manifest, BackupError> {
    match contents.next(0).await? {
        Some((name, bytes)) if name == MANIFEST => {
            let manifest: Manifest = contents.json(bytes).await?;
            if manifest.format == FORMAT {
                return Ok(manifest);
            }
            let found = manifest.format;
            Err(invalid_archive(format!("its format is {found}, but this program reads format {FORMAT}")))
        }
        _ => Err(invalid_archive("it does not start with a manifest")),
    }
}

async fn verify(source: &dyn ArchiveSource, progress: &dyn Progress) -> Result<Archive, BackupError> {
    let mut contents = EntryReader::new(source.open().await?);
    let manifest = manifest(&mut contents).await?;
    progress.begin("checking the archive", Some(manifest.documents));
    let mut documents = HashMap::new();
    let mut digests: BTreeMap<String, String> = BTreeMap::new();
    while let Some((name, bytes)) = contents.next(documents.len() as u64).await? {
        match document_entry(&name) {
            Some((id, "record.json")) => {
                let ArchivedDocument { document, entries, .. } = contents.record(bytes).await?;
                let file = document.file.as_ref().map(|file| &file.blob);
                if file.is_some_and(|key| *key != BlobKey::of_version(document.version_id)) {
                    return Err(invalid_archive(format!(
                        "the file of document {id} has a name that does not match its ID"
                    )));
                }
                let replacement = document.replacement.as_ref().map(|replacement| replacement.version_id);
                let versions = Versions { current: document.version_id, replacement };
                let is_second = documents.insert(id, versions).is_some();
                if document.id != id || entries != std::mem::take(&mut digests) || is_second {
                    return Err(invalid_archive(format!(
                        "the record of document {id} does not match its entries"
                    )));
                }
                progress.advance(1);
            }
            Some((_, part @ (FILE | REPLACEMENT | "chunks.jsonl" | "vectors.f32"))) => {
                digests.insert(part.to_owned(), contents.skip().await?);
            }
            None if records(&mut contents, &name, bytes).await?.is_some() => {}
            _ => return Err(invalid_archive(format!("it has an unknown entry `{name}`"))),
        }
    }
    progress.end();
    Ok(Archive { manifest, documents })
}

/// Checks that the installation has no data except what an earlier restore of the same archive may have left.
async fn check_empty(
    app: &App,
    active: &OpenIndex,
    documents: &HashMap<DocumentId, Versions>,
) -> Result<(), BackupError> {
    let versions: HashSet<VersionId> =
        documents.values().flat_map(|of| of.replacement.into_iter().chain([of.current])).collect();
    let sizes = app.store.read().await?.inventory().counts().await?;
    if !sizes.is_empty() {
        return Err(BackupError::NotEmpty(format!(
            "{} accounts, {} documents, {} documents being removed, {} groups and {} lines of usage",
            sizes.users, sizes.documents, sizes.deletions, sizes.groups, sizes.usage
        )));
    }
    let mut blobs = app.blobs.list();
    while let Some(blob) = blobs.try_next().await? {
        if version_of(&blob.key).is_none_or(|id| !versions.contains(&id)) {
            return Err(BackupError::NotEmpty(format!("the file {} in its blob store", blob.key.as_str())));
        }
    }
    let mut after: Option<String> = None;
    loop {
        let page = active.index.versions(after.as_deref(), INDEX_PAGE).await?;
        if let Some(other) = page.versions.iter().find(|id| !versions.contains(id)) {
            return Err(BackupError::NotEmpty(format!("chunks of document {other} in its vector store")));
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Restores files and chunks.
struct FileRestore<'a> {
    app: &'a App,
    active: OpenIndex,
    same_model: bool,
    documents: HashMap<DocumentId, Versions>,
    /// The documents whose chunks are restored.
    indexed: HashSet<DocumentId>,
    chunks: u64,
}

impl FileRestore<'_> {
    async fn restore(
        &mut self,
        source: &dyn ArchiveSource,
        progress: &dyn Progress,
    ) -> Result<(), BackupError> {
        let mut contents = EntryReader::new(source.open().await?);
        progress.begin("restoring files and chunks", Some(self.documents.len() as u64));
        let (mut read, mut chunks, mut vectors) = (0, Vec::new(), Vec::new());
        while let Some((name, bytes)) = contents.next(read).await? {
            match document_entry(&name) {
                Some((id, FILE)) => {
                    let version = self.documents.get(&id).map(|versions| versions.current);
                    self.file(&mut contents, version).await?;
                }
                Some((id, REPLACEMENT)) => {
                    let version = self.documents.get(&id).and_then(|versions| versions.replacement);
                    self.file(&mut contents, version).await?;
                }
                Some((_, "chunks.jsonl")) => chunks = contents.records(bytes).await?,
                Some((_, "vectors.f32")) => vectors = contents.read_all(bytes).await?,
                Some((_, "record.json")) => {
                    let record: ArchivedDocument = contents.record(bytes).await?;
                    self.index(&record.document, std::mem::take(&mut chunks), &std::mem::take(&mut vectors))
                        .await?;
                    read += 1;
                    progress.advance(1);
                }
                _ => drop(contents.skip().await?),
            }
        }
        progress.end();
        Ok(())
    }

    async fn file(&self, contents: &mut EntryReader, version: Option<VersionId>) -> Result<(), BackupError> {
        let version = version.ok_or_else(|| invalid_archive("it has a file without a record"))?;
        let mut writer = self.app.blobs.create(&BlobKey::of_version(version)).await?;
        let copied = copy(&mut *writer, contents).await;
        if copied.is_err() {
            // If this fails, the rest is removed like that of any aborted upload.
            let _ = writer.abort().await;
            return copied;
        }
        Ok(writer.finish().await?)
    }

    async fn index(
        &mut self,
        document: &Document,
        chunks: Vec<ArchivedChunk>,
        mut vectors: &[u8],
    ) -> Result<(), BackupError> {
        if chunks.is_empty() {
            return Ok(());
        }
        let chunks: Vec<StoredChunk> =
            chunks.into_iter().map(|chunk| with_vector(chunk, &mut vectors)).collect::<Result<_, _>>()?;
        let embeddings = self.embeddings(document, &chunks).await?;
        let indexed = IndexedVersion { id: document.version_id, labels: DocumentLabels::of(document) };
        self.chunks += chunks.len() as u64;
        let headings = headings::before_chunks(chunks.iter().map(|chunk| chunk.text.as_str()));
        let entry = |((chunk, headings), embedding): ((StoredChunk, String), Embedding)| IndexEntry {
            id: ChunkId::of(document.version_id, chunk.ordinal),
            ordinal: chunk.ordinal,
            text: chunk.text,
            span: chunk.span,
            pages: chunk.pages,
            headings,
            embedding,
        };
        let entries = chunks.into_iter().zip(headings).zip(embeddings).map(entry).collect();
        self.active.index.replace(&indexed, entries).await?;
        self.indexed.insert(document.id);
        Ok(())
    }

    /// Uses the archive's vectors if the embedding model is the same. Terms are always extracted from the text.
    async fn embeddings(&self, document: &Document, chunks: &[StoredChunk]) -> Result<Vec<Embedding>, Fault> {
        let embedder = self.active.embedder()?;
        let reuses_vectors = self.same_model && chunks.iter().all(|chunk| chunk.dense.is_some());
        let lead = lead_of(chunks.iter().map(|chunk| chunk.text.as_str()));
        let mut embeddings = Vec::with_capacity(chunks.len());
        let headings = headings::of_chunks(chunks.iter().map(|chunk| chunk.text.as_str()));
        for (batch, headings) in chunks.chunks(BATCH).zip(headings.chunks(BATCH)) {
            let texts: Vec<(u32, &str)> =
                batch.iter().map(|chunk| (chunk.span.start.page, chunk.text.as_str())).collect();
            let title = document.title.as_str();
            let passages = Passages { title, lead: &lead, chunks: &texts, headings };
            let batch_embeddings: Vec<Embedding> = if reuses_vectors {
                let sparse = match embedder.embed_sparse(passages).await? {
                    Some(sparse) => sparse.into_iter().map(Some).collect(),
                    None => vec![None; batch.len()],
                };
                let join = |(sparse, chunk): (_, &StoredChunk)| Embedding {
                    sparse,
                    dense: chunk.dense.clone(),
                    is_shortened: false,
                };
                sparse.into_iter().zip(batch).map(join).collect()
            } else {
                embedder.embed_passages(passages).await?
            };
            if batch_embeddings.len() != batch.len() {
                let message = format!("{} embeddings for {} chunks", batch_embeddings.len(), batch.len());
                return Err(Fault::new(Component::Embedder, FaultKind::InvalidResponse, message));
            }
            embeddings.extend(batch_embeddings);
        }
        Ok(embeddings)
    }
}

async fn copy(writer: &mut dyn BlobWriter, contents: &mut EntryReader) -> Result<(), BackupError> {
    while let Some(bytes) = contents.read().await? {
        writer.write(bytes).await?;
    }
    Ok(())
}

/// Writes all records in one transaction.
async fn record(
    app: &App,
    source: &dyn ArchiveSource,
    indexed: &HashSet<DocumentId>,
    mut summary: RestoreSummary,
) -> Result<RestoreSummary, BackupError> {
    let mut contents = EntryReader::new(source.open().await?);
    let mut work = app.store.begin().await?;
    let documents = work.documents().counts().await?;
    let users = work.users().count().await?;
    if users + documents.pending + documents.ingested + documents.failed > 0 {
        return Err(BackupError::NotEmpty(format!(
            "{users} accounts or documents, which were created concurrently"
        )));
    }
    while let Some((name, bytes)) = contents.next(summary.documents).await? {
        match document_entry(&name) {
            Some((_, "record.json")) => {
                let record = contents.record(bytes).await?;
                summary.documents += 1;
                summary.queued += u64::from(insert(app, &mut *work, record, indexed).await?);
            }
            Some(_) => drop(contents.skip().await?),
            None => match records(&mut contents, &name, bytes).await? {
                Some(records) => {
                    summary.users += records.accounts();
                    records.insert_into(&mut *work).await?;
                }
                None => drop(contents.skip().await?),
            },
        }
    }
    work.commit().await?;
    Ok(summary)
}

/// Returns a chunk with its vector, which is removed from the start of `vectors`.
fn with_vector(chunk: ArchivedChunk, vectors: &mut &[u8]) -> Result<StoredChunk, BackupError> {
    let ArchivedChunk { ordinal, text, span, pages, dimensions } = chunk;
    let bytes = usize::try_from(dimensions).ok().and_then(|dimensions| dimensions.checked_mul(4));
    let split = bytes.and_then(|bytes| vectors.split_at_checked(bytes));
    let (dense, rest) = split.ok_or_else(|| invalid_archive("a chunk's vector is missing"))?;
    *vectors = rest;
    let numbers = dense.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    Ok(StoredChunk { ordinal, text, span, pages, dense: (dimensions > 0).then_some(numbers) })
}

/// Inserts a document, and an ingestion job if it needs one. Returns whether it does.
async fn insert(
    app: &App,
    work: &mut dyn UnitOfWork,
    record: ArchivedDocument,
    indexed: &HashSet<DocumentId>,
) -> Result<bool, BackupError> {
    let ArchivedDocument { document, summary, purpose, external, .. } = record;
    let now = app.now();
    let lacks_chunks =
        matches!(document.state, DocumentState::Ingested(_)) && !indexed.contains(&document.id);
    let document = match lacks_chunks {
        true => document.requeued(now).map_err(|error| invalid_archive(error.to_string()))?,
        false => document,
    };
    work.documents().insert(&document).await?;
    if let Some(summary) = summary.filter(|summary| summary.is_of(&document)) {
        work.documents().set_summary(document.id, Some(&summary)).await?;
    }
    if let Some(purpose) = purpose {
        work.documents().set_purpose(document.id, purpose).await?;
    }
    if let Some(file) = external {
        work.documents().set_external_file(&ExternalFile { document: document.id, ..file }).await?;
    }
    let is_waiting = document.upcoming().is_some_and(|upcoming| upcoming.file.is_some());
    if is_waiting {
        let id = app.new_id(JobId::generate);
        work.jobs().insert(&Job::new(id, JobKind::Ingest, document.id, document.owner, now)).await?;
    }
    Ok(is_waiting)
}
