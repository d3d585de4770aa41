//! Reads one document, and what its ingestion waits for.

use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::{Document, DocumentState};
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

/// The document with this ID, and the unavailable component that its ingestion waits for, if any.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn with_wait(
    app: &App,
    _grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<(Document, Option<Wait>)> {
    let mut view = app.store.read_latest().await?;
    let document = readable(view.documents().get(id).await?, scope)?;
    let wait = match document.state {
        DocumentState::Pending(_) => view.jobs().of_document(id).await?.into_iter().find_map(|job| job.wait),
        DocumentState::Ingested(_) | DocumentState::Failed(_) => None,
    };
    Ok((document, wait))
}
