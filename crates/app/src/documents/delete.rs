//! Deleting a document.
//!
//! It is gone for everybody the moment it is marked: from lists, from reading, from searches. What it
//! leaves, its chunks, its file, its record and its jobs, is removed by a job that is tried again until
//! nothing is left, whichever store is away meanwhile.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
    extractions,
};
use docent_domain::{
    access::{Actor, DeleteDocuments, Grant},
    audit::AuditAction,
    document::Document,
    id::{DocumentId, GenerationId, JobId},
    job::{Job, JobKind, JobState},
    permission::RecordKind,
};
use docent_ports::error::Fault;

/// Deletes a document; an ingestion under way is cancelled.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`] for what is neither one's own nor within one's rights, or
/// when the database cannot be reached.
pub async fn delete(app: &App, actor: &Actor, id: DocumentId) -> Result<()> {
    let mut work = app.store.begin().await?;
    let document = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let grant = actor.authorize_for::<DeleteDocuments>(document.owner)?;
    let now = app.clock.now();
    work.documents().mark_deleted(id, now).await?;
    work.jobs().insert(&removal(app, grant, &document)).await?;
    let (by, subject) = (By::holder(&grant), Subject::document(&document));
    app.auditor().write(&mut *work, &by, AuditAction::Delete, subject, Changes::default()).await?;
    work.commit().await?;
    app.running.cancel(id);
    app.work.notify_one();
    Ok(())
}

/// The deletion is done in the name of who asked for it.
fn removal(app: &App, grant: Grant<DeleteDocuments>, document: &Document) -> Job {
    Job::new(app.new_id(JobId::generate), JobKind::Delete, document.id, Some(grant.user()), app.clock.now())
}

/// What became of one try at removing what a document left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// File, and chunks in this generation of the index, are gone; the record is left to be removed with the job.
    Done(GenerationId),
    /// Another job of the document is still held by a runner, which may be writing chunks.
    Waits,
    /// There was nothing.
    Nothing,
}

/// Removes a deleted document's chunks and file.
///
/// # Errors
/// When a store does not work. May be repeated.
pub(crate) async fn remove(app: &App, job: &Job) -> Result<Removal, Fault> {
    let mut view = app.store.read().await?;
    let Some(deletion) = view.documents().deletion(job.document).await? else {
        return Ok(Removal::Nothing);
    };
    let now = app.clock.now();
    let is_held = |other: &Job| {
        other.id != job.id && matches!(other.state, JobState::Leased { until, .. } if until > now)
    };
    if view.jobs().of_document(job.document).await?.iter().any(is_held) {
        return Ok(Removal::Waits);
    }
    drop(view);
    let serving = app.serving().await?;
    serving.index.remove(job.document).await?;
    if let Some(blob) = &deletion.blob {
        app.blobs.delete(blob).await?;
    }
    if let Some(sha256) = &deletion.sha256 {
        extractions::forget(app, sha256).await?;
    }
    Ok(Removal::Done(serving.generation.id))
}
