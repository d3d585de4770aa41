//! Text extraction from files.

use crate::blob_store::{BlobStore, ByteStream};
use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode, StoredFile};
use docent_domain::extraction::{ExtractedPage, Extraction};
use docent_domain::fault::{Fault, Result};
use docent_domain::file_type::FileType;
use docent_domain::recognition::{Recognition, RecognizedPage};
use thiserror::Error;

/// One page of an extraction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageText {
    /// Number of pages of the file.
    pub pages: u32,
    /// Text of the page; `None` if it does not exist.
    pub text: Option<String>,
    /// What the page is in the file; `None` in PDFs.
    pub label: Option<String>,
    /// Where the text is on the page, if it was recognised.
    pub recognized: Option<RecognizedPage>,
}

impl PageText {
    /// Returns a page of an extraction, counted from 1.
    pub fn of(mut extraction: Extraction, number: u32) -> Self {
        let pages = u32::try_from(extraction.pages.len()).unwrap_or(u32::MAX);
        let index = extraction.pages.iter().position(|page| page.number == number);
        match index.map(|index| extraction.pages.swap_remove(index)) {
            Some(page) => Self::found(pages, page),
            None => Self { pages, ..Self::default() },
        }
    }

    /// The text of this page of a file with this number of pages.
    pub fn found(pages: u32, page: ExtractedPage) -> Self {
        let recognized = page.recognition.as_ref().and_then(Recognition::reliable).cloned();
        Self { pages, text: Some(page.text), label: page.label, recognized }
    }
}

/// Extracts the text of files.
#[async_trait]
pub trait TextExtractor: Send + Sync {
    /// Extracts the text of a file of this type with bounded memory, CPU time and wall time. Cancel-safe: dropping the
    /// future stops the work.
    ///
    /// A file without text is not an error: its pages are empty.
    ///
    /// # Errors
    /// [`ExtractionError`] tells faults of the file from other ones.
    async fn extract(&self, file_type: FileType, bytes: ByteStream) -> Result<Extraction, ExtractionError>;

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
            Some(bytes) => self.extract(file.file_type, bytes).await,
            None => Err(ExtractionError::Document(Failure::of(FailureCode::FileMissing))),
        }
    }

    /// Extracts the text of one page of a file in `blobs`, counted from 1, like [`Self::extract_file`]. Implementations
    /// with a cache hold no other page of it in memory.
    ///
    /// # Errors
    /// As [`Self::extract_file`].
    async fn extract_page(
        &self,
        file: &StoredFile,
        number: u32,
        blobs: &dyn BlobStore,
    ) -> Result<PageText, ExtractionError> {
        Ok(PageText::of(self.extract_file(file, blobs).await?, number))
    }

    /// Replaces the cached text of a file by one with recognised pages, which later calls of [`Self::extract_file`] return.
    /// Returns whether it did: an extractor without a cache does not. Idempotent.
    ///
    /// # Errors
    /// If the cache fails. May be retried.
    async fn update(&self, _file: &StoredFile, _extraction: &Extraction) -> Result<bool> {
        Ok(false)
    }

    /// Removes the cached text of files with this digest. Called when no document has such a file any more: after the
    /// last one was deleted, and again if that happened during [`Self::extract_file`]. Idempotent.
    ///
    /// # Errors
    /// If the cache fails. May be retried.
    async fn forget(&self, _sha256: &[u8; 32]) -> Result<()> {
        Ok(())
    }

    /// Name and version of the extractor of files of this type, for reports.
    fn name(&self, file_type: FileType) -> &'static str;
}

/// Why a file could not be read.
#[derive(Debug, Error)]
pub enum ExtractionError {
    /// The file is faulty; a retry does not help.
    #[error("{}", .0.reason)]
    Document(Failure),
    /// The extractor or the byte stream failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}
