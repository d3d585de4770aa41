//! Whether records, jobs, chunks and files agree.

use super::{Finding, Listener};
use crate::{
    App,
    generations::GRACE,
    upkeep::{progress::Progress, reindex},
};
use chrono::TimeDelta;
use docent_domain::{
    document::{BlobKey, Document, DocumentState, DocumentStatus, FailureCode},
    generation::{GenerationState, IndexGeneration},
    id::DocumentId,
    job::{JobKind, JobState},
};
use docent_ports::{blob_store::StoredBlob, error::Fault};
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::HashSet;

/// Records that are read at a time.
const PAGE: u64 = 256;
/// Chunks, or documents, that the vector store shows at a time.
const INDEX_PAGE: usize = 1000;
/// Files that are looked for at a time.
const LOOKS: usize = 8;
/// A file without a record may be of an upload under way for so long.
const UPLOAD_SPARE: TimeDelta = TimeDelta::hours(1);
/// A lease that ran out is taken up within seconds where anybody runs jobs.
const LEASE_SPARE: TimeDelta = TimeDelta::minutes(10);

type Found<'a> = &'a mut dyn Listener;

/// The documents and deletions that need jobs have them, and jobs have runners.
pub(super) async fn jobs(app: &App, listener: Found<'_>) -> Result<(), Fault> {
    let mut after = None;
    loop {
        let mut view = app.store.read().await?;
        let page = view.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let waits = |document: &&Document| {
            document.file.is_some() && matches!(document.state, DocumentState::Pending(_))
        };
        let ids: Vec<DocumentId> = page.iter().filter(waits).map(|document| document.id).collect();
        let queued = view.inventory().with_open_job(&ids, JobKind::Ingest).await?;
        drop(view);
        for id in ids.into_iter().filter(|id| !queued.contains(id)) {
            listener.found(Finding::NotQueued(id)).await;
        }
    }
    let mut after = None;
    loop {
        let mut view = app.store.read().await?;
        let page = view.inventory().deletions(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.document);
        let ids: Vec<DocumentId> = page.iter().map(|deletion| deletion.document).collect();
        let queued = view.inventory().with_open_job(&ids, JobKind::Delete).await?;
        drop(view);
        for id in ids.into_iter().filter(|id| !queued.contains(id)) {
            listener.found(Finding::NotRemoved(id)).await;
        }
    }
    let before = app.clock.now() - LEASE_SPARE;
    for job in app.store.read().await?.inventory().jobs_with_expired_lease(before, PAGE).await? {
        if let JobState::Leased { until, .. } = job.state {
            listener.found(Finding::LeaseOver { job: job.id, document: job.document, since: until }).await;
        }
    }
    Ok(())
}

/// One index serves, with the model of the settings, and nothing is left of others.
pub(super) async fn generations(app: &App, listener: Found<'_>) -> Result<(), Fault> {
    let (serving, configured) = (app.serving_generation().await?, &app.settings.embedding_model);
    if serving.model != *configured {
        listener.found(Finding::OtherModel { serving: serving.model, configured: configured.clone() }).await;
    }
    if let Some(building) = reindex::under_way(app).await? {
        listener.found(Finding::BuildUnfinished(building)).await;
    }
    for generation in left_behind(app).await? {
        listener.found(Finding::RetiredLeft(generation)).await;
    }
    Ok(())
}

/// Retired generations whose collections are there still, though nobody searches them any more.
pub(super) async fn left_behind(app: &App) -> Result<Vec<IndexGeneration>, Fault> {
    let mut left = Vec::new();
    for generation in app.store.read().await?.generations().all().await? {
        if let GenerationState::Retired { since } = generation.state
            && app.clock.now() - since >= GRACE
            && app.collections.exists(&generation.collection).await?
        {
            left.push(generation);
        }
    }
    Ok(left)
}

