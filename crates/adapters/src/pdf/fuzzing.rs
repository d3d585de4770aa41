//! The way in for the fuzz targets of `tests/fuzz`; only their builds have it.

use super::{
    document::{self, DocumentLimits, Sink, Stopped},
    limits::PageLimits,
};
use docent_domain::{
    document::Failure,
    extraction::{ExtractedPage, Metadata},
};
use std::io;

/// The most bytes of a document's text.
pub const TEXT_BYTES: usize = 256 << 10;
/// The most bytes of a page's text.
pub const PAGE_TEXT_BYTES: usize = 64 << 10;

/// What was read, in the order of its coming.
#[derive(Debug, Default)]
pub struct Reading {
    /// The pages.
    pub pages: Vec<ExtractedPage>,
    /// How many there are, once all are through.
    pub complete: Option<u32>,
    /// What the document says about itself.
    pub metadata: Option<Metadata>,
    /// Why it could not be read.
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

/// Reads a PDF as the extraction worker does. The limits are of the same kinds, but a fraction of
/// the worker's, so that inputs run into them in milliseconds.
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
