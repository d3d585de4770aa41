//! Lists documents.

use crate::App;
use crate::error::Result;
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::file_batch::FilePurpose;
use docent_domain::id::DocumentId;
use docent_domain::listing::DocumentFilter;
use std::collections::HashMap;

/// Documents of the filter's scope, newest first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(app: &App, _grant: Grant<ReadDocuments>, filter: &DocumentFilter) -> Result<Vec<Document>> {
    Ok(app.store.read().await?.documents().list(filter).await?)
}

/// The stored purposes of the files of these documents. Files without one have the default.
///
/// # Errors
/// When the database cannot be reached.
pub async fn purposes(
    app: &App,
    _grant: Grant<ReadDocuments>,
    documents: &[Document],
) -> Result<HashMap<DocumentId, FilePurpose>> {
    let ids: Vec<DocumentId> = documents.iter().map(|document| document.id).collect();
    Ok(app.store.read_latest().await?.documents().purposes(&ids).await?)
}
