//! Writes a blob in parts.

use super::Place;
use async_trait::async_trait;
use bytes::Bytes;
use docent_ports::{
    blob_store::BlobWriter,
    error::{Fault, Result},
};
use object_store::{Error, MultipartUpload, ObjectStore, ObjectStoreExt, PutPayload, path::Path};
use std::{collections::VecDeque, sync::Arc};
use tokio::runtime::Handle;

/// A blob being written. Dropping it discards what was written.
pub(super) struct Upload {
    objects: Arc<dyn ObjectStore>,
    place: Place,
    path: Path,
    /// The multipart upload in progress.
    begun: Option<Box<dyn MultipartUpload>>,
    pieces: VecDeque<Bytes>,
    /// Number of bytes in `pieces`.
    held: usize,
}

impl Upload {
    pub(super) fn new(objects: Arc<dyn ObjectStore>, place: Place, path: Path) -> Self {
        Self { objects, place, path, begun: None, pieces: VecDeque::new(), held: 0 }
    }

    fn fault(&self, doing: &'static str) -> impl Fn(Error) -> Fault + use<> {
        let place = self.place;
        move |error| place.fault(doing, error)
    }

    /// Starts the multipart upload, unless it has been started.
    pub(super) async fn begin(&mut self) -> Result<&mut Box<dyn MultipartUpload>> {
        let upload = match self.begun.take() {
            Some(upload) => upload,
            None => {
                let begun = self.objects.put_multipart(&self.path).await;
                begun.map_err(self.fault("begin to write a blob"))?
            }
        };
        Ok(self.begun.insert(upload))
    }

    /// Removes up to `wanted` bytes from the buffer.
    fn take(&mut self, wanted: usize) -> PutPayload {
        let mut missing = wanted.min(self.held);
        self.held -= missing;
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
        self.begin().await?;
        let part = self.take(self.place.part_bytes());
        self.begin().await?.put_part(part).await.map_err(fault)
    }
}

#[async_trait]
impl BlobWriter for Upload {
    async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.held += bytes.len();
        self.pieces.push_back(bytes);
        while self.held >= self.place.part_bytes() {
            self.flush().await?;
        }
        Ok(())
    }

    async fn finish(mut self: Box<Self>) -> Result<()> {
        let fault = self.fault("finish a blob");
        if self.begun.is_none() {
            let whole = self.take(usize::MAX);
            return self.objects.put(&self.path, whole).await.map(drop).map_err(fault);
        }
        if self.held > 0 {
            self.flush().await?;
        }
        self.begin().await?.complete().await.map_err(fault)?;
        self.begun = None;
        Ok(())
    }

    async fn abort(mut self: Box<Self>) -> Result<()> {
        match self.begun.take() {
            Some(mut begun) => begun.abort().await.map_err(self.fault("throw away an unfinished blob")),
            None => Ok(()),
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // A local file is removed with its writer; a bucket needs a request.
        if self.place == Place::Bucket
            && let Some(mut begun) = self.begun.take()
            && let Ok(runtime) = Handle::try_current()
        {
            let fault = self.fault("throw away an unfinished blob");
            runtime.spawn(async move {
                if let Err(fault) = begun.abort().await.map_err(fault) {
                    tracing::warn!(fault = %fault.report(), "parts of an upload are left in the bucket");
                }
            });
        }
    }
}
