//! Checks that records, jobs, chunks and files are consistent.

use super::{CheckListener, Finding};
use crate::App;
use crate::generations::GRACE;
use crate::maintenance::progress::Progress;
use crate::maintenance::reindex;
use chrono::TimeDelta;
use docent_domain::document::{BlobKey, Document, DocumentState, DocumentStatus, FailureCode};
use docent_domain::fault::{Component, Fault};
use docent_domain::generation::{GenerationState, IndexGeneration};
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::job::{JobKind, JobState};
use docent_ports::blob_store::StoredBlob;
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::BTreeSet;

/// Records that are read at a time.
const PAGE: u64 = 256;
/// Documents that the vector index lists at a time.
const INDEX_PAGE: usize = 1000;
/// Files that are checked concurrently.
const FILE_CHECKS: usize = 8;
/// A younger file without a record may belong to an upload in progress.
const UPLOAD_GRACE: TimeDelta = TimeDelta::hours(1);
/// Fewer orphans are always taken for leftovers.
const FOREIGN_MIN: usize = 20;
/// Runners take jobs with expired leases within seconds.
const LEASE_GRACE: TimeDelta = TimeDelta::minutes(10);

/// Checks that pending documents and deletions have jobs, and that runners take them.
pub(super) async fn jobs(app: &App, listener: &mut dyn CheckListener) -> Result<(), Fault> {
    let mut after = None;
    loop {
        let mut view = app.store.read().await?;
        let page = view.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let is_waiting =
            |document: &&Document| document.upcoming().is_some_and(|upcoming| upcoming.file.is_some());
        let ids: Vec<DocumentId> = page.iter().filter(is_waiting).map(|document| document.id).collect();
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
    let before = app.now() - LEASE_GRACE;
    for job in app.store.read().await?.inventory().jobs_with_expired_lease(before, PAGE).await? {
        if let JobState::Leased { until, .. } = job.state {
            listener.found(Finding::ExpiredLease { job: job.id, document: job.document, since: until }).await;
        }
    }
    Ok(())
}

/// Checks that the active index has the configured model, and that no other index exists.
pub(super) async fn generations(app: &App, listener: &mut dyn CheckListener) -> Result<(), Fault> {
    let (active, configured) = (app.active_generation().await?, &app.settings.embedding_model);
    if active.model != *configured {
        let finding = Finding::ModelMismatch { active: active.model, configured: configured.clone() };
        listener.found(finding).await;
    }
    if let Some(building) = reindex::build_in_progress(app).await? {
        listener.found(Finding::UnfinishedBuild(building)).await;
    }
    for generation in retired_indexes(app).await? {
        listener.found(Finding::RetiredIndex(generation)).await;
    }
    Ok(())
}

/// Retired generations whose vector collections still exist after the grace period.
pub(super) async fn retired_indexes(app: &App) -> Result<Vec<IndexGeneration>, Fault> {
    let mut retired = Vec::new();
    for generation in app.store.read().await?.generations().all().await? {
        if let GenerationState::Retired { since } = generation.state
            && app.now() - since >= GRACE
            && app.collections.exists(&generation.collection).await?
        {
            retired.push(generation);
        }
    }
    Ok(retired)
}

/// Checks that ingested documents have the recorded number of chunks.
pub(super) async fn records_of_chunks(
    app: &App,
    progress: &dyn Progress,
    listener: &mut dyn CheckListener,
) -> Result<(), Fault> {
    let sizes = app.store.read().await?.inventory().counts().await?;
    let active = app.active_index().await?;
    progress.begin("comparing documents with chunks", Some(sizes.documents));
    let mut after = None;
    loop {
        let page = app.store.read().await?.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let versions: Vec<VersionId> = page.iter().map(|document| document.version_id).collect();
        let counts = active.index.counts(&versions).await?;
        for document in &page {
            let actual = counts.get(&document.version_id).copied().unwrap_or(0);
            if recorded_chunks(document).is_some_and(|recorded| recorded != actual)
                && let Some((recorded, actual)) = wrong_chunks(app, document.id).await?
            {
                listener.found(Finding::WrongChunks { document: document.id, recorded, actual }).await;
            }
        }
        progress.advance(page.len() as u64);
    }
    progress.end();
    Ok(())
}

/// The recorded number of chunks of an ingested document.
fn recorded_chunks(document: &Document) -> Option<u64> {
    let chunks = document.coverage.as_ref().map_or(0, |coverage| u64::from(coverage.chunks));
    matches!(document.state, DocumentState::Ingested(_)).then_some(chunks)
}

/// The recorded and the actual number of an ingested document's chunks, if they differ. The record is read before and
/// after counting: a document that changes in between is not a finding.
pub(super) async fn wrong_chunks(app: &App, id: DocumentId) -> Result<Option<(u64, u64)>, Fault> {
    let Some(before) = app.store.read().await?.documents().get(id).await? else { return Ok(None) };
    let actual = app.active_index().await?.index.count(before.version_id).await?;
    let after = app.store.read().await?.documents().get(id).await?;
    let recorded = after.as_ref().filter(|after| before == **after).and_then(recorded_chunks);
    Ok(recorded.filter(|recorded| *recorded != actual).map(|recorded| (recorded, actual)))
}

/// What a check of a store has seen.
#[derive(Default)]
struct Sightings {
    known: u64,
    unknown: u64,
}

impl Sightings {
    fn count(&mut self, is_known: bool) {
        if is_known {
            self.known += 1;
        } else {
            self.unknown += 1;
        }
    }

    /// Whether most of the store is unknown, so that it is not safe to delete anything. A few leftovers in a nearly
    /// empty store are deleted.
    fn are_mostly_unknown(&self, orphans: usize) -> bool {
        orphans >= FOREIGN_MIN && self.unknown > self.known
    }
}

/// Checks that the index contains only chunks of ingested, pending and deleted versions.
pub(super) async fn chunks(
    app: &App,
    progress: &dyn Progress,
    listener: &mut dyn CheckListener,
) -> Result<(), Fault> {
    let active = app.active_index().await?;
    progress.begin("comparing chunks with documents", None);
    let (mut seen, mut suspects) = (Sightings::default(), BTreeSet::new());
    let mut after: Option<String> = None;
    loop {
        let page = active.index.versions(after.as_deref(), INDEX_PAGE).await?;
        let statuses = app.store.read().await?.inventory().statuses(&page.versions).await?;
        for id in &page.versions {
            let status = statuses.get(id).copied();
            seen.count(status.is_some());
            if !may_have_chunks(status) {
                suspects.insert(*id);
            }
        }
        progress.advance(page.versions.len() as u64);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    progress.end();
    if seen.are_mostly_unknown(suspects.len()) {
        let (store, unknown) = (Component::VectorStore, suspects.len() as u64);
        listener.found(Finding::MostlyUnknown { store, unknown }).await;
        return Ok(());
    }
    for version in suspects {
        if let Some(chunks) = orphan_chunks(app, version).await? {
            listener.found(Finding::OrphanChunks { version, chunks }).await;
        }
    }
    Ok(())
}

/// Whether a version in this status can have chunks. Jobs write a pending one's chunks and remove a deleted
/// one's; a missing job is a separate finding.
fn may_have_chunks(status: Option<DocumentStatus>) -> bool {
    match status {
        Some(DocumentStatus::Ingested | DocumentStatus::Pending | DocumentStatus::Deleted) => true,
        Some(DocumentStatus::Failed) | None => false,
    }
}

/// The number of chunks of a version that should have none.
pub(super) async fn orphan_chunks(app: &App, id: VersionId) -> Result<Option<u64>, Fault> {
    let chunks = app.active_index().await?.index.count(id).await?;
    let status = app.store.read().await?.inventory().statuses(&[id]).await?.get(&id).copied();
    Ok((chunks > 0 && !may_have_chunks(status)).then_some(chunks))
}

/// Checks that the files of documents exist with their recorded size.
pub(super) async fn records_of_files(
    app: &App,
    progress: &dyn Progress,
    listener: &mut dyn CheckListener,
) -> Result<(), Fault> {
    let sizes = app.store.read().await?.inventory().counts().await?;
    progress.begin("comparing documents with files", Some(sizes.documents));
    let mut after = None;
    loop {
        let page = app.store.read().await?.inventory().documents(after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        let read = page.len() as u64;
        let checks = page.into_iter().filter(needs_file).map(|document| wrong_file(app, document));
        let mut found = stream::iter(checks).buffered(FILE_CHECKS);
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

/// Whether the document's file is checked. A pending document's job checks it, and a document that failed because of
/// a missing file already reports it.
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
        Some(actual) => Finding::FileSize { document: document.id, recorded: file.bytes, actual },
        None => Finding::FileMissing(document.id),
    };
    // The document may have been deleted in the meantime.
    let exists = app.store.read().await?.documents().get(document.id).await?.is_some();
    Ok(exists.then_some(finding))
}

/// Checks that files belong to documents or to uploads in progress.
pub(super) async fn files(
    app: &App,
    progress: &dyn Progress,
    listener: &mut dyn CheckListener,
) -> Result<(), Fault> {
    progress.begin("comparing files with documents", None);
    let (mut seen, mut orphans) = (Sightings::default(), Vec::new());
    let mut pages = app.blobs.list().try_chunks(PAGE as usize);
    while let Some(page) = pages.next().await {
        let page = page.map_err(|error| error.1)?;
        let read = page.len() as u64;
        let before = app.now() - UPLOAD_GRACE;
        let old = page.into_iter().filter(|blob| blob.written_at < before);
        let with_versions: Vec<(StoredBlob, Option<VersionId>)> =
            old.map(|blob| (blob.clone(), version_of(&blob.key))).collect();
        let ids: Vec<VersionId> = with_versions.iter().filter_map(|(_, id)| *id).collect();
        let statuses = app.store.read().await?.inventory().statuses(&ids).await?;
        for (StoredBlob { key, bytes, .. }, id) in with_versions {
            let is_needed = match (id, extraction_of(&key)) {
                (Some(id), _) => statuses.contains_key(&id),
                // Needed while a document has this file; a document's removal also removes its extraction.
                (None, Some(sha256)) => is_extraction_needed(app, &sha256).await?,
                (None, None) => {
                    listener.found(Finding::ForeignFile(key)).await;
                    continue;
                }
            };
            seen.count(is_needed);
            if !is_needed {
                orphans.push((key, bytes));
            }
        }
        progress.advance(read);
    }
    progress.end();
    if seen.are_mostly_unknown(orphans.len()) {
        let (store, unknown) = (Component::BlobStore, orphans.len() as u64);
        listener.found(Finding::MostlyUnknown { store, unknown }).await;
        return Ok(());
    }
    for (key, bytes) in orphans {
        // It may have been deleted since it was listed.
        if app.blobs.size(&key).await?.is_some() {
            listener.found(Finding::OrphanFile { key, bytes }).await;
        }
    }
    Ok(())
}

/// Whether a document, possibly one being removed, has the file that this extraction was made from.
pub(super) async fn is_extraction_needed(app: &App, sha256: &[u8; 32]) -> Result<bool, Fault> {
    let mut view = app.store.read().await?;
    Ok(view.documents().has_file(sha256).await? || view.inventory().counts().await?.deletions > 0)
}

/// The digest of the extracted file, from the extraction's key.
pub(super) fn extraction_of(key: &BlobKey) -> Option<[u8; 32]> {
    let digits = key.as_str().strip_prefix("extractions/")?;
    let mut sha256 = [0; 32];
    for (n, byte) in sha256.iter_mut().enumerate() {
        *byte = u8::from_str_radix(digits.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    (BlobKey::of_extraction(&sha256) == *key).then_some(sha256)
}

/// The version in a file's key.
pub(crate) fn version_of(key: &BlobKey) -> Option<VersionId> {
    let id = key.as_str().strip_prefix("documents/")?.strip_suffix(".pdf")?.parse().ok()?;
    (BlobKey::of_version(id) == *key).then_some(id)
}
