//! Repairs of findings.
//!
//! Each repair checks its finding again, in the same transaction or immediately before, because the service may be
//! running. IDs are never reused, so data without a record never gets one.

use super::Finding;
use super::consistency::{
    self, extraction_of, is_extraction_needed, orphan_chunks, version_of, wrong_chunks,
};
use crate::jobs::queue;
use crate::webhooks::events;
use crate::{App, Error, generations};
use docent_domain::document::{BlobKey, Document, Failure, FailureCode};
use docent_domain::fault::Fault;
use docent_domain::id::{DocumentId, JobId, UserId, VersionId};
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::retrieval::SearchedVersion;
use docent_domain::scope::Scope;

/// The result of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The finding was repaired, by this action.
    Done(&'static str),
    /// The finding no longer applies: another process has changed the data.
    Resolved,
    /// This program cannot repair the finding.
    NotSupported,
}

/// Repairs a finding.
///
/// # Errors
/// When a store fails. Can be retried.
pub async fn repair(app: &App, finding: &Finding) -> Result<Repair, Error> {
    match finding {
        Finding::NotQueued(id) => queue_ingestion(app, *id).await,
        Finding::NotRemoved(id) => queue_removal(app, *id).await,
        Finding::WrongChunks { document, .. } => ingest_again(app, *document).await,
        Finding::OrphanChunks { version, .. } => remove_chunks(app, *version).await,
        Finding::OrphanFile { key, .. } => Ok(remove_file(app, key).await?),
        Finding::RetiredIndex(_) => remove_collections(app).await,
        Finding::ComponentDown(..)
        | Finding::Schema(_)
        | Finding::DimensionMismatch { .. }
        | Finding::ModelMismatch { .. }
        | Finding::UnfinishedBuild(_)
        | Finding::ExpiredLease { .. }
        | Finding::MostlyUnknown { .. }
        | Finding::ForeignFile(_)
        | Finding::FileMissing(_)
        | Finding::FileSize { .. } => Ok(Repair::NotSupported),
    }
}

fn job(app: &App, kind: JobKind, document: DocumentId, owner: Option<UserId>) -> Job {
    Job::new(app.new_id(JobId::generate), kind, document, owner, app.now())
}

fn is_open(jobs: &[Job], kind: JobKind) -> bool {
    jobs.iter().any(|job| job.kind == kind && job.state != JobState::Done)
}

async fn queue_ingestion(app: &App, id: DocumentId) -> Result<Repair, Error> {
    let mut work = app.store.begin().await?;
    let document = work.documents().get(id).await?;
    let jobs = work.jobs().of_document(id).await?;
    let Some(document) = document.filter(|document| document.upcoming().is_some()) else {
        return Ok(Repair::Resolved);
    };
    if is_open(&jobs, JobKind::Ingest) {
        return Ok(Repair::Resolved);
    }
    work.jobs().insert(&job(app, JobKind::Ingest, id, document.owner)).await?;
    work.commit().await?;
    app.process.new_jobs.notify_one();
    Ok(Repair::Done("the job is queued"))
}

async fn queue_removal(app: &App, id: DocumentId) -> Result<Repair, Error> {
    let mut work = app.store.begin().await?;
    let is_deleted = work.documents().deletion(id).await?.is_some();
    if !is_deleted || is_open(&work.jobs().of_document(id).await?, JobKind::Delete) {
        return Ok(Repair::Resolved);
    }
    work.jobs().insert(&job(app, JobKind::Delete, id, None)).await?;
    work.commit().await?;
    app.process.new_jobs.notify_one();
    Ok(Repair::Done("the job is queued"))
}

async fn ingest_again(app: &App, id: DocumentId) -> Result<Repair, Error> {
    let Some(document) = app.store.read().await?.documents().get(id).await? else {
        return Ok(Repair::Resolved);
    };
    if wrong_chunks(app, id).await?.is_none() {
        return Ok(Repair::Resolved);
    }
    let has_file = match &document.file {
        Some(file) => app.blobs.size(&file.blob).await?.is_some(),
        None => false,
    };
    let (owner, now) = (document.owner, app.now());
    let mut work = app.store.begin().await?;
    let is_queued = has_file && queue::restart(app, &mut *work, id).await?;
    if work.documents().get(id).await?.as_ref() != Some(&document) {
        return Ok(Repair::Resolved);
    }
    let lost: Document = document.requeued(now)?;
    if has_file {
        work.documents().update(&lost).await?;
        if !is_queued {
            queue::add(app, &mut *work, id, owner, None).await?;
        }
        work.commit().await?;
        app.process.new_jobs.notify_one();
        return Ok(Repair::Done("the document is queued for ingestion"));
    }
    let failed = lost.failed(Failure::of(FailureCode::FileMissing), None, now)?;
    work.documents().update(&failed).await?;
    events::enqueue_deliveries(app, &mut *work, &failed).await?;
    work.commit().await?;
    remove_chunks(app, failed.version_id).await?;
    Ok(Repair::Done("the document is marked as failed because its file is missing"))
}

async fn remove_chunks(app: &App, id: VersionId) -> Result<Repair, Error> {
    if orphan_chunks(app, id).await?.is_none() {
        return Ok(Repair::Resolved);
    }
    app.active_index().await?.index.remove(id).await?;
    // If a failed document was retried and ingested concurrently, this has removed its new chunks.
    match ingest_again_if_ingested(app, id).await? {
        true => Ok(Repair::Done("the document was retried concurrently and is queued for ingestion")),
        false => Ok(Repair::Done("the chunks are deleted")),
    }
}

/// Queues the ingestion of a version again if it is searched and its chunks were removed; returns whether they were.
///
/// # Errors
/// When a store fails. Can be retried.
pub(crate) async fn ingest_again_if_ingested(app: &App, id: VersionId) -> Result<bool, Error> {
    let searched = app.store.read_latest().await?.documents().searchable(&[id], Scope::SERVICE).await?;
    let Some(SearchedVersion { document, .. }) = searched.get(&id) else { return Ok(false) };
    match wrong_chunks(app, *document).await? {
        Some(_) => Ok(matches!(Box::pin(ingest_again(app, *document)).await?, Repair::Done(_))),
        None => Ok(false),
    }
}

async fn remove_collections(app: &App) -> Result<Repair, Error> {
    generations::remove_retired(app).await?;
    match consistency::retired_indexes(app).await?.is_empty() {
        true => Ok(Repair::Done("the vector collection is deleted")),
        false => Ok(Repair::NotSupported),
    }
}

async fn remove_file(app: &App, key: &BlobKey) -> Result<Repair, Fault> {
    let is_needed = match (version_of(key), extraction_of(key)) {
        (Some(id), _) => app.store.read().await?.inventory().statuses(&[id]).await?.contains_key(&id),
        (None, Some(sha256)) => is_extraction_needed(app, &sha256).await?,
        (None, None) => return Ok(Repair::NotSupported),
    };
    if is_needed || !app.blobs.delete(key).await? {
        return Ok(Repair::Resolved);
    }
    Ok(Repair::Done("the file is deleted"))
}
