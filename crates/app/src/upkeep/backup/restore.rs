//! Making an installation from an archive.
//!
//! The archive is read three times: once to see that it is whole, once to write files and chunks, once to write
//! all records in one transaction. Until that is committed the database is empty: a restore that was cut short
//! leaves no half of an installation, and is run again, over what it left.

use super::{
    BackupError, FORMAT, MANIFEST,
    entries::Contents,
    lines::{ChunkLine, DocumentLine, Manifest},
    pages::{Kind, records},
    refused,
};
use crate::{
    App,
    generations::Opened,
    ingest::lead_of,
    upkeep::{doctor::document_of, progress::Progress},
};
use docent_domain::{
    document::{BlobKey, Document, DocumentState},
    headings,
    id::{ChunkId, DocumentId, JobId},
    job::{Job, JobKind},
    retrieval::{Embedding, IndexEntry, IndexedDocument, Passages, StoredChunk},
};
use docent_ports::{
    archive::ArchiveSource,
    blob_store::BlobWriter,
    error::{Component, Fault, FaultKind},
    store::UnitOfWork,
};
use futures::TryStreamExt;
use std::collections::HashSet;

/// Chunks that are embedded in one call.
const BATCH: usize = 64;
/// Documents, or chunks, that the vector store shows at a time.
const INDEX_PAGE: usize = 1000;

/// What was restored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Accounts.
    pub users: u64,
    /// Documents.
    pub documents: u64,
    /// Those of them that are to be ingested anew.
    pub queued: u64,
    /// Chunks.
    pub chunks: u64,
    /// Whether the chunks were embedded anew, since this installation has another embedding model.
    pub embedded_anew: bool,
}

/// Restores an archive into this installation, whose schema must be up to date.
///
/// # Errors
/// When the archive is not whole, the installation is not empty, or a part does not work. The records are then
/// not there; it may be tried again.
pub async fn restore(
    app: &App,
    source: &dyn ArchiveSource,
    progress: &dyn Progress,
) -> Result<Restored, BackupError> {
    let archive = verify(source, progress).await?;
    let serving = app.serving().await?;
    check_empty(app, &serving, &archive.documents).await?;
    let same_model = archive.manifest.embedding_model == serving.embedder()?.model();
    let mut copying = Copying { app, serving, same_model, indexed: HashSet::new(), chunks: 0 };
    copying.copy(source, archive.documents.len() as u64, progress).await?;
    let Copying { indexed, chunks, .. } = copying;
    let restored = Restored { chunks, embedded_anew: !same_model && chunks > 0, ..Restored::default() };
    record(app, source, &indexed, restored).await
}

/// An archive that was found to be whole.
struct Archive {
    manifest: Manifest,
    documents: HashSet<DocumentId>,
}

/// The document and the last part of the name of an entry below `documents/`.
fn part_of(name: &str) -> Option<(DocumentId, &str)> {
    let (id, part) = name.strip_prefix("documents/")?.split_once('/')?;
    Some((id.parse().ok()?, part))
}

async fn manifest(contents: &mut Contents) -> Result<Manifest, BackupError> {
    match contents.next(0).await? {
        Some((name, bytes)) if name == MANIFEST => {
            let manifest: Manifest = contents.json(bytes).await?;
            if manifest.format == FORMAT {
                return Ok(manifest);
            }
            let found = manifest.format;
            Err(refused(format!("its format is {found}, and this program reads format {FORMAT}")))
        }
        _ => Err(refused("it does not begin with a manifest")),
    }
}

async fn verify(source: &dyn ArchiveSource, progress: &dyn Progress) -> Result<Archive, BackupError> {
    let mut contents = Contents::of(source.open().await?);
    let manifest = manifest(&mut contents).await?;
    progress.begin("checking the archive", Some(manifest.documents));
    let mut documents = HashSet::new();
    let mut seen: std::collections::BTreeMap<String, String> = std::collections::BTreeMap::new();
    while let Some((name, bytes)) = contents.next(documents.len() as u64).await? {
        match part_of(&name) {
            Some((id, "record.json")) => {
                let line: DocumentLine = contents.json(bytes).await?;
                let document = line.document()?;
                let file = document.file.as_ref().map(|file| &file.blob);
                if file.is_some_and(|key| *key != BlobKey::of_document(id)) {
                    return Err(refused(format!(
                        "the file of document {id} has another name than its id gives"
                    )));
                }
                if document.id != id || line.entries != std::mem::take(&mut seen) || !documents.insert(id) {
                    return Err(refused(format!("the record of document {id} does not fit its entries")));
                }
                progress.advance(1);
            }
            Some((_, part @ ("file.pdf" | "chunks.jsonl" | "vectors.f32"))) => {
                seen.insert(part.to_owned(), contents.pass().await?);
            }
            None if Kind::of(&name).is_some() => drop(records(&mut contents, &name, bytes).await?),
            _ => return Err(refused(format!("it holds `{name}`, which this program does not know"))),
        }
    }
    progress.end();
    Ok(Archive { manifest, documents })
}

