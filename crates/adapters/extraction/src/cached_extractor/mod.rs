//! Caches extracted text in a blob store.

mod format;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::document::{BlobKey, StoredFile};
use docent_domain::extraction::Extraction;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::file_type::FileType;
use docent_domain::metrics::Cache;
use docent_ports::blob_store::{BlobStore, ByteStream};
use docent_ports::recorder::Recorder;
use docent_ports::text_extractor::{ExtractionError, PageText, TextExtractor};
use futures::TryStreamExt;
use std::collections::HashMap;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, mpsc};
use tokio::task::spawn_blocking;

/// Pieces of a cached extraction that are read before they are decoded.
const PIECES: usize = 4;

/// A text extractor that caches the text of files that another one extracts.
///
/// The key is the SHA-256 digest of the file, and only text of the same version of the extractor of files of its type is used. Concurrent
/// calls extract each file once. If the cache fails, files are extracted without it.
pub struct CachedExtractor {
    inner: Arc<dyn TextExtractor>,
    cache: Arc<dyn BlobStore>,
    recorder: Arc<dyn Recorder>,
    /// Locks by digest of the file.
    locks: Mutex<HashMap<[u8; 32], Arc<AsyncMutex<()>>>>,
}

impl CachedExtractor {
    /// Caches the text that `inner` extracts in `cache`.
    pub fn new(
        inner: Arc<dyn TextExtractor>,
        cache: Arc<dyn BlobStore>,
        recorder: Arc<dyn Recorder>,
    ) -> Self {
        Self { inner, cache, recorder, locks: Mutex::default() }
    }

    /// Locks the extraction of a file: a second call for the same file waits and then finds the cached text.
    async fn lock(&self, sha256: [u8; 32]) -> OwnedMutexGuard<()> {
        let lock = {
            let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
            // A lock that is held or awaited has more than one owner; the others are removed.
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(locks.entry(sha256).or_default())
        };
        lock.lock_owned().await
    }

    /// Decodes a cached extraction while it is read.
    async fn find<T: Send + 'static>(
        &self,
        key: &BlobKey,
        decode: impl FnOnce(Pieces) -> io::Result<Option<T>> + Send + 'static,
    ) -> Result<Option<T>> {
        let Some(mut pieces) = self.cache.open(key).await? else { return Ok(None) };
        let (sender, receiver) = mpsc::channel(PIECES);
        let decoding = spawn_blocking(move || decode(Pieces::new(receiver)));
        while let Some(piece) = pieces.try_next().await? {
            if sender.send(piece).await.is_err() {
                // All that is needed was read.
                break;
            }
        }
        drop(sender);
        let decoded = decoding.await.map_err(|error| internal("decoding cached text").caused_by(error))?;
        decoded.map_err(|error| internal("decoding cached text").caused_by(error))
    }

    /// Looks for cached text. Without a usable one the file is extracted again.
    async fn look_up<T: Send + 'static>(
        &self,
        file: &StoredFile,
        decode: impl FnOnce(Pieces, &str) -> io::Result<Option<T>> + Send + 'static,
    ) -> Option<T> {
        let (key, name) = (BlobKey::of_extraction(&file.sha256), self.inner.name(file.file_type));
        let cached = self.find(&key, move |pieces| decode(pieces, name)).await.unwrap_or_else(|fault| {
            // Not counted: a fault of the blob store that lasts is counted when the file is opened.
            tracing::warn!(fault = %fault.report(), "cannot use the cached text of a file; extracting it again");
            None
        });
        let hits = u64::from(cached.is_some());
        self.recorder.cache_lookups(Cache::Extractions, hits, 1 - hits);
        cached
    }

    async fn store(&self, key: &BlobKey, encoded: Vec<u8>) -> Result<()> {
        let mut writer = self.cache.create(key).await?;
        match writer.write(Bytes::from(encoded)).await {
            Ok(()) => writer.finish().await,
            Err(fault) => {
                let _ = writer.abort().await;
                Err(fault)
            }
        }
    }
}

fn internal(message: &'static str) -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, message)
}

#[async_trait]
impl TextExtractor for CachedExtractor {
    async fn extract(&self, file_type: FileType, pdf: ByteStream) -> Result<Extraction, ExtractionError> {
        self.inner.extract(file_type, pdf).await
    }

    async fn extract_file(
        &self,
        file: &StoredFile,
        blobs: &dyn BlobStore,
    ) -> Result<Extraction, ExtractionError> {
        let _lock = self.lock(file.sha256).await;
        if let Some(extraction) = self.look_up(file, format::decode).await {
            return Ok(extraction);
        }
        self.extract_uncached(file, blobs).await
    }

    async fn extract_page(
        &self,
        file: &StoredFile,
        number: u32,
        blobs: &dyn BlobStore,
    ) -> Result<PageText, ExtractionError> {
        let _lock = self.lock(file.sha256).await;
        let decode = move |pieces: Pieces, name: &str| format::decode_page(pieces, name, number);
        if let Some(page) = self.look_up(file, decode).await {
            return Ok(page);
        }
        Ok(PageText::of(self.extract_uncached(file, blobs).await?, number))
    }

    async fn update(&self, file: &StoredFile, extraction: &Extraction) -> Result<bool> {
        self.encode_and_store(file, extraction.clone()).await.1?;
        Ok(true)
    }

    async fn forget(&self, sha256: &[u8; 32]) -> Result<()> {
        self.cache.delete(&BlobKey::of_extraction(sha256)).await.map(drop)
    }

    fn name(&self, file_type: FileType) -> &'static str {
        self.inner.name(file_type)
    }
}

impl CachedExtractor {
    /// Extracts the text of a file and caches it.
    async fn extract_uncached(
        &self,
        file: &StoredFile,
        blobs: &dyn BlobStore,
    ) -> Result<Extraction, ExtractionError> {
        let extraction = self.inner.extract_file(file, blobs).await?;
        let (extraction, stored) = self.encode_and_store(file, extraction).await;
        if let Err(fault) = stored {
            self.recorder.fault(fault.component(), fault.kind());
            tracing::warn!(fault = %fault.report(), "cannot cache the text of a file");
        }
        extraction.ok_or_else(|| internal("encoding text").into())
    }

    /// Stores an extraction, which it returns unless encoding it panicked.
    async fn encode_and_store(
        &self,
        file: &StoredFile,
        extraction: Extraction,
    ) -> (Option<Extraction>, Result<()>) {
        let (key, name) = (BlobKey::of_extraction(&file.sha256), self.inner.name(file.file_type));
        let encoded = spawn_blocking(move || (format::encode(&extraction, name), extraction)).await;
        let failed =
            |error: Box<dyn std::error::Error + Send + Sync>| Err(internal("encoding text").caused_by(error));
        match encoded {
            Ok((Ok(encoded), extraction)) => (Some(extraction), self.store(&key, encoded).await),
            Ok((Err(error), extraction)) => (Some(extraction), failed(error.into())),
            Err(error) => (None, failed(error.into())),
        }
    }
}

/// Reads the bytes of a blob in another thread than the one that receives them.
struct Pieces {
    receiver: mpsc::Receiver<Bytes>,
    current: Bytes,
}

impl Pieces {
    fn new(receiver: mpsc::Receiver<Bytes>) -> Self {
        Self { receiver, current: Bytes::new() }
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match self.receiver.blocking_recv() {
                Some(piece) => self.current = piece,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.current.len());
        buffer[..length].copy_from_slice(&self.current.split_to(length));
        Ok(length)
    }
}
