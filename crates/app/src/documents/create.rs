//! Creating a document without a file.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::Result,
};
use docent_domain::{
    access::{AddDocuments, Grant},
    audit::AuditAction,
    document::Document,
    id::DocumentId,
    text::Title,
};

/// Creates a document; it stays `pending`, since there is nothing to ingest.
///
/// # Errors
/// When the database cannot be reached.
pub async fn create(app: &App, grant: Grant<AddDocuments>, title: Title) -> Result<Document> {
    let id = app.new_id(DocumentId::generate);
    let document = Document::new(id, grant.user(), title, None, app.clock.now());
    let mut work = app.store.begin().await?;
    work.documents().insert(&document).await?;
    let subject = Subject::document(&document);
    app.auditor()
        .write(&mut *work, &By::holder(&grant), AuditAction::Add, subject, Changes::default())
        .await?;
    work.commit().await?;
    Ok(document)
}