/// Nothing is there but what an earlier try at the same archive may have left.
async fn check_empty(
    app: &App,
    serving: &Opened,
    documents: &HashSet<DocumentId>,
) -> Result<(), BackupError> {
    let sizes = app.store.read().await?.inventory().counts().await?;
    if !sizes.is_empty() {
        return Err(BackupError::NotEmpty(format!(
            "{} accounts, {} documents, {} documents being removed, {} groups and {} lines of usage",
            sizes.users, sizes.documents, sizes.deletions, sizes.groups, sizes.usage
        )));
    }
    let mut blobs = app.blobs.list();
    while let Some(blob) = blobs.try_next().await? {
        if document_of(&blob.key).is_none_or(|id| !documents.contains(&id)) {
            return Err(BackupError::NotEmpty(format!("the file {} in its blob store", blob.key.as_str())));
        }
    }
    let mut after: Option<String> = None;
    loop {
        let page = serving.index.documents(after.as_deref(), INDEX_PAGE).await?;
        if let Some(other) = page.documents.iter().find(|id| !documents.contains(id)) {
            return Err(BackupError::NotEmpty(format!("chunks of document {other} in its vector store")));
        }
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

/// Writes files and chunks.
struct Copying<'a> {
    app: &'a App,
    serving: Opened,
    same_model: bool,
    /// The documents whose chunks were written.
    indexed: HashSet<DocumentId>,
    chunks: u64,
}

impl Copying<'_> {
    async fn copy(
        &mut self,
        source: &dyn ArchiveSource,
        documents: u64,
        progress: &dyn Progress,
    ) -> Result<(), BackupError> {
        let mut contents = Contents::of(source.open().await?);
        progress.begin("restoring files and chunks", Some(documents));
        let (mut read, mut chunks, mut vectors) = (0, Vec::new(), Vec::new());
        while let Some((name, bytes)) = contents.next(read).await? {
            match part_of(&name) {
                Some((id, "file.pdf")) => self.file(&mut contents, id).await?,
                Some((_, "chunks.jsonl")) => chunks = contents.lines::<ChunkLine>(bytes).await?,
                Some((_, "vectors.f32")) => vectors = contents.whole(bytes).await?,
                Some((_, "record.json")) => {
                    let document = contents.json::<DocumentLine>(bytes).await?.document()?;
                    self.index(&document, std::mem::take(&mut chunks), &std::mem::take(&mut vectors)).await?;
                    read += 1;
                    progress.advance(1);
                }
                _ => drop(contents.pass().await?),
            }
        }
        progress.end();
        Ok(())
    }

    async fn file(&self, contents: &mut Contents, id: DocumentId) -> Result<(), BackupError> {
        let mut writer = self.app.blobs.create(&BlobKey::of_document(id)).await?;
        let copied = fill(&mut *writer, contents).await;
        if copied.is_err() {
            // What stays of it is removed as any unfinished upload is.
            let _ = writer.abort().await;
            return copied;
        }
        Ok(writer.finish().await?)
    }

    async fn index(
        &mut self,
        document: &Document,
        chunks: Vec<ChunkLine>,
        mut vectors: &[u8],
    ) -> Result<(), BackupError> {
        if chunks.is_empty() {
            return Ok(());
        }
        let chunks: Vec<StoredChunk> =
            chunks.into_iter().map(|line| line.chunk(&mut vectors)).collect::<Result<_, _>>()?;
        let embeddings = self.embeddings(document, &chunks).await?;
        let indexed = IndexedDocument {
            id: document.id,
            title: document.title.clone(),
            filename: document.file.as_ref().map_or("", |file| file.name.as_str()).to_owned(),
        };
        self.chunks += chunks.len() as u64;
        let entry = |(chunk, embedding): (StoredChunk, Embedding)| IndexEntry {
            id: ChunkId::of(document.id, chunk.ordinal),
            ordinal: chunk.ordinal,
            text: chunk.text,
            span: chunk.span,
            pages: chunk.pages,
            embedding,
        };
        let entries = chunks.into_iter().zip(embeddings).map(entry).collect();
        self.serving.index.replace(&indexed, entries).await?;
        self.indexed.insert(document.id);
        Ok(())
    }

    /// The vectors are those of the archive where the model is the same; terms follow from the text.
    async fn embeddings(&self, document: &Document, chunks: &[StoredChunk]) -> Result<Vec<Embedding>, Fault> {
        let embedder = self.serving.embedder()?;
        let keeps = self.same_model && chunks.iter().all(|chunk| chunk.dense.is_some());
        let lead = lead_of(chunks.first().map_or("", |chunk| chunk.text.as_str()));
        let mut embeddings = Vec::with_capacity(chunks.len());
        let headings = headings::of_chunks(chunks.iter().map(|chunk| chunk.text.as_str()));
        for (batch, headings) in chunks.chunks(BATCH).zip(headings.chunks(BATCH)) {
            let texts: Vec<(u32, &str)> =
                batch.iter().map(|chunk| (chunk.span.start.page, chunk.text.as_str())).collect();
            let passages = Passages { title: document.title.as_str(), lead: &lead, chunks: &texts, headings };
            let made: Vec<Embedding> = if keeps {
                let sparse = match embedder.embed_sparse(passages).await? {
                    Some(sparse) => sparse.into_iter().map(Some).collect(),
                    None => vec![None; batch.len()],
                };
                let join =
                    |(sparse, chunk): (_, &StoredChunk)| Embedding { sparse, dense: chunk.dense.clone() };
                sparse.into_iter().zip(batch).map(join).collect()
            } else {
                embedder.embed_passages(passages).await?
            };
            if made.len() != batch.len() {
                let message = format!("{} embeddings for {} chunks", made.len(), batch.len());
                return Err(Fault::new(Component::Embedder, FaultKind::InvalidResponse, message));
            }
            embeddings.extend(made);
        }
        Ok(embeddings)
    }
}

