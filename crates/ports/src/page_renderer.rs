//! Rendering of PDF pages.

use crate::blob_store::ByteStream;
use async_trait::async_trait;
use docent_domain::document::Failure;
use docent_domain::fault::Fault;
use std::num::{NonZeroU16, NonZeroU32};
use thiserror::Error;

/// A request to render a page as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImageRequest {
    /// Page number, starting at 1.
    pub page: NonZeroU32,
    /// Width of the image in pixels; the height follows from the page's aspect ratio.
    pub width: NonZeroU16,
    /// Extracted text whose lines are highlighted on the page.
    pub marked: Option<String>,
}

/// Renders PDF pages.
#[async_trait]
pub trait PageRenderer: Send + Sync {
    /// Renders a page as PNG with bounded memory, CPU time and wall time. Cancel-safe: dropping the future stops the
    /// work.
    ///
    /// # Errors
    /// [`RenderError`] tells faults of the file from other ones.
    async fn render(&self, pdf: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError>;
}

/// Why a page could not be rendered.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The page does not exist.
    #[error("the page does not exist")]
    NoSuchPage,
    /// The file is faulty; a retry does not help.
    #[error("{}", .0.reason)]
    Document(Failure),
    /// The renderer or the byte stream failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}
