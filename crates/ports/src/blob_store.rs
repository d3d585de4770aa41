//! Uploaded files.

use crate::error::{Fault, Result};
use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::document::BlobKey;
use futures_core::Stream;
use std::pin::Pin;

/// The bytes of a blob as they come.
pub type ByteStream = Pin<Box<dyn Stream<Item = Result<Bytes, Fault>> + Send>>;

/// Keeps bytes under keys.
#[async_trait]
pub trait BlobStore: Send + Sync {
    /// Begins to write a blob. Nothing is visible under `key` before [`BlobWriter::finish`], which
    /// replaces what was there.
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>>;

    /// Opens a blob for reading from its beginning; `None` when there is none.
    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>>;

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
