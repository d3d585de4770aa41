//! Reading the text of one page.

use super::get;
use crate::{App, error::Result, extractions, ingest::IngestError};
use docent_domain::{
    access::{Grant, ReadDocuments},
    document::Document,
    id::DocumentId,
};
use docent_ports::error::{Component, Fault, FaultKind};

/// A page of a document.
#[derive(Debug)]
pub struct Page {
    /// The document.
    pub document: Document,
    /// How many pages it has; 0 when it has not been ingested.
    pub pages: u32,
    /// The page's text; none when there is no such page.
    pub text: Option<String>,
}

/// The text of a page, counted from 1, as it was read out of the file.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound), or when the database or the store of files cannot be reached.
pub async fn read(app: &App, grant: Grant<ReadDocuments>, id: DocumentId, number: u32) -> Result<Page> {
    let document = get::get(app, grant, id).await?;
    let is_ingested = document.state.vector_doc_id().is_some();
    let Some(file) = document.file.as_ref().filter(|_| is_ingested) else {
        return Ok(Page { document, pages: 0, text: None });
    };
    let mut extraction = extractions::extraction(app, file).await.map_err(|error| match error {
        IngestError::Fault(fault, _) => fault,
        // It could be read when it was ingested.
        IngestError::Document(..) | IngestError::Moved => {
            Fault::new(Component::Service, FaultKind::Internal, "the file can no longer be read")
        }
    })?;
    let pages = u32::try_from(extraction.pages.len()).unwrap_or(u32::MAX);
    let place = extraction.pages.iter().position(|page| page.number == number);
    let text = place.map(|place| extraction.pages.swap_remove(place).text);
    Ok(Page { document, pages, text })
}
