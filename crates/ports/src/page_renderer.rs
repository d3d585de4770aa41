//! Rendering of PDF pages, and of the pictures on pages of other files.

use crate::blob_store::ByteStream;
use async_trait::async_trait;
use docent_domain::document::Failure;
use docent_domain::fault::Fault;
use docent_domain::file_type::FileType;
use docent_domain::page_words::PageLines;
use docent_domain::recognition::{PageBox, RecognizedPage};
use std::num::{NonZeroU16, NonZeroU32};
use thiserror::Error;

/// A request to render a page as an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageImageRequest {
    /// Type of the file. Of others than PDFs, only the pictures of a page are rendered, each at its place.
    pub file_type: FileType,
    /// Page number, starting at 1.
    pub page: NonZeroU32,
    /// Size of the image.
    pub size: ImageSize,
    /// Extracted text whose lines are highlighted on the page.
    pub marked: Option<String>,
    /// The page's recognised text, whose lines are highlighted like those of the file.
    pub recognized: Option<RecognizedPage>,
    /// The parts of the page that the image shows, without the file's text on them; empty for the whole page. The image has
    /// the size of the smallest rectangle around them and is white between them.
    pub parts: Vec<PageBox>,
}

impl PageImageRequest {
    /// A request for an image to recognise text on.
    pub const fn scan(file_type: FileType, page: NonZeroU32, dpi: NonZeroU16) -> Self {
        Self {
            file_type,
            page,
            size: ImageSize::Scan { dpi },
            marked: None,
            recognized: None,
            parts: Vec::new(),
        }
    }
}

/// Size and colours of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSize {
    /// In colour, of this width in pixels; the height follows from the page's aspect ratio.
    Width(NonZeroU16),
    /// As [`Self::Width`], to be described in the background; pictures of other files than PDFs are in shades of grey.
    Description {
        /// The width.
        width: NonZeroU16,
    },
    /// In shades of grey, with this resolution in dots per inch. Larger pages have a lower resolution.
    Scan {
        /// The resolution.
        dpi: NonZeroU16,
    },
}

/// Renders pages.
#[async_trait]
pub trait PageRenderer: Send + Sync {
    /// Renders a page as PNG with bounded memory, CPU time and wall time. Cancel-safe: dropping the future stops the
    /// work.
    ///
    /// # Errors
    /// [`RenderError`] tells faults of the file from other ones.
    async fn render(&self, file: ByteStream, drawing: &PageImageRequest) -> Result<Vec<u8>, RenderError>;

    /// Finds the words of a page of a PDF, counted from 1, with the same bounds on resources. Cancel-safe like [`Self::render`].
    ///
    /// # Errors
    /// As [`Self::render`].
    async fn words(&self, pdf: ByteStream, page: NonZeroU32) -> Result<PageLines, RenderError>;
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