/// Ingested documents have the chunks that they should.
pub(super) async fn records_of_chunks(
    app: &App,
    progress: &dyn Progress,
    listener: Found<'_>,
) -> Result<(), Fault> {
    let sizes = app.store.read().await?.inventory().counts().await?;
    let serving = app.serving().await?;
    progress.begin("comparing documents with chunks", Some(sizes.documents));
    let mut after = None;
    loop {
        let page = app.store.read().await?.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let recorded: Vec<(DocumentId, u64)> = page.iter().filter_map(recorded_chunks).collect();
        let ids: Vec<DocumentId> = recorded.iter().map(|(id, _)| *id).collect();
        let counts = serving.index.counts(&ids).await?;
        for (id, chunks) in recorded {
            if counts.get(&id).copied().unwrap_or(0) != chunks
                && let Some((recorded, there)) = wrong_chunks(app, id).await?
            {
                listener.found(Finding::WrongChunks { document: id, recorded, there }).await;
            }
        }
        progress.advance(page.len() as u64);
    }
    progress.end();
    Ok(())
}

/// The chunks that an ingested document should have.
fn recorded_chunks(document: &Document) -> Option<(DocumentId, u64)> {
    let chunks = document.coverage.as_ref().map_or(0, |coverage| u64::from(coverage.chunks));
    matches!(document.state, DocumentState::Ingested(_)).then_some((document.id, chunks))
}

/// How many chunks an ingested document should have, and how many it has, where they differ. The record is
/// read before and after: work on the document in between is no finding.
pub(super) async fn wrong_chunks(app: &App, id: DocumentId) -> Result<Option<(u64, u64)>, Fault> {
    let before = app.store.read().await?.documents().get(id).await?;
    let there = app.serving().await?.index.count(id).await?;
    let after = app.store.read().await?.documents().get(id).await?;
    let recorded = after.as_ref().filter(|_| before == after).and_then(recorded_chunks);
    Ok(recorded.filter(|(_, recorded)| *recorded != there).map(|(_, recorded)| (recorded, there)))
}

