//! Blob store with scripted faults, including in the middle of writing or reading a blob.

use super::{FaultSwitch, Faulty};
use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::document::BlobKey;
use docent_domain::fault::Result;
use docent_ports::blob_store::{BlobList, BlobStore, BlobWriter, ByteStream, DiskSpace};
use futures::{StreamExt, stream};

#[async_trait]
impl BlobStore for Faulty<dyn BlobStore> {
    async fn create(&self, key: &BlobKey) -> Result<Box<dyn BlobWriter>> {
        let inner = self.pass()?.create(key).await?;
        Ok(Box::new(FaultyWriter { inner, switch: self.switch.clone() }))
    }

    async fn open(&self, key: &BlobKey) -> Result<Option<ByteStream>> {
        let stream = self.pass()?.open(key).await?;
        let switch = self.switch.clone();
        Ok(stream.map(|stream| stream.map(move |bytes| switch.check().and(bytes)).boxed()))
    }

    async fn size(&self, key: &BlobKey) -> Result<Option<u64>> {
        self.pass()?.size(key).await
    }

    fn list(&self) -> BlobList {
        match self.pass() {
            Ok(inner) => inner.list(),
            Err(fault) => stream::iter([Err(fault)]).boxed(),
        }
    }

    async fn delete(&self, key: &BlobKey) -> Result<bool> {
        self.pass()?.delete(key).await
    }

    async fn check(&self) -> Result<()> {
        self.pass()?.check().await
    }

    async fn space(&self) -> Result<Option<DiskSpace>> {
        self.pass()?.space().await
    }
}

struct FaultyWriter {
    inner: Box<dyn BlobWriter>,
    switch: FaultSwitch,
}

#[async_trait]
impl BlobWriter for FaultyWriter {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.switch.check()?;
        self.inner.write(bytes).await
    }

    async fn finish(self: Box<Self>) -> Result<()> {
        // A writer that is dropped has written nothing, so a fault here leaves no blob behind.
        self.switch.check()?;
        self.inner.finish().await
    }

    async fn abort(self: Box<Self>) -> Result<()> {
        self.inner.abort().await
    }
}
