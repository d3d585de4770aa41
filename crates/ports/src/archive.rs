//! Archives: named entries of bytes, one after the other.

use crate::error::Result;
use async_trait::async_trait;
use bytes::Bytes;

/// An archive being written.
#[async_trait]
pub trait ArchiveWriter: Send {
    /// Begins an entry of exactly so many bytes; the one before must be complete.
    async fn begin(&mut self, name: &str, bytes: u64) -> Result<()>;

    /// Appends bytes to the entry.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Makes the archive durable. One that is dropped before is none.
    async fn finish(self: Box<Self>) -> Result<()>;
}

/// What an archive is read from, as often as needed.
#[async_trait]
pub trait ArchiveSource: Send + Sync {
    /// Begins to read at the first entry.
    async fn open(&self) -> Result<Box<dyn ArchiveReader>>;
}

/// An archive being read.
#[async_trait]
pub trait ArchiveReader: Send {
    /// The next entry, its name and size; what is left of the one before is passed over. `None` at the end.
    ///
    /// # Errors
    /// `Rejected` when it is no archive, or is cut or damaged.
    async fn next(&mut self) -> Result<Option<(String, u64)>>;

    /// The next bytes of the entry; `None` at its end.
    ///
    /// # Errors
    /// As [`Self::next`].
    async fn read(&mut self) -> Result<Option<Bytes>>;
}
