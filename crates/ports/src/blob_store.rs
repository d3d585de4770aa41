//! Storage of uploaded files.

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docent_domain::document::BlobKey;
use docent_domain::fault::{Fault, Result};
use futures_core::Stream;
use std::pin::Pin;

/// A stream of the bytes of a blob.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// A blob in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBlob {
    /// Key of the blob.
    pub key: BlobKey,
    /// Size in bytes.
    pub bytes: u64,
    /// Time of the last write, according to the store's clock.
    pub written_at: DateTime<Utc>,
}

/// Bytes of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that the service can still use.
    pub free: u64,
    /// All bytes.
    pub total: u64,
}

/// A stream of the blobs of a store.
pub type BlobList = Pin<Box<dyn Stream<Item = Result<StoredBlob, Fault>> + Send>>;

/// Stores bytes under keys.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Begins to write a blob. It becomes visible under `key` with [`BlobWriter::finish`], which replaces an existing
    /// blob.
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>>;

    /// Opens a blob for reading; `None` if it does not exist.
    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>>;

    /// Returns the size of a blob in bytes; `None` if it does not exist.
    async fn size(&self, key: &BlobKey) -> Result<Option<u64>>;

    /// Lists all blobs in no particular order. Blobs created or deleted meanwhile may or may not be included, and
    /// objects whose name is not a valid key are skipped. The list is read lazily.
    fn list(&self) -> BlobList;

    /// Deletes a blob. Returns whether it existed. Idempotent.
    async fn delete(&self, key: &BlobKey) -> Result<bool>;

    /// Checks that the store is reachable and writable.
    async fn check(&self) -> Result<()>;

    /// Space of the file system that has the blobs; `None` for a store without a known limit.
    async fn space(&self) -> Result<Option<DiskSpace>> {
        Ok(None)
    }
}

/// A blob being written.
#[async_trait]
pub trait BlobWriter: Send {
    /// Appends bytes. After an error the writer cannot be used any more.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Makes the blob durable and visible.
    async fn finish(self: Box<Self>) -> Result<()>;

    /// Discards the written bytes.
    async fn abort(self: Box<Self>) -> Result<()>;
}
