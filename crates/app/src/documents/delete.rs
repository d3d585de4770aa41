//! Deletes a document.
//!
//! A document disappears from lists, reads and searches as soon as it is marked as deleted. A job then removes its
//! chunks, file, record and jobs, and is retried until everything is removed.

use super::versions;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, DeleteDocuments, Grant};
use docent_domain::audit::AuditAction;
use docent_domain::document::Document;
use docent_domain::fault::Fault;
use docent_domain::id::{DocumentId, GenerationId, JobId};
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::permission::RecordKind;

/// Deletes a document and cancels its ingestion if one is in progress.
///
/// # Errors
/// [`Error::NotFound`], also for a document that the actor cannot read; [`Error::Forbidden`] without the right to delete
/// it; or when the database cannot be reached.
pub async fn delete(app: &App, actor: &Actor, id: DocumentId) -> Result<()> {
    let mut work = app.store.begin_freeing().await?;
    let document = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let grant = scope::authorize::<DeleteDocuments>(actor, &scope, &document)?;
    let now = app.now();
    work.documents().mark_deleted(id, now).await?;
    work.jobs().insert(&removal_job(app, grant, &document)).await?;
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::document(&document));
    app.audit(&mut *work, &initiator, AuditAction::Delete, target, Changes::default()).await?;
    work.commit().await?;
    app.process.running.cancel(id);
    app.process.new_jobs.notify_one();
    Ok(())
}

/// The job that removes the document's data, on behalf of the account that deleted it.
fn removal_job(app: &App, grant: Grant<DeleteDocuments>, document: &Document) -> Job {
    Job::new(app.new_id(JobId::generate), JobKind::Delete, document.id, Some(grant.user()), app.now())
}

/// The result of an attempt to remove a deleted document's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// The file and the chunks in this index generation are removed; the record is removed with the job.
    Done(GenerationId),
    /// A runner still has a lease on another job of the document, and may be writing chunks.
    Blocked,
    /// There is nothing to remove.
    NotNeeded,
}

/// Removes a deleted document's chunks and file.
///
/// # Errors
/// When a store fails. Can be retried.
pub(crate) async fn remove(app: &App, job: &Job) -> Result<Removal, Fault> {
    let mut view = app.store.read().await?;
    let Some(deletion) = view.documents().deletion(job.document).await? else {
        return Ok(Removal::NotNeeded);
    };
    let now = app.now();
    let is_leased = |other: &Job| {
        other.id != job.id && matches!(other.state, JobState::Leased { until, .. } if until > now)
    };
    if view.jobs().of_document(job.document).await?.iter().any(is_leased) {
        return Ok(Removal::Blocked);
    }
    drop(view);
    let active = app.active_index().await?;
    for version in &deletion.versions {
        versions::remove(app, &active, version).await?;
    }
    Ok(Removal::Done(active.generation.id))
}
