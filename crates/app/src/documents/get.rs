//! Reads one document, and what its ingestion waits for.

use crate::App;
use crate::error::{Error, Result};
use crate::jobs::IngestionProgress;
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::id::DocumentId;
use docent_domain::job::Wait;
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;

/// The document with this ID.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ReadDocuments>, scope: &Scope, id: DocumentId) -> Result<Document> {
    readable(app.store.read_latest().await?.documents().get(id).await?, scope)
}

/// The document, if there is one and it is in the scope.
pub(super) fn readable(document: Option<Document>, scope: &Scope) -> Result<Document> {
    let document = document.filter(|document| scope.contains(&document.collections));
    document.ok_or(Error::NotFound(RecordKind::Document))
}

/// What is known of a document and its ingestion.
#[derive(Debug)]
pub struct DocumentReport {
    /// The document.
    pub document: Document,
    /// The unavailable component that its ingestion waits for, if any.
    pub wait: Option<Wait>,
    /// How far its ingestion is, if this process runs it.
    pub progress: Option<IngestionProgress>,
    /// An older document with an equal file, if there is one in the scope.
    pub duplicate_of: Option<DocumentId>,
}

/// The document with this ID, with what is known of its ingestion.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn report(
    app: &App,
    _grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<DocumentReport> {
    let mut view = app.store.read_latest().await?;
    let document = readable(view.documents().get(id).await?, scope)?;
    let wait = match document.upcoming() {
        Some(_) => view.jobs().of_document(id).await?.into_iter().find_map(|job| job.wait),
        None => None,
    };
    let oldest = match &document.file {
        Some(file) => view.documents().with_equal_file(&file.sha256, scope).await?,
        None => None,
    };
    let duplicate_of = oldest.map(|oldest| oldest.id).filter(|oldest| *oldest != id);
    let progress = app.process.running.progress(id);
    Ok(DocumentReport { document, wait, progress, duplicate_of })
}
