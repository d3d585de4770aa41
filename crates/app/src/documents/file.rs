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

/// The document with its file.
pub(super) async fn described(app: &App, scope: &Scope, id: DocumentId) -> Result<(Document, StoredFile)> {
    let document = get::readable(app.store.read_latest().await?.documents().get(id).await?, scope)?;
    let file = document.file.clone().ok_or(Error::NotFound(RecordKind::Document))?;
    Ok((document, file))
}

/// The same, with the file as a stream.
pub(super) async fn of_document(
    app: &App,
    scope: &Scope,
    id: DocumentId,
) -> Result<(Document, StoredFile, ByteStream)> {
    let mut last_version = None;
    loop {
        let (document, file) = described(app, scope, id).await?;
        match app.blobs.open(&file.blob).await? {
            Some(bytes) => return Ok((document, file, bytes)),
            None if last_version == Some(document.version_id) => {
                return Err(Error::NotFound(RecordKind::Document));
            }
            // The file may just have been replaced.
            None => last_version = Some(document.version_id),
        }
    }
}
