//! Reads one document.

use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    access::{Grant, ReadDocuments},
    document::Document,
    id::DocumentId,
    permission::RecordKind,
};

/// The document with this ID.
///
/// # Errors
/// [`Error::NotFound`], or when the database cannot be reached.
pub async fn get(app: &App, _grant: Grant<ReadDocuments>, id: DocumentId) -> Result<Document> {
    app.store.read_latest().await?.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))
}
