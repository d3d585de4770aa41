//! In-memory blob store.

use async_trait::async_trait;
use bytes::Bytes;
use chrono::{DateTime, Utc};
use docent_domain::document::BlobKey;
use docent_domain::fault::Result;
use docent_ports::blob_store::{BlobList, BlobStore, BlobWriter, ByteStream, StoredBlob};
use futures::stream;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

type Blobs = Arc<Mutex<BTreeMap<String, (Bytes, DateTime<Utc>)>>>;

/// A blob store in a map.
#[derive(Debug, Default)]
pub struct FakeBlobStore {
    blobs: Blobs,
    /// The store's clock, which changes only when set.
    now: Mutex<DateTime<Utc>>,
}

impl FakeBlobStore {
    /// Returns the keys of all blobs in order, for tests that look for orphans.
    pub fn keys(&self) -> Vec<String> {
        self.blobs.lock().unwrap().keys().cloned().collect()
    }

    /// Sets the store's clock.
    pub fn set_time(&self, now: DateTime<Utc>) {
        *self.now.lock().unwrap() = now;
    }
}

#[async_trait]
impl BlobStore for FakeBlobStore {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>> {
        let key = key.as_str().to_owned();
        let (blobs, at) = (Arc::clone(&self.blobs), *self.now.lock().unwrap());
        Ok(Box::new(FakeWriter { key, at, written: Vec::new(), blobs }))
    }

    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>> {
        let blob = self.blobs.lock().unwrap().get(key.as_str()).map(|(blob, _)| blob.clone());
        // In pieces, like real stores.
        let pieces = |blob: Bytes| {
            let starts = (0..blob.len()).step_by(8192);
            starts.map(|at| Ok(blob.slice(at..blob.len().min(at + 8192)))).collect::<Vec<_>>()
        };
        Ok(blob.map(|blob| Box::pin(stream::iter(pieces(blob))) as _))
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>> {
        Ok(self.blobs.lock().unwrap().get(key.as_str()).map(|(blob, _)| blob.len() as u64))
    }

    fn list(&self) -> BlobList {
        let blobs = self.blobs.lock().unwrap();
        let stored = |(key, (blob, at)): (&String, &(Bytes, DateTime<Utc>))| {
            let key = BlobKey::parse(key).expect("it was written under a key");
            Ok(StoredBlob { key, bytes: blob.len() as u64, written_at: *at })
        };
        Box::pin(stream::iter(blobs.iter().map(stored).collect::<Vec<_>>()))
    }

    async fn delete(&self, key: &BlobKey) -> Result<bool> {
        Ok(self.blobs.lock().unwrap().remove(key.as_str()).is_some())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

struct FakeWriter {
    key: String,
    at: DateTime<Utc>,
    written: Vec<u8>,
    blobs: Blobs,
}

#[async_trait]
impl BlobWriter for FakeWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.written.extend_from_slice(&bytes);
        Ok(())
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        self.blobs.lock().unwrap().insert(self.key, (self.written.into(), self.at));
        Ok(())
    }

    async fn abort(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
