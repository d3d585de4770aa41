//! Extracts the text of an uploaded file without adding a document.

use super::upload::Upload;
use crate::error::{Error, Result};
use crate::recognition::{self, Progress, RecognizeError};
use crate::{App, extractions};
use docent_domain::access::{AddDocuments, Grant};
use docent_domain::document::{BlobKey, Document, StoredFile};
use docent_domain::error::ValidationError;
use docent_domain::extraction::{ExtractedPage, Extraction};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::text::Title;
use docent_ports::text_extractor::ExtractionError;
use std::sync::Arc;

/// The text of an uploaded file.
#[derive(Debug)]
pub struct UploadedText {
    /// Name of the file.
    pub name: String,
    /// Its pages.
    pub pages: Vec<ExtractedPage>,
}

/// The blob of a file without a record, which is deleted when this is dropped. A sweep removes what a crash leaves.
struct TemporaryFile {
    app: Arc<App>,
    blob: BlobKey,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let (app, blob) = (Arc::clone(&self.app), self.blob.clone());
        self.app.spawn(async move {
            if let Err(fault) = app.blobs.delete(&blob).await {
                app.note(&fault);
                tracing::warn!(fault = %fault.report(), "the file of a text extraction could not be removed");
            }
        });
    }
}

/// Returns the text of a file, with that on images of pages if text is recognised. Nothing of the file is kept.
///
/// # Errors
/// [`Error::UnsupportedFileType`]; [`Error::Invalid`] with the reason if the file cannot be read; or when a component fails.
pub async fn extract(upload: Upload, grant: &Grant<AddDocuments>) -> Result<UploadedText> {
    let (app, version, file) = upload.store().await?;
    let _file = TemporaryFile { app: Arc::clone(&app), blob: file.blob.clone() };
    let id = DocumentId::from_uuid(version.as_uuid());
    let title = Title::of_file(&file.name);
    let collection = CollectionId::personal(grant.user());
    let document = Document::new(id, grant.user(), collection, title, Some(file.clone()), app.now());
    let extraction = pages(&app, &document, &file).await;
    // What was cached of the file is removed unless a document has an equal one.
    extractions::forget_if_deleted(&app, &file).await;
    Ok(UploadedText { name: file.name.as_str().to_owned(), pages: extraction?.pages })
}

async fn pages(app: &App, document: &Document, file: &StoredFile) -> Result<Extraction> {
    let mut extraction = extractions::extract(app, file).await.map_err(refused)?;
    if !recognition::is_needed(&extraction) {
        return Ok(extraction);
    }
    loop {
        // The client waits, so pictures are not described.
        let recognized = Box::pin(recognition::recognize(app, document, file, &mut extraction, None)).await;
        let progress = recognized.map_err(|error| match error {
            RecognizeError::Document(failure) => invalid(&failure.reason),
            RecognizeError::Fault(fault) => fault.into(),
        })?;
        match progress {
            Progress::Complete => return Ok(extraction),
            Progress::Suspended(pause) => app.sleep(pause.to_std().unwrap_or_default()).await,
        }
    }
}

fn refused(error: ExtractionError) -> Error {
    match error {
        ExtractionError::Document(failure) => invalid(&failure.reason),
        ExtractionError::Fault(fault) => fault.into(),
    }
}

fn invalid(reason: &str) -> Error {
    ValidationError::new("file", reason.to_owned()).into()
}
