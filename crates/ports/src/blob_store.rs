//! Uploaded files.

use crate::error::{Fault, Result};
use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docent_domain::document::BlobKey;
use futures_core::Stream;
use std::pin::Pin;

/// The bytes of a blob as they come.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// A blob as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredBlob {
    /// Its key.
    pub key: BlobKey,
    /// Its size.
    pub bytes: u64,
    /// When it was last written, by the store's clock.
    pub written_at: DateTime<Utc>,
}

/// The blobs of a store as they are found.
pub type BlobList = Pin<Box<dyn Stream<Item = Result<StoredBlob, Fault>> + Send>>;

/// Keeps bytes under keys.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Begins to write a blob. Nothing is visible under `key` before [`BlobWriter::finish`], which
    /// replaces what was there.
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>>;

    /// Opens a blob for reading from its beginning; `None` when there is none.
    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>>;

    /// How many bytes a blob has; `None` when there is none.
    async fn size(&self, key: &BlobKey) -> Result<Option<u64>>;

    /// All blobs, in no order; those that come or go meanwhile may be among them or not. Objects that no key
    /// can name are left out. Reads on as it is asked for more.
    fn list(&self) -> BlobList;

    /// Removes a blob and says whether there was one. May be repeated.
    async fn delete(&self, key: &BlobKey) -> Result<bool>;

    /// Whether the store can be reached and written to.
    async fn check(&self) -> Result<()>;
}

/// A blob being written.
#[async_trait]
pub trait BlobWriter: Send {
    /// Appends bytes. After an error the writer is of no more use.
    async fn write(&mut self, bytes: Bytes) -> Result<()>;

    /// Makes the blob durable and visible.
    async fn finish(self: Box<Self>) -> Result<()>;

    /// Throws away what was written.
    async fn abort(self: Box<Self>) -> Result<()>;
}
