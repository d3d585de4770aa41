//! Mending what was found.
//!
//! Whatever is wrong is looked at once more within the change that mends it, or right before: a service may
//! be running. Ids are never given twice, so what belongs to no record stays so.

use super::{
    Finding,
    survey::{self, document_of, extraction_of, is_extraction_needed, orphan_chunks, wrong_chunks},
};
use crate::{App, Error, generations, webhooks::events};
use docent_domain::{
    document::{BlobKey, Document, DocumentState, Failure, FailureCode},
    id::{DocumentId, JobId, UserId},
    job::{Job, JobKind, JobState},
};
use docent_ports::error::Fault;

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mended {
    /// It is mended; what was done.
    Done(&'static str),
    /// It is no longer so: somebody else was working on it.
    Changed,
    /// This program does not mend it.
    NotOurs,
}

/// Mends a finding.
///
/// # Errors
/// When a store does not work. May be repeated.
pub async fn mend(app: &App, finding: &Finding) -> Result<Mended, Error> {
    match finding {
        Finding::NotQueued(id) => queue(app, *id).await,
        Finding::NotRemoved(id) => queue_removal(app, *id).await,
        Finding::WrongChunks { document, .. } => ingest_again(app, *document).await,
        Finding::OrphanChunks { document, .. } => remove_chunks(app, *document).await,
        Finding::OrphanFile { key, .. } => Ok(remove_file(app, key).await?),
        Finding::RetiredLeft(_) => remove_collections(app).await,
        Finding::PartDown(..)
        | Finding::Schema(_)
        | Finding::Dimensions { .. }
        | Finding::OtherModel { .. }
        | Finding::BuildUnfinished(_)
        | Finding::LeaseOver { .. }
        | Finding::ForeignFile(_)
        | Finding::FileMissing(_)
        | Finding::FileSize { .. } => Ok(Mended::NotOurs),
    }
}

fn job(app: &App, kind: JobKind, document: DocumentId, owner: Option<UserId>) -> Job {
    Job::new(app.new_id(JobId::generate), kind, document, owner, app.clock.now())
}

fn is_open(jobs: &[Job], kind: JobKind) -> bool {
    jobs.iter().any(|job| job.kind == kind && job.state != JobState::Done)
}

async fn queue(app: &App, id: DocumentId) -> Result<Mended, Error> {
    let mut work = app.store.begin().await?;
    let document = work.documents().get(id).await?;
    let jobs = work.jobs().of_document(id).await?;
    let Some(document) = document.filter(|document| matches!(document.state, DocumentState::Pending(_)))
    else {
        return Ok(Mended::Changed);
    };
    if is_open(&jobs, JobKind::Ingest) {
        return Ok(Mended::Changed);
    }
    work.jobs().insert(&job(app, JobKind::Ingest, id, document.owner)).await?;
    work.commit().await?;
    app.work.notify_one();
    Ok(Mended::Done("the job is added"))
}

async fn queue_removal(app: &App, id: DocumentId) -> Result<Mended, Error> {
    let mut work = app.store.begin().await?;
    let is_left = work.documents().deletion(id).await?.is_some();
    if !is_left || is_open(&work.jobs().of_document(id).await?, JobKind::Delete) {
        return Ok(Mended::Changed);
    }
    work.jobs().insert(&job(app, JobKind::Delete, id, None)).await?;
    work.commit().await?;
    app.work.notify_one();
    Ok(Mended::Done("the job is added"))
}

async fn ingest_again(app: &App, id: DocumentId) -> Result<Mended, Error> {
    let Some(document) = app.store.read().await?.documents().get(id).await? else {
        return Ok(Mended::Changed);
    };
    if wrong_chunks(app, id).await?.is_none() {
        return Ok(Mended::Changed);
    }
    let is_file_there = match &document.file {
        Some(file) => app.blobs.size(&file.blob).await?.is_some(),
        None => false,
    };
    let mut work = app.store.begin().await?;
    if work.documents().get(id).await?.as_ref() != Some(&document) {
        return Ok(Mended::Changed);
    }
    let (owner, now) = (document.owner, app.clock.now());
    let lost: Document = document.requeued(now)?;
    if is_file_there {
        work.documents().update(&lost).await?;
        work.jobs().insert(&job(app, JobKind::Ingest, id, owner)).await?;
        work.commit().await?;
        app.work.notify_one();
        return Ok(Mended::Done("it is queued to be ingested again"));
    }
    let failed = lost.failed(Failure::of(FailureCode::FileMissing), None, now)?;
    work.documents().update(&failed).await?;
    events::take_down(app, &mut *work, &failed).await?;
    work.commit().await?;
    remove_chunks(app, id).await?;
    Ok(Mended::Done("its file is gone: it is failed"))
}

async fn remove_chunks(app: &App, id: DocumentId) -> Result<Mended, Error> {
    if orphan_chunks(app, id).await?.is_none() {
        return Ok(Mended::Changed);
    }
    app.serving().await?.index.remove(id).await?;
    // A failed document may have been retried and ingested meanwhile, and lost its new chunks to this.
    match ingest_again_if_ingested(app, id).await? {
        true => Ok(Mended::Done("it was retried meanwhile and is queued to be ingested again")),
        false => Ok(Mended::Done("the chunks are removed")),
    }
}

async fn ingest_again_if_ingested(app: &App, id: DocumentId) -> Result<bool, Error> {
    match wrong_chunks(app, id).await? {
        Some(_) => Ok(matches!(Box::pin(ingest_again(app, id)).await?, Mended::Done(_))),
        None => Ok(false),
    }
}

async fn remove_collections(app: &App) -> Result<Mended, Error> {
    generations::remove_retired(app).await?;
    match survey::left_behind(app).await?.is_empty() {
        true => Ok(Mended::Done("the collection is removed")),
        false => Ok(Mended::NotOurs),
    }
}

async fn remove_file(app: &App, key: &BlobKey) -> Result<Mended, Fault> {
    let is_needed = match (document_of(key), extraction_of(key)) {
        (Some(id), _) => app.store.read().await?.inventory().statuses(&[id]).await?.contains_key(&id),
        (None, Some(sha256)) => is_extraction_needed(app, &sha256).await?,
        (None, None) => return Ok(Mended::NotOurs),
    };
    if is_needed || !app.blobs.delete(key).await? {
        return Ok(Mended::Changed);
    }
    Ok(Mended::Done("the file is removed"))
}
