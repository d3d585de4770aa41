//! Reads the text of one page.

use super::get;
use crate::error::Result;
use crate::{App, extractions};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::Document;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::DocumentId;
use docent_ports::text_extractor::ExtractionError;

/// The text of a page of a document.
#[derive(Debug)]
pub struct PageText {
    /// The document.
    pub document: Document,
    /// Its number of pages; 0 when it is not ingested.
    pub pages: u32,
    /// The page's text; none when the page does not exist.
    pub text: Option<String>,
}

/// The text of a page, counted from 1, as extracted from the file.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound), or when the database or the blob store cannot be reached.
pub async fn read(app: &App, grant: Grant<ReadDocuments>, id: DocumentId, number: u32) -> Result<PageText> {
    let document = get::get(app, grant, id).await?;
    let is_ingested = document.state.vector_doc_id().is_some();
    let Some(file) = document.file.as_ref().filter(|_| is_ingested) else {
        return Ok(PageText { document, pages: 0, text: None });
    };
    let mut extraction = extractions::extract(app, file).await.map_err(|error| match error {
        ExtractionError::Fault(fault) => fault,
        // It was readable when it was ingested.
        ExtractionError::Document(_) => {
            Fault::new(Component::Service, FaultKind::Internal, "the file can no longer be read")
        }
    })?;
    let pages = u32::try_from(extraction.pages.len()).unwrap_or(u32::MAX);
    let index = extraction.pages.iter().position(|page| page.number == number);
    let text = index.map(|index| extraction.pages.swap_remove(index).text);
    Ok(PageText { document, pages, text })
}
