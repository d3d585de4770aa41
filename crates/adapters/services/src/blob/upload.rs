//! Writes a blob in parts.

use super::Location;
use async_trait::async_trait;
use bytes::Bytes;
use docent_domain::fault::{Fault, Result};
use docent_ports::blob_store::BlobWriter;
use object_store::path::Path;
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::runtime::Handle;

/// A blob being written. Dropping it discards what was written.
pub(super) struct Upload {
    objects: Arc<dyn ObjectStore>,
    location: Location,
    path: Path,
    /// The multipart upload in progress.
    started: Option<Box<dyn MultipartUpload>>,
    pieces: VecDeque<Bytes>,
    /// Number of bytes in `pieces`.
    buffered: usize,
}

impl Upload {
    pub(super) fn new(objects: Arc<dyn ObjectStore>, location: Location, path: Path) -> Self {
        Self { objects, location, path, started: None, pieces: VecDeque::new(), buffered: 0 }
    }

    fn fault(&self, action: &'static str) -> impl Fn(Error) -> Fault + use<> {
        let location = self.location;
        move |error| location.fault(action, error)
    }

    /// Starts the multipart upload, unless it has been started.
    pub(super) async fn start(&mut self) -> Result<&mut Box<dyn MultipartUpload>> {
        let upload = match self.started.take() {
            Some(upload) => upload,
            None => {
                let started = self.objects.put_multipart(&self.path).await;
                started.map_err(self.fault("start writing a blob"))?
            }
        };
        Ok(self.started.insert(upload))
    }

    /// Removes up to `wanted` bytes from the buffer.
    fn take(&mut self, wanted: usize) -> PutPayload {
        let mut missing = wanted.min(self.buffered);
        self.buffered -= missing;
        let mut part = Vec::new();
        while missing > 0
            && let Some(mut piece) = self.pieces.pop_front()
        {
            if piece.len() > missing {
                self.pieces.push_front(piece.split_off(missing));
            }
            missing -= piece.len();
            part.push(piece);
        }
        part.into_iter().collect()
    }

    /// Sends the next part. Only one part is in memory at a time.
    async fn flush(&mut self) -> Result<()> {
        let fault = self.fault("write a blob");
        // Started first, so that an error here loses no buffered bytes.
        self.start().await?;
        let part = self.take(self.location.part_bytes());
        self.start().await?.put_part(part).await.map_err(fault)
    }
}

#[async_trait]
impl BlobWriter for Upload {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.buffered += bytes.len();
        self.pieces.push_back(bytes);
        while self.buffered >= self.location.part_bytes() {
            self.flush().await?;
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        let fault = self.fault("finish a blob");
        if self.started.is_none() {
            let whole = self.take(usize::MAX);
            return self.objects.put(&self.path, whole).await.map(drop).map_err(fault);
        }
        if self.buffered > 0 {
            self.flush().await?;
        }
        self.start().await?.complete().await.map_err(fault)?;
        self.started = None;
        Ok(())
    }

    async fn abort(mut self: Box<Self>) -> Result<()> {
        match self.started.take() {
            Some(mut started) => started.abort().await.map_err(self.fault("discard an unfinished blob")),
            None => Ok(()),
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // A local file is removed with its writer; a bucket needs a request.
        if self.location == Location::Bucket
            && let Some(mut started) = self.started.take()
            && let Ok(runtime) = Handle::try_current()
        {
            let fault = self.fault("discard an unfinished blob");
            runtime.spawn(async move {
                if let Err(fault) = started.abort().await.map_err(fault) {
                    tracing::warn!(fault = %fault.report(), "parts of an unfinished upload remain in the bucket");
                }
            });
        }
    }
}
