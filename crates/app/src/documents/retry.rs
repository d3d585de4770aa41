//! Retries a failed ingestion.

use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::jobs::queue;
use crate::{App, scope};
use docent_domain::access::{Actor, ChangeDocuments};
use docent_domain::audit::AuditAction;
use docent_domain::document::Document;
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;

/// Queues a job that ingests the stored file of a failed document, which becomes `pending`, or of a failed replacement.
///
/// # Errors
/// [`Error::NotFound`], also for a document that the actor cannot read; [`Error::Forbidden`] without the right to change
/// it; [`Error::NotFailed`]; or when the database cannot be reached.
pub async fn retry(app: &App, actor: &Actor, id: DocumentId) -> Result<Document> {
    let mut work = app.store.begin().await?;
    let is_queued = queue::restart(app, &mut *work, id).await?;
    let document = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    let scope = scope::in_work(&mut *work, actor).await?;
    let grant = scope::authorize::<ChangeDocuments>(actor, &scope, &document)?;
    let state = document.state.name();
    let document = document.retried(app.now()).map_err(|_| Error::NotFailed { state })?;
    work.documents().update(&document).await?;
    if !is_queued {
        queue::add(app, &mut *work, id, Some(grant.user()), None).await?;
    }
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::document(&document));
    app.audit(&mut *work, &initiator, AuditAction::Retry, target, Changes::default()).await?;
    work.commit().await?;
    app.process.new_jobs.notify_one();
    Ok(document)
}
