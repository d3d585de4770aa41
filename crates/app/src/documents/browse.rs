//! Documents as staff browse them: lists, chunks and files.

use super::file;
use crate::App;
use crate::error::{Error, Result};
use docent_domain::access::{Grant, ViewDocuments};
use docent_domain::document::{Document, StoredFile};
use docent_domain::id::DocumentId;
use docent_domain::listing::{DocumentQuery, Page, PageRequest};
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::StoredChunk;
use docent_domain::scope::Scope;
use docent_domain::text::Title;
use docent_ports::blob_store::ByteStream;
use std::collections::HashMap;

/// A page of documents.
///
/// # Errors
/// When the database cannot be reached.
pub async fn page(
    app: &App,
    _grant: Grant<ViewDocuments>,
    query: &DocumentQuery,
    page: PageRequest,
) -> Result<Page<Document>> {
    Ok(app.store.read().await?.documents().page(query, page).await?)
}

/// The titles of the documents that exist among these, for lists of their records.
///
/// # Errors
/// When the database cannot be reached.
pub async fn titles(
    app: &App,
    _grant: Grant<ViewDocuments>,
    ids: &[DocumentId],
) -> Result<HashMap<DocumentId, Title>> {
    Ok(app.store.read().await?.documents().titles(ids).await?)
}

/// A document and a page of its chunks, in order. A document that is not ingested has no chunks to show.
///
/// # Errors
/// [`Error::NotFound`], or when a store cannot be reached.
pub async fn chunks(
    app: &App,
    _grant: Grant<ViewDocuments>,
    id: DocumentId,
    page: PageRequest,
) -> Result<(Document, Page<StoredChunk>)> {
    let document =
        app.store.read().await?.documents().get(id).await?.ok_or(Error::NotFound(RecordKind::Document))?;
    if document.state.vector_doc_id().is_none() {
        return Ok((document, Page::default()));
    }
    let index = app.active_index().await?.index;
    let ordinal = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let ordinals = ordinal(page.offset)..ordinal(page.offset.saturating_add(page.limit));
    let records = index.chunk_range(document.version_id, ordinals).await?;
    let total = index.count(document.version_id).await?;
    Ok((document, Page { records, total }))
}

/// The uploaded file of a document, as a stream.
///
/// # Errors
/// [`Error::NotFound`] when the document or its file does not exist, or when a store cannot be reached.
pub async fn file(
    app: &App,
    grant: Grant<ViewDocuments>,
    id: DocumentId,
) -> Result<(StoredFile, ByteStream)> {
    file::of_document(app, &Scope::everything(grant), id).await.map(|(_, file, bytes)| (file, bytes))
}