/// The vector store holds chunks of ingested documents, and of those being worked on.
pub(super) async fn chunks(app: &App, progress: &dyn Progress, listener: Found<'_>) -> Result<(), Fault> {
    let serving = app.serving().await?;
    progress.begin("comparing chunks with documents", None);
    let mut told = HashSet::new();
    let mut after: Option<String> = None;
    loop {
        let page = serving.index.documents(after.as_deref(), INDEX_PAGE).await?;
        let statuses = app.store.read().await?.inventory().statuses(&page.documents).await?;
        for id in &page.documents {
            if may_have_chunks(statuses.get(id).copied()) || told.contains(id) {
                continue;
            }
            if let Some(chunks) = orphan_chunks(app, *id).await? {
                told.insert(*id);
                listener.found(Finding::OrphanChunks { document: *id, chunks }).await;
            }
        }
        progress.advance(page.documents.len() as u64);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    progress.end();
    Ok(())
}

/// A pending document's chunks are being written, and a deleted one's being removed; that nobody does so is a
/// finding of its own.
fn may_have_chunks(standing: Option<DocumentStatus>) -> bool {
    match standing {
        Some(DocumentStatus::Ingested | DocumentStatus::Pending | DocumentStatus::Deleted) => true,
        Some(DocumentStatus::Failed) | None => false,
    }
}

/// How many chunks a document has that should have none.
pub(super) async fn orphan_chunks(app: &App, id: DocumentId) -> Result<Option<u64>, Fault> {
    let chunks = app.serving().await?.index.count(id).await?;
    let standing = app.store.read().await?.inventory().statuses(&[id]).await?.get(&id).copied();
    Ok((chunks > 0 && !may_have_chunks(standing)).then_some(chunks))
}

/// The files that records name are there, whole as far as their size tells.
pub(super) async fn records_of_files(
    app: &App,
    progress: &dyn Progress,
    listener: Found<'_>,
) -> Result<(), Fault> {
    let sizes = app.store.read().await?.inventory().counts().await?;
    progress.begin("comparing documents with files", Some(sizes.documents));
    let mut after = None;
    loop {
        let page = app.store.read().await?.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let read = page.len() as u64;
        let looks = page.into_iter().filter(needs_file).map(|document| wrong_file(app, document));
        let mut found = stream::iter(looks).buffered(LOOKS);
        while let Some(finding) = found.try_next().await? {
            if let Some(finding) = finding {
                listener.found(finding).await;
            }
        }
        progress.advance(read);
    }
    progress.end();
    Ok(())
}

/// A pending document's file is looked for by its job, and one that failed for want of it says so itself.
fn needs_file(document: &Document) -> bool {
    match &document.state {
        DocumentState::Ingested(_) => true,
        DocumentState::Failed(failed) => failed.failure.code != FailureCode::FileMissing,
        DocumentState::Pending(_) => false,
    }
}

async fn wrong_file(app: &App, document: Document) -> Result<Option<Finding>, Fault> {
    let Some(file) = &document.file else { return Ok(None) };
    let finding = match app.blobs.size(&file.blob).await? {
        Some(bytes) if bytes == file.bytes => return Ok(None),
        Some(there) => Finding::FileSize { document: document.id, recorded: file.bytes, there },
        None => Finding::FileMissing(document.id),
    };
    // It may have been deleted meanwhile.
    let is_there = app.store.read().await?.documents().get(document.id).await?.is_some();
    Ok(is_there.then_some(finding))
}

/// Files belong to documents, but for those of uploads under way.
pub(super) async fn files(app: &App, progress: &dyn Progress, listener: Found<'_>) -> Result<(), Fault> {
    progress.begin("comparing files with documents", None);
    let mut pages = app.blobs.list().try_chunks(PAGE as usize);
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| error.1)?;
        let read = page.len() as u64;
        let before = app.clock.now() - UPLOAD_SPARE;
        let old = page.into_iter().filter(|blob| blob.written_at < before);
        let named: Vec<(StoredBlob, Option<DocumentId>)> =
            old.map(|blob| (blob.clone(), document_of(&blob.key))).collect();
        let ids: Vec<DocumentId> = named.iter().filter_map(|(_, id)| *id).collect();
        let statuses = app.store.read().await?.inventory().statuses(&ids).await?;
        for (StoredBlob { key, bytes, .. }, id) in named {
            match id {
                None => match extraction_of(&key) {
                    // Kept for as long as a document has these bytes; what is being removed takes its own along.
                    Some(sha256) if is_extraction_needed(app, &sha256).await? => {}
                    Some(_) => listener.found(Finding::OrphanFile { key, bytes }).await,
                    None => listener.found(Finding::ForeignFile(key)).await,
                },
                Some(id) if statuses.contains_key(&id) => {}
                // Removed since it was listed.
                Some(_) if app.blobs.size(&key).await?.is_none() => {}
                Some(_) => listener.found(Finding::OrphanFile { key, bytes }).await,
            }
        }
        progress.advance(read);
    }
    progress.end();
    Ok(())
}

/// Whether a document has the file that this was read out of, or one that is being removed may.
pub(super) async fn is_extraction_needed(app: &App, sha256: &[u8; 32]) -> Result<bool, Fault> {
    let mut view = app.store.read().await?;
    Ok(view.documents().has_file(sha256).await? || view.inventory().counts().await?.deletions > 0)
}

/// The digest of the file whose pages are kept under this key.
pub(super) fn extraction_of(key: &BlobKey) -> Option<[u8; 32]> {
    let digits = key.as_str().strip_prefix("extractions/")?;
    let mut sha256 = [0; 32];
    for (n, byte) in sha256.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    (BlobKey::of_extraction(&sha256) == *key).then_some(sha256)
}

/// The document that a file's key names.
pub(crate) fn document_of(key: &BlobKey) -> Option<DocumentId> {
    let id = key.as_str().strip_prefix("documents/")?.strip_suffix(".pdf")?.parse().ok()?;
    (BlobKey::of_document(id) == *key).then_some(id)
}
