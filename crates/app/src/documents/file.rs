//! Downloads a document's uploaded file.

use super::get;
use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::{Document, StoredFile};
use docent_domain::id::DocumentId;
use docent_domain::permission::RecordKind;
use docent_domain::scope::Scope;
use docent_ports::blob_store::ByteStream;

/// The file, as a stream.
///
/// # Errors
/// [`Error::NotFound`] when the document or its file does not exist, or when a store cannot be reached.
pub async fn open(
    app: &App,
    _grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
) -> Result<(StoredFile, ByteStream)> {
    of_document(app, scope, id).await.map(|(_, file, bytes)| (file, bytes))
}

/// The document with its file, as a stream.
pub(super) async fn of_document(
    app: &App,
    scope: &Scope,
    id: DocumentId,
) -> Result<(Document, StoredFile, ByteStream)> {
    let document = get::readable(app.store.read().await?.documents().get(id).await?, scope)?;
    let file = document.file.clone().ok_or(Error::NotFound(RecordKind::Document))?;
    let bytes = app.blobs.open(&file.blob).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    Ok((document, file, bytes))
}
