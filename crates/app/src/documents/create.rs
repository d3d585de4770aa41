//! Creates a document without a file.

use crate::App;
use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::Result;
use docent_domain::access::{AddDocuments, Grant};
use docent_domain::audit::AuditAction;
use docent_domain::document::Document;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::text::Title;

/// Creates a document in a collection, which [`destination`](crate::collections::destination) returned. It stays `pending` because there is nothing to ingest.
///
/// # Errors
/// When the database cannot be reached.
pub async fn create(
    app: &App,
    grant: Grant<AddDocuments>,
    collection: CollectionId,
    title: Title,
) -> Result<Document> {
    let id = app.new_id(DocumentId::generate);
    let document = Document::new(id, grant.user(), collection, title, None, app.now());
    let mut work = app.store.begin().await?;
    work.documents().insert(&document).await?;
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::document(&document));
    app.audit(&mut *work, &initiator, AuditAction::Add, target, Changes::default()).await?;
    work.commit().await?;
    Ok(document)
}
