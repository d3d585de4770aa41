//! Recognition of text on images of pages (OCR).

use async_trait::async_trait;
use docent_domain::fault::{Fault, Result};
use docent_domain::recognition::{Languages, RecognitionFailure, RecognizedPage};
use std::sync::Arc;
use thiserror::Error;

/// An image of a page to recognise.
#[derive(Clone, Copy, Debug)]
pub struct PageScan<'a> {
    /// The page as a grayscale PNG.
    pub png: &'a [u8],
    /// Resolution of the image in dots per inch.
    pub dpi: u16,
    /// Whether it shows pictures of a page, which have grounds in several colours, and not a page.
    pub is_picture: bool,
    /// Languages of the text.
    pub languages: &'a Languages,
}

/// Recognises text on images of pages.
#[async_trait]
pub trait TextRecognizer: Send + Sync {
    /// Recognises the text of a page, whichever way it is turned, with bounded memory and time. May be retried.
    /// Cancel-safe: dropping the future stops the work.
    ///
    /// A page without text is not an error: it has no lines.
    ///
    /// # Errors
    /// [`RecognitionError`] tells failures of one page from faults of the recognizer.
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError>;

    /// Checks that the recognizer is available and has data for these languages.
    async fn check(&self, languages: &Languages) -> Result<()>;

    /// Name and version of the recognizer, for reports.
    fn name(&self) -> &str;
}

/// Detects the recognizer of the installation, so that a start does not wait for it.
#[async_trait]
pub trait RecognizerDetection: Send + Sync {
    /// Returns the recognizer, after waiting for the end of the detection; `None` if there is none. Always returns the
    /// same. Cancel-safe.
    async fn detected(&self) -> Option<Arc<dyn TextRecognizer>>;
}

/// A recognizer that needs no detection, or none.
#[async_trait]
impl RecognizerDetection for Option<Arc<dyn TextRecognizer>> {
    async fn detected(&self) -> Option<Arc<dyn TextRecognizer>> {
        self.clone()
    }
}

/// Why a page could not be recognised.
#[derive(Debug, Error)]
pub enum RecognitionError {
    /// The page cannot be recognised; other pages may be.
    #[error("the page could not be recognised ({})", .0.as_str())]
    Page(RecognitionFailure),
    /// The recognizer failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}
