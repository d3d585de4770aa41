//! Streams a file as an upload.

use super::source::SourceFile;
use super::{ServiceClient, join};
use anyhow::{Context, anyhow};
use docent_domain::file_type::{FileType, FileTypes, HEAD_BYTES, detect};
use docent_domain::id::CollectionId;
use docent_domain::text::FileName;
use futures::TryStreamExt;
use reqwest::multipart::{Form, Part};
use reqwest::{Body, Method, Url};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::time::timeout;
use tokio_util::io::ReaderStream;

/// Timeout without progress, the wait for the response included.
const STALL_TIMEOUT: Duration = Duration::from_secs(120);
/// Timeout of the question which types of files the service accepts.
const READY_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes read at a time.
const CHUNK_SIZE: usize = 64 * 1024;

impl ServiceClient {
    /// Checks that the service is reachable and accepts the credential, and refreshes an expired login.
    ///
    /// # Errors
    /// Among others an [`ApiError`](super::ApiError) with 403 for an API key without the scope `read`.
    pub(crate) async fn check(&self) -> anyhow::Result<()> {
        self.send(Method::GET, &["documents"], &[("limit", "1")]).await.map(drop)
    }

    /// The types of files that the service accepts; `None` if it does not say, for example behind a proxy that hides this.
    pub(crate) async fn accepted_types(&self) -> Option<FileTypes> {
        let url = join(&self.base, &["health", "ready"]).ok()?;
        let response = self.http.get(url).timeout(READY_TIMEOUT).send().await.ok()?;
        // A service that is not ready names them too.
        let health: Value = response.json().await.ok()?;
        let names = health["upload_types"].as_array()?.iter();
        // A newer service may accept types that this program does not know.
        Some(names.filter_map(|name| FileType::parse(name.as_str()?)).collect())
    }

    /// Uploads a PDF into a collection and returns the created document. `on_progress` is called with the bytes sent so far.
    ///
    /// The file is read while it is sent, up to its size at the start. An expired login is not refreshed: call
    /// [`check`](Self::check) first.
    pub(crate) async fn upload(
        &self,
        source: &SourceFile,
        collection: Option<CollectionId>,
        on_progress: impl Fn(u64) + Send + Sync + 'static,
    ) -> anyhow::Result<Value> {
        let mut url = join(&self.base, &["documents", "upload"])?;
        if let Some(collection) = collection {
            url.query_pairs_mut().append_pair("collection_id", &collection.to_string());
        }
        self.send_file(Method::POST, url, source, on_progress).await
    }

    /// Uploads a file with attributes into a collection, as [`upload`](Self::upload). With `returns_duplicate`, a document of the
    /// collection with an equal file is returned instead, if there is one.
    pub(crate) async fn upload_with(
        &self,
        source: &SourceFile,
        collection: CollectionId,
        attributes: &Value,
        returns_duplicate: bool,
    ) -> anyhow::Result<Value> {
        let mut url = join(&self.base, &["documents", "upload"])?;
        let mut query = url.query_pairs_mut();
        query.append_pair("collection_id", &collection.to_string());
        query.append_pair("attributes", &attributes.to_string());
        query.append_pair("on_duplicate", if returns_duplicate { "return" } else { "create" });
        drop(query);
        self.send_file(Method::POST, url, source, |_| {}).await
    }

    /// Replaces the file of a document, as [`upload`](Self::upload).
    pub(crate) async fn replace(&self, id: &str, source: &SourceFile) -> anyhow::Result<Value> {
        self.send_file(Method::PUT, join(&self.base, &["documents", id, "file"])?, source, |_| {}).await
    }

    async fn send_file(
        &self,
        method: Method,
        url: Url,
        source: &SourceFile,
        on_progress: impl Fn(u64) + Send + Sync + 'static,
    ) -> anyhow::Result<Value> {
        let opened = source.clone();
        let opened = tokio::task::spawn_blocking(move || opened.open()).await?;
        let mut file = File::from_std(opened.context("opening the file")?);
        let length = file.metadata().await.context("opening the file")?.len();
        let mut head = Vec::new();
        (&mut file).take(HEAD_BYTES as u64).read_to_end(&mut head).await.context("reading the file")?;
        file.rewind().await.context("reading the file")?;
        let sent = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&sent);
        let chunks = ReaderStream::with_capacity(file.take(length), CHUNK_SIZE).inspect_ok(move |chunk| {
            let length = chunk.len() as u64;
            on_progress(count.fetch_add(length, Ordering::Relaxed) + length);
        });
        // As the service stores it. Some characters of names cannot be in a header.
        let name = FileName::sanitize(&source.path().file_name().unwrap_or_default().to_string_lossy());
        let part = Part::stream_with_length(Body::wrap_stream(chunks), length);
        // A service that accepts PDF alone goes by the media type, others by the content, as is done here.
        let media_type = detect(&head, name.as_str()).unwrap_or(FileType::Pdf).media_type();
        let part = part
            .file_name(name.as_str().to_owned())
            .mime_str(media_type)
            .context("naming the file's type")?;
        let form = Form::new().part("file", part);
        let request = self.http.request(method, url).multipart(form);
        let mut sending = Box::pin(self.send_authenticated(request));
        let mut last_sent = 0;
        loop {
            match timeout(STALL_TIMEOUT, &mut sending).await {
                Ok(response) => return response?.json().await.context("reading the response"),
                Err(_) if sent.load(Ordering::Relaxed) == last_sent => {
                    return Err(anyhow!("the upload made no progress for {} s", STALL_TIMEOUT.as_secs()));
                }
                Err(_) => last_sent = sent.load(Ordering::Relaxed),
            }
        }
    }
}
