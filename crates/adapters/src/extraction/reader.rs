//! What the readers of the file formats share.

use docent_domain::document::Failure;
use docent_domain::extraction::{ExtractedPage, Metadata};
use std::io;

/// Receives pages and metadata as they are read.
pub(super) trait Sink {
    /// Receives the next page.
    fn page(&mut self, page: ExtractedPage) -> io::Result<()>;
    /// Reports that all `pages` pages have been passed.
    fn complete(&mut self, pages: u32) -> io::Result<()>;
    /// Receives title, author and outline. Called last, and not if they cannot be read.
    fn metadata(&mut self, metadata: Metadata) -> io::Result<()>;
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The document cannot be read.
    Document(Failure),
    /// The sink failed.
    Sink(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Sink(error)
    }
}
