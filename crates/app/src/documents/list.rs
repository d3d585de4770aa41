//! Lists documents.

use crate::App;
use crate::error::Result;
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::listing::DocumentFilter;

/// Documents of the filter's scope, newest first.
///
/// # Errors
/// When the database cannot be reached.
pub async fn list(app: &App, _grant: Grant<ReadDocuments>, filter: &DocumentFilter) -> Result<Vec<Document>> {
    Ok(app.store.read().await?.documents().list(filter).await?)
}