async fn fill(writer: &mut dyn BlobWriter, contents: &mut Contents) -> Result<(), BackupError> {
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
    mut restored: Restored,
) -> Result<Restored, BackupError> {
    let mut contents = Contents::of(source.open().await?);
    let mut work = app.store.begin().await?;
    let documents = work.documents().counts().await?;
    let users = work.users().count().await?;
    if users + documents.pending + documents.ingested + documents.failed > 0 {
        return Err(BackupError::NotEmpty(format!("{users} accounts or documents, made meanwhile")));
    }
    while let Some((name, bytes)) = contents.next(restored.documents).await? {
        match part_of(&name) {
            Some((_, "record.json")) => {
                let document = contents.json::<DocumentLine>(bytes).await?.document()?;
                restored.documents += 1;
                restored.queued += u64::from(insert(app, &mut *work, document, indexed).await?);
            }
            None if Kind::of(&name).is_some() => {
                let records = records(&mut contents, &name, bytes).await?;
                restored.users += records.accounts();
                records.insert_into(&mut *work).await?;
            }
            _ => drop(contents.pass().await?),
        }
    }
    work.commit().await?;
    Ok(restored)
}

/// Adds a document, with a job where it is to be ingested; says whether it is.
async fn insert(
    app: &App,
    work: &mut dyn UnitOfWork,
    document: Document,
    indexed: &HashSet<DocumentId>,
) -> Result<bool, BackupError> {
    let now = app.clock.now();
    let has_lost = matches!(document.state, DocumentState::Ingested(_)) && !indexed.contains(&document.id);
    let document = match has_lost {
        true => document.requeued(now).map_err(|error| refused(error.to_string()))?,
        false => document,
    };
    work.documents().insert(&document).await?;
    let waits = document.file.is_some() && matches!(document.state, DocumentState::Pending(_));
    if waits {
        let id = app.new_id(JobId::generate);
        work.jobs().insert(&Job::new(id, JobKind::Ingest, document.id, document.owner, now)).await?;
    }
    Ok(waits)
}
