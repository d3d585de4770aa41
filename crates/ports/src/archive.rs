//! Archives: sequences of named entries of bytes.

use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::fault::Result;

/// An archive being written.
#[async_trait]
pub trait ArchiveWriter: Send {
    /// Begins an entry of exactly `bytes` bytes. The previous entry must be complete.
    async fn begin(&mut self, name: &str, bytes: u64) -> Result<()>;

    /// Appends bytes to the current entry.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Makes the archive durable. Without this call no archive is left.
    async fn finish(self: Box<Self>) -> Result<()>;
}

/// Opens an archive for reading, as often as needed.
#[async_trait]
pub trait ArchiveSource: Send + Sync {
    /// Opens the archive at its first entry.
    async fn open(&self) -> Result<Box<dyn ArchiveReader>>;
}

/// An archive being read.
#[async_trait]
pub trait ArchiveReader: Send {
    /// Returns the name and size of the next entry and skips the rest of the current one; `None` at the end.
    ///
    /// # Errors
    /// `Rejected` if the data is not an archive, or is truncated or damaged.
    async fn next(&mut self) -> Result<Option<(String, u64)>>;

    /// Returns the next bytes of the entry; `None` at its end.
    ///
    /// # Errors
    /// As [`Self::next`].
    async fn read(&mut self) -> Result<Option<Bytes>>;
}
