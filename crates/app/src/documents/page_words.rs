//! Finds the words of a page with their places, so that text on an image of the page can be marked and selected.

use super::file;
use super::page_failures::{PageOutput, PageTask};
use crate::error::{Error, Result};
use crate::{App, extractions, limits};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::document::{Document, StoredFile};
use docent_domain::extraction::RecognitionCoverage;
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
        if has_no_other_words(&document, page) {
            return Ok(recognized.map(of_recognized).unwrap_or_default());
        }
        let words = app.renderer.words(pdf, page).await;
        let mut words = words.map_err(|error| failures.insert(task, None, error, app.now()))?;
        words.extend(recognized.map(of_recognized).unwrap_or_default());
        return Ok(words);
    }
}

fn recognition(document: &Document) -> Option<&RecognitionCoverage> {
    document.coverage.as_ref()?.recognition.as_ref()
}

/// Whether recognised text replaced the page's own.
fn has_no_other_words(document: &Document, page: NonZeroU32) -> bool {
    recognition(document).is_some_and(|found| found.has_page(page.get()))
}

/// The words of a page that were recognised.
async fn recognized(
    app: &App,
    document: &Document,
    file: &StoredFile,
    page: NonZeroU32,
) -> Result<Option<RecognizedPage>, ExtractionError> {
    let page_number = page.get();
    let is_recognized =
        |found: &RecognitionCoverage| found.has_page(page_number) || found.has_pictures_of(page_number);
    if !recognition(document).is_some_and(is_recognized) {
        return Ok(None);
    }
    Ok(extractions::extract_page(app, file, page.get()).await?.recognized)
}
