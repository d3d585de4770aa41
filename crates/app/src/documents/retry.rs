//! Retries a failed ingestion.

use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, scope};
use docent_domain::access::{Actor, ChangeDocuments, Grant};
use docent_domain::audit::AuditAction;
use docent_domain::document::{Document, DocumentState};
use docent_domain::id::{DocumentId, JobId};
use docent_domain::job::{Job, JobKind};
use docent_domain::permission::RecordKind;

/// Sets a failed document to `pending` and queues a job that ingests its stored file.
///
/// # Errors
/// [`Error::NotFound`], also for a document that the actor cannot read; [`Error::Forbidden`] without the right to change
/// it; [`Error::NotFailed`]; or when the database cannot be reached.
pub async fn retry(app: &App, actor: &Actor, id: DocumentId) -> Result<Document> {
    let mut work = app.store.begin().await?;
    let document = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let grant = scope::authorize::<ChangeDocuments>(actor, &scope, &document)?;
    let state = document.state.name();
    if !matches!(document.state, DocumentState::Failed(_)) {
        return Err(Error::NotFailed { state });
    }
    let document = document.retried(app.now())?;
    work.documents().update(&document).await?;
    work.jobs().insert(&ingestion_job(app, grant, &document)).await?;
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::document(&document));
    app.audit(&mut *work, &initiator, AuditAction::Retry, target, Changes::default()).await?;
    work.commit().await?;
    app.process.new_jobs.notify_one();
    Ok(document)
}

/// The job that ingests the document, scheduled with the jobs of the account that retried it.
fn ingestion_job(app: &App, grant: Grant<ChangeDocuments>, document: &Document) -> Job {
    Job::new(app.new_id(JobId::generate), JobKind::Ingest, document.id, Some(grant.user()), app.now())
}
