//! Uploading a file as it is read.

use super::{Remote, address};
use anyhow::{Context, anyhow};
use futures::TryStreamExt;
use reqwest::{
    Body, Method,
    multipart::{Form, Part},
};
use serde_json::Value;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{fs::File, io::AsyncReadExt, time::timeout};
use tokio_util::io::ReaderStream;

/// How long an upload may stand still, its answer included.
const STANDSTILL: Duration = Duration::from_secs(120);
/// Bytes that are read at a time.
const PIECE: usize = 64 * 1024;

impl Remote {
    /// Sees to it that the service is there, that it knows who this is, and that a login is fresh. An API key that may
    /// not read is a [`Refusal`](super::Refusal) with 403.
    pub(crate) async fn check(&self) -> anyhow::Result<()> {
        self.send(Method::GET, &["documents"], &[("limit", "1")]).await.map(drop)
    }

    /// Uploads a PDF, telling how many bytes have gone out so far; gives the document that the service has made.
    ///
    /// The file is read while it is sent, and as far as it went when that began. A login is not renewed on the way:
    /// see [`check`](Self::check).
    pub(crate) async fn upload(
        &self,
        path: &Path,
        told: impl Fn(u64) + Send + Sync + 'static,
    ) -> anyhow::Result<Value> {
        let file = File::open(path).await.context("opening the file")?;
        let length = file.metadata().await.context("opening the file")?.len();
        let sent = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&sent);
        let pieces = ReaderStream::with_capacity(file.take(length), PIECE).inspect_ok(move |piece| {
            let piece = piece.len() as u64;
            told(count.fetch_add(piece, Ordering::Relaxed) + piece);
        });
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let part = Part::stream_with_length(Body::wrap_stream(pieces), length);
        let part = part.file_name(name).mime_str("application/pdf").context("naming the file's type")?;
        let form = Form::new().part("file", part);
        let request = self.http.post(address(&self.base, &["documents", "upload"])?).multipart(form);
        let mut delivery = Box::pin(self.deliver(request));
        let mut before = 0;
        loop {
            match timeout(STANDSTILL, &mut delivery).await {
                Ok(answer) => return answer?.json().await.context("reading the service's answer"),
                Err(_) if sent.load(Ordering::Relaxed) == before => {
                    return Err(anyhow!("nothing more went through in {} s", STANDSTILL.as_secs()));
                }
                Err(_) => before = sent.load(Ordering::Relaxed),
            }
        }
    }
}
