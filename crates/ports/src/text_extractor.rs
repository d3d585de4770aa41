//! Text extraction from PDFs.

use crate::blob_store::ByteStream;
use async_trait::async_trait;
use docent_domain::{document::Failure, extraction::Extraction, fault::Fault};
use thiserror::Error;

/// Extracts the text of PDFs.
#[async_trait]
pub trait TextExtractor: Send + Sync {
    /// Extracts the text of a PDF with bounded memory, CPU time and wall time. Cancel-safe: dropping the future stops
    /// the work.
    ///
    /// A PDF without text is not an error: its pages are empty.
    ///
    /// # Errors
    /// [`ExtractionError`] tells faults of the file from other ones.
    async fn extract(&self, pdf: ByteStream) -> Result<Extraction, ExtractionError>;

    /// Name and version of the extractor, for reports.
    fn name(&self) -> &'static str;
}

/// Why a PDF could not be read.
#[derive(Debug, Error)]
pub enum ExtractionError {
    /// The file is faulty; a retry does not help.
    #[error("{}", .0.reason)]
    Document(Failure),
    /// The extractor or the byte stream failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}
