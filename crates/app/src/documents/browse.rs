//! Documents as staff manage them: in lists, with their chunks and their files.

use super::file;
use crate::{
    App,
    error::{Error, Result},
};
use docent_domain::{
    access::{Grant, ViewDocuments},
    document::{Document, StoredFile},
    id::DocumentId,
    permission::RecordKind,
    retrieval::StoredChunk,
    text::Title,
};
pub use docent_ports::blob_store::ByteStream;
use docent_ports::{
    documents::DocumentQuery,
    page::{Page, PageRequest},
};
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

/// What those of these documents that are there are called, for lists of what belongs to them.
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

/// A document and a page of its chunks, in their order. One that is not ingested has none that count.
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
    let mut chunks = app.serving().await?.index.chunks(id).await?;
    chunks.sort_by_key(|chunk| chunk.ordinal);
    let total = chunks.len() as u64;
    let (offset, limit) = (index(page.offset), index(page.limit));
    let records = chunks.into_iter().skip(offset).take(limit).collect();
    Ok((document, Page { records, total }))
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The uploaded file of a document, piece by piece.
///
/// # Errors
/// [`Error::NotFound`] when there is no such document, or no file of it, or when a store cannot be reached.
pub async fn file(
    app: &App,
    _grant: Grant<ViewDocuments>,
    id: DocumentId,
) -> Result<(StoredFile, ByteStream)> {
    file::of_document(app, id).await.map(|(_, file, bytes)| (file, bytes))
}
