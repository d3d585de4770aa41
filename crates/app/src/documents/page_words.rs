//! Finds the words of a page with their places, so that text on an image of the page can be marked and selected.

use super::file;
use crate::error::{Error, Result};
use crate::{App, extractions, limits};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::id::DocumentId;
use docent_domain::page_words::{PageLines, of_recognized};
use docent_domain::scope::Scope;
use docent_ports::page_renderer::RenderError;
use docent_ports::text_extractor::ExtractionError;
use std::num::NonZeroU32;

/// The words of a page of an uploaded PDF, by line. Counts as a page image in the limit of the account.
///
/// # Errors
/// As [`render`](super::page_image::render).
pub async fn read(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    id: DocumentId,
    page: NonZeroU32,
) -> Result<PageLines> {
    let (document, file, pdf) = file::of_document(app, scope, id).await?;
    if !file.file_type.has_page_images() {
        return Err(Error::NoPageImages(file.file_type));
    }
    limits::count_page_image(app, &grant).await?;
    let recognition = document.coverage.as_ref().and_then(|coverage| coverage.recognition.as_ref());
    if recognition.is_some_and(|found| found.has_page(page.get())) {
        match extractions::extract_page(app, &file, page.get()).await {
            Ok(text) => {
                if let Some(recognized) = text.recognized {
                    return Ok(of_recognized(recognized));
                }
            }
            Err(ExtractionError::Fault(fault)) => return Err(fault.into()),
            Err(ExtractionError::Document(failure)) => return Err(Error::PageNotRenderable(failure)),
        }
    }
    app.renderer.words(pdf, page).await.map_err(|error| match error {
        RenderError::Fault(fault) => fault.into(),
        RenderError::NoSuchPage => Error::PageNotFound,
        RenderError::Document(failure) => Error::PageNotRenderable(failure),
    })
}
