//! Reading PDFs.

use crate::{blob_store::ByteStream, error::Fault};
use async_trait::async_trait;
use docent_domain::{document::Failure, extraction::Extraction};
use thiserror::Error;

/// Reads the text of PDFs, page by page.
#[async_trait]
pub trait TextExtractor: Send + Sync {
    /// Reads one PDF. Memory, processor time and wall time are bounded whatever the file holds.
    ///
    /// A PDF without text is no error here: its pages are empty.
    ///
    /// # Errors
    /// [`ExtractionError`] says whether the file or the machinery is to blame. Cancel-safe: dropping
    /// the future stops the work.
    async fn extract(&self, pdf: ByteStream) -> Result<Extraction, ExtractionError>;

    /// The extractor's name and version, for reports.
    fn name(&self) -> &'static str;
}

/// Why a PDF was not read.
#[derive(Debug, Error)]
pub enum ExtractionError {
    /// The file is to blame; trying again gives the same.
    #[error("{}", .0.reason)]
    Document(Failure),
    /// The machinery, or the stream of bytes, is to blame.
    #[error(transparent)]
    Fault(#[from] Fault),
}
