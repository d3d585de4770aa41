//! Text extraction from PDFs.

use crate::blob_store::{BlobStore, ByteStream};
use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode, StoredFile};
use docent_domain::extraction::Extraction;
use docent_domain::fault::{Fault, Result};
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

    /// Extracts the text of a file in `blobs` like [`Self::extract`]. Implementations may cache the text by the digest
    /// of the file, and then need not open it again.
    ///
    /// # Errors
    /// As [`Self::extract`], and [`FailureCode::FileMissing`] if the file does not exist. A failing cache is not an error.
    async fn extract_file(
        &self,
        file: &StoredFile,
        blobs: &dyn BlobStore,
    ) -> Result<Extraction, ExtractionError> {
        match blobs.open(&file.blob).await? {
            Some(pdf) => self.extract(pdf).await,
            None => Err(ExtractionError::Document(Failure::of(FailureCode::FileMissing))),
        }
    }

    /// Removes the cached text of files with this digest. Called when no document has such a file any more: after the
    /// last one was deleted, and again if that happened during [`Self::extract_file`]. Idempotent.
    ///
    /// # Errors
    /// If the cache fails. May be retried.
    async fn forget(&self, _sha256: &[u8; 32]) -> Result<()> {
        Ok(())
    }

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
