//! Trying a failed ingestion anew.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use docent_domain::{
    access::{Actor, ChangeDocuments, Grant},
    audit::AuditAction,
    document::{Document, DocumentState},
    id::{DocumentId, JobId},
    job::{Job, JobKind},
    permission::RecordKind,
};

/// Makes a failed document `pending` again, with a job that ingests its stored file.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Forbidden`] for what is neither one's own nor within one's rights,
/// [`Error::NotFailed`] in any other state, or when the database cannot be reached.
pub async fn retry(app: &App, actor: &Actor, id: DocumentId) -> Result<Document> {
    let mut work = app.store.begin().await?;
    let document = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let grant = actor.authorize_for::<ChangeDocuments>(document.owner)?;
    let state = document.state.name();
    if !matches!(document.state, DocumentState::Failed(_)) {
        return Err(Error::NotFailed { state });
    }
    let document = document.retried(app.clock.now())?;
    work.documents().update(&document).await?;
    work.jobs().insert(&ingestion(app, grant, &document)).await?;
    let (by, subject) = (By::holder(&grant), Subject::document(&document));
    app.auditor().write(&mut *work, &by, AuditAction::Retry, subject, Changes::default()).await?;
    work.commit().await?;
    app.work.notify_one();
    Ok(document)
}

/// It takes its turn among the jobs of who asked for it.
fn ingestion(app: &App, grant: Grant<ChangeDocuments>, document: &Document) -> Job {
    Job::new(app.new_id(JobId::generate), JobKind::Ingest, document.id, Some(grant.user()), app.clock.now())
}
