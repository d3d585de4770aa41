//! Extraction of the text of uploaded files.

use crate::App;
use docent_domain::document::StoredFile;
use docent_domain::extraction::Extraction;
use docent_domain::fault::Result;
use docent_ports::text_extractor::{ExtractionError, PageText};

/// Extracts the text of an uploaded file, or returns the text that the extractor has cached.
///
/// # Errors
/// If the file is missing or cannot be read, or a component fails.
pub(crate) async fn extract(app: &App, file: &StoredFile) -> Result<Extraction, ExtractionError> {
    let extraction = app.extractor.extract_file(file, &*app.blobs).await?;
    forget_if_deleted(app, file).await;
    Ok(extraction)
}

/// Extracts the text of one page of an uploaded file, counted from 1; see [`extract`].
///
/// # Errors
/// As [`extract`].
pub(crate) async fn extract_page(
    app: &App,
    file: &StoredFile,
    number: u32,
) -> Result<PageText, ExtractionError> {
    let page = app.extractor.extract_page(file, number, &*app.blobs).await?;
    forget_if_deleted(app, file).await;
    Ok(page)
}

/// Replaces the cached text of a file by one to which recognised pages were added; returns whether it
/// is cached.
pub(crate) async fn update_cache(app: &App, file: &StoredFile, extraction: &Extraction) -> bool {
    let is_cached = app.extractor.update(file, extraction).await.unwrap_or_else(|fault| {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "additions to the text of a file cannot be cached");
        false
    });
    forget_if_deleted(app, file).await;
    is_cached
}

/// Removes the text that was cached for a file after its document was deleted by a process that found no cached text yet.
pub(crate) async fn forget_if_deleted(app: &App, file: &StoredFile) {
    if let Err(fault) = forget_unused(app, &file.sha256).await {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "cannot check whether the cached text of a file is still used");
    }
}

/// Removes the cached text of files with this digest unless a document has such a file. Idempotent.
///
/// # Errors
/// If a store fails.
pub(crate) async fn forget_unused(app: &App, sha256: &[u8; 32]) -> Result<()> {
    if !app.store.read_latest().await?.documents().has_file(sha256).await? {
        app.extractor.forget(sha256).await?;
    }
    Ok(())
}
