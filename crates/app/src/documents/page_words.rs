//! Finds the words of a page with their places, so that text on an image of the page can be marked and selected.

use super::file;
use super::page_failures::{PageOutput, PageTask};
use crate::error::{Error, Result};
use crate::{App, extractions, limits};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::{Document, StoredFile};
use docent_domain::id::DocumentId;
use docent_domain::page_words::{PageLines, of_recognized};
use docent_domain::recognition::RecognizedPage;
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
    loop {
        let (document, file) = file::described(app, scope, id).await?;
        if !file.file_type.has_page_images() {
            return Err(Error::NoPageImages(file.file_type));
        }
        let task = PageTask { version: document.version_id, page, output: PageOutput::Words };
        let failures = &app.process.page_failures;
        if let Some(failure) = failures.get(task, None, app.now()) {
            return Err(failure);
        }
        limits::check_page_image(app, &grant).await?;
        // Before the turn: the text of a file that is read again waits for other files.
        let recognized = recognized(app, &document, &file, page).await;
        let recognized = recognized.map_err(|error| {
            let error = match error {
                ExtractionError::Document(failure) => RenderError::Document(failure),
                ExtractionError::Fault(fault) => RenderError::Fault(fault),
            };
            failures.insert(task, None, error, app.now())
        })?;
        let _turn = app.process.drawings.enter(&*app.clock, grant.user()).await?;
        let (current, _, pdf) = file::of_document(app, scope, id).await?;
        if current.version_id != document.version_id {
            // It was replaced while the request waited.
            continue;
        }
        // An earlier request for the page may have failed meanwhile.
        if let Some(failure) = failures.get(task, None, app.now()) {
            return Err(failure);
        }
        limits::count_page_image(app, &grant).await?;
        if let Some(recognized) = recognized {
            return Ok(of_recognized(recognized));
        }
        let words = app.renderer.words(pdf, page).await;
        return words.map_err(|error| failures.insert(task, None, error, app.now()));
    }
}

/// The words of a page whose text was recognised.
async fn recognized(
    app: &App,
    document: &Document,
    file: &StoredFile,
    page: NonZeroU32,
) -> Result<Option<RecognizedPage>, ExtractionError> {
    let recognition = document.coverage.as_ref().and_then(|coverage| coverage.recognition.as_ref());
    if !recognition.is_some_and(|found| found.has_page(page.get())) {
        return Ok(None);
    }
    Ok(extractions::extract_page(app, file, page.get()).await?.recognized)
}
