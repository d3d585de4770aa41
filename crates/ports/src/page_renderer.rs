//! Drawing pages of PDFs.

use crate::{blob_store::ByteStream, error::Fault};
use async_trait::async_trait;
use docent_domain::document::Failure;
use std::num::{NonZeroU16, NonZeroU32};
use thiserror::Error;

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImageRequest {
    /// The page, counted from 1.
    pub page: NonZeroU32,
    /// How wide the picture is, in pixels; its height follows from the page's.
    pub width: NonZeroU16,
    /// Text of the page as it was extracted: the lines that it stands on are marked.
    pub marked: Option<String>,
}

/// Draws pages of PDFs.
#[async_trait]
pub trait PageRenderer: Send + Sync {
    /// Draws one page as PNG. Memory, processor time and wall time are bounded whatever the file holds.
    ///
    /// # Errors
    /// [`RenderError`] says what is to blame. Cancel-safe: dropping the future stops the work.
    async fn render(&self, pdf: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError>;
}

/// Why a page was not drawn.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The file has no such page.
    #[error("there is no such page")]
    NoSuchPage,
    /// The file is to blame; trying again gives the same.
    #[error("{}", .0.reason)]
    Document(Failure),
    /// The machinery, or the stream of bytes, is to blame.
    #[error(transparent)]
    Fault(#[from] Fault),
}
