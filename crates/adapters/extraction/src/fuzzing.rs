//! Entry points for the fuzz targets in `tests/fuzz`; compiled in fuzzing builds only.

use super::formats;
use super::pdf::document::{self, DocumentLimits};
use super::pdf::limits::PageLimits;
use super::reader::{PagesLimits, Sink, Stopped};
use docent_domain::document::Failure;
use docent_domain::extraction::{ExtractedPage, Metadata};
use docent_domain::file_type::FileType;
use std::io;

/// Maximum size of a document's text in bytes.
pub const TEXT_BYTES: usize = 256 << 10;
/// Maximum size of a page's text in bytes.
pub const PAGE_TEXT_BYTES: usize = 64 << 10;

/// The result of reading a file.
#[derive(Debug, Default)]
pub struct Reading {
    /// The pages.
    pub pages: Vec<ExtractedPage>,
    /// The number of pages, if all were read.
    pub complete: Option<u32>,
    /// Title, author and outline.
    pub metadata: Option<Metadata>,
    /// Why the document could not be read.
    pub failure: Option<Failure>,
}

impl Sink for Reading {
    fn page(&mut self, page: ExtractedPage) -> io::Result<()> {
        self.pages.push(page);
        Ok(())
    }

    fn complete(&mut self, pages: u32) -> io::Result<()> {
        self.complete = Some(pages);
        Ok(())
    }

    fn metadata(&mut self, metadata: Metadata) -> io::Result<()> {
        self.metadata = Some(metadata);
        Ok(())
    }
}

/// Reads a PDF like the extraction worker, with lower limits, so that inputs reach them within milliseconds.
pub fn read(bytes: Vec<u8>) -> Reading {
    let page = PageLimits {
        content_bytes: 256 << 10,
        text_bytes: PAGE_TEXT_BYTES,
        page_operations: 20_000,
        document_operations: 50_000,
    };
    let limits = DocumentLimits { pages: 200, text_bytes: TEXT_BYTES as u64, page };
    let mut reading = Reading::default();
    if let Err(Stopped::Document(failure)) = document::read(bytes, &limits, &mut reading) {
        reading.failure = Some(failure);
    }
    reading
}

/// Reads a file of another type than PDF like the extraction worker, with lower limits.
pub fn read_as(file_type: FileType, bytes: Vec<u8>) -> Reading {
    let limits = PagesLimits { pages: 200, text_bytes: TEXT_BYTES as u64 };
    let mut reading = Reading::default();
    if let Err(Stopped::Document(failure)) = formats::read(file_type, bytes, limits, &mut reading) {
        reading.failure = Some(failure);
    }
    reading
}
