//! Replaces the file of a document.
//!
//! The version that is searched stays until the new one is ingested. One transaction then switches from one to the other.

use super::external::NewExternalFile;
use super::versions;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::jobs::queue;
use crate::{App, limits, scope};
use docent_domain::access::{Actor, ChangeDocuments, Grant};
use docent_domain::audit::AuditAction;
use docent_domain::document::{Document, StoredFile};
use docent_domain::external_file::ExternalId;
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::permission::RecordKind;
use docent_domain::trace::TraceParent;

/// The version that an upload makes. [`begin`] authorizes it.
#[derive(Clone, Debug)]
pub struct NewVersion {
    actor: Actor,
    pub(super) grant: Grant<ChangeDocuments>,
    document: DocumentId,
    external: Option<NewExternalFile>,
}

impl NewVersion {
    /// Sets the entity that the file is for, with the ID that the document has already.
    pub(super) fn with_external(self, file: NewExternalFile) -> Self {
        Self { external: Some(file), ..self }
    }
}

/// Authorizes an upload that replaces the file of a document.
///
/// # Errors
/// [`Error::NotFound`], also for a document that the actor cannot read; [`Error::Forbidden`] without the right to change
/// it; or when the database cannot be reached.
pub async fn begin(app: &App, actor: &Actor, id: DocumentId) -> Result<NewVersion> {
    let scope = scope::load(app, actor).await?;
    let document = app.store.read_latest().await?.documents().get(id).await?;
    let document = document.ok_or(Error::NotFound(RecordKind::Document))?;
    let grant = scope::authorize::<ChangeDocuments>(actor, &scope, &document)?;
    Ok(NewVersion { actor: actor.clone(), grant, document: id, external: None })
}

/// Records the new file of a document and queues its ingestion, on behalf of the actor.
pub(super) async fn record(
    app: &App,
    target: &NewVersion,
    version: VersionId,
    file: StoredFile,
    trace: Option<TraceParent>,
) -> Result<Document> {
    let NewVersion { actor, document: id, external, .. } = target;
    let id = *id;
    let now = app.now();
    let mut work = app.store.begin().await?;
    let is_queued = queue::restart(app, &mut *work, id).await?;
    let uploader = work.users().get(actor.user()).await?;
    let uploader = uploader.filter(|user| user.is_active).ok_or(Error::Unauthenticated)?;
    let document = work.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    // The right may have been lost during a long upload.
    let scope = scope::in_work(&mut *work, actor).await?;
    let grant = scope::authorize::<ChangeDocuments>(actor, &scope, &document)?;
    // Files count for the owner of the document.
    let owner = match document.owner {
        Some(owner) if owner != uploader.id => work.users().get(owner).await?,
        Some(_) | None => Some(uploader),
    };
    if let Some(owner) = owner {
        limits::check_stored(app, &mut *work, &owner, file.bytes).await?;
    }
    let name = |document: &Document| document.file.as_ref().map(|file| file.name.as_str().to_owned());
    let mut changes = Changes::default().field("file", name(&document), Some(file.name.as_str().to_owned()));
    if let Some(external) = external {
        let before = work.documents().external_file(id).await?.and_then(|file| file.entity);
        let entity = |id: Option<ExternalId>| id.map(|id| id.to_string());
        changes = changes.field("entity", entity(before), entity(external.entity.clone()));
        work.documents().set_external_file(&external.of_document(id)).await?;
    }
    let (document, superseded) = document.with_file(version, file, now);
    work.documents().update(&document).await?;
    if !is_queued {
        queue::add(app, &mut *work, id, Some(grant.user()), trace).await?;
    }
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::document(&document));
    app.audit(&mut *work, &initiator, AuditAction::Change, target, changes).await?;
    // An ingestion of a version that was replaced is of no use. One of this version can begin as soon as the change is committed.
    let earlier = app.process.running.of_document(id);
    work.commit().await?;
    earlier.cancel();
    versions::remove_superseded(app, &superseded).await;
    Ok(document)
}
