//! Taking in a file.
//!
//! The bytes go to the blob store as they come. The record and the job that will ingest it are
//! written in one transaction afterwards: an upload that was answered is never forgotten, and one
//! that was not leaves no record.

use crate::{
    App,
    audit::{By, Changes, Subject},
    error::{Error, Result},
};
use bytes::Bytes;
use docent_domain::{
    access::{AddDocuments, Grant},
    audit::AuditAction,
    document::{BlobKey, Document, StoredFile},
    id::{DocumentId, JobId},
    job::{Job, JobKind},
    text::{FileName, Title},
    trace::TraceParent,
};
use docent_ports::{
    blob_store::BlobWriter,
    error::{Component, Fault, FaultKind},
};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tracing::Instrument;

/// An upload under way. Dropping it forgets it.
#[allow(missing_debug_implementations, reason = "writers have no debug form")]
pub struct Upload {
    app: Arc<App>,
    grant: Grant<AddDocuments>,
    id: DocumentId,
    name: FileName,
    writer: Box<dyn BlobWriter>,
    bytes: u64,
    digest: Sha256,
    trace: Option<TraceParent>,
}

/// Begins to take in a file. `name` and `content_type` are what the client says; the type's parameters
/// do not count.
///
/// # Errors
/// [`Error::NotAPdf`] for another content type; or when the blob store cannot be reached.
pub async fn begin(
    app: &Arc<App>,
    grant: Grant<AddDocuments>,
    name: &str,
    content_type: &str,
) -> Result<Upload> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/pdf") {
        return Err(Error::NotAPdf);
    }
    let id = app.new_id(DocumentId::generate);
    let writer = app.blobs.create(&BlobKey::of_document(id)).await?;
    Ok(Upload {
        app: Arc::clone(app),
        grant,
        id,
        name: FileName::sanitize(name),
        writer,
        bytes: 0,
        digest: Sha256::new(),
        trace: None,
    })
}

impl Upload {
    /// Makes the ingestion part of this trace.
    #[must_use]
    pub fn traced(self, trace: Option<TraceParent>) -> Self {
        Self { trace, ..self }
    }

    /// Takes in the next bytes.
    ///
    /// # Errors
    /// [`Error::FileTooLarge`], or when the blob store does not take them. Call [`Self::abort`] then.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes += bytes.len() as u64;
        let limit = self.app.settings.max_upload_bytes;
        if self.bytes > limit {
            return Err(Error::FileTooLarge { limit });
        }
        self.digest.update(&bytes);
        Ok(self.writer.write(bytes).await?)
    }

    /// Makes the file a document, `pending`, with a job that will ingest it. Once begun it goes on to
    /// its end even when the caller stops waiting: a file is never left without its record.
    ///
    /// # Errors
    /// When the blob store or the database does not work; then there is no document.
    pub async fn finish(self) -> Result<Document> {
        tokio::spawn(self.complete().in_current_span()).await.map_err(|error| {
            Fault::new(Component::Service, FaultKind::Internal, "the end of an upload").caused_by(error)
        })?
    }

    async fn complete(self) -> Result<Document> {
        let Self { app, grant, id, name, writer, bytes, digest, trace } = self;
        writer.finish().await?;
        let now = app.clock.now();
        let file =
            StoredFile { blob: BlobKey::of_document(id), name, bytes, sha256: digest.finalize().into() };
        let document = Document::new(id, grant.user(), Title::of_file(&file.name), Some(file), now);
        let job = Job::new(app.new_id(JobId::generate), JobKind::Ingest, id, document.owner, now);
        let job = Job { trace, ..job };
        if let Err(error) = record(&app, &grant, &document, &job).await {
            // The commit may have worked although its answer was lost: the file stays unless the
            // record is known to be missing.
            if let Ok(mut view) = app.store.read().await
                && let Ok(None) = view.documents().get(id).await
            {
                discard(&app, id).await;
            }
            return Err(error);
        }
        app.work.notify_one();
        Ok(document)
    }

    /// Forgets the upload and frees what it took.
    pub async fn abort(self) {
        if let Err(fault) = self.writer.abort().await {
            self.app.note(&fault);
            tracing::warn!(document = %self.id, fault = %fault.report(), "an abandoned upload could not be removed");
        }
    }
}

async fn record(app: &App, grant: &Grant<AddDocuments>, document: &Document, job: &Job) -> Result<()> {
    let mut work = app.store.begin().await?;
    // A large file takes its time, in which its account may have been shut out or removed.
    let owner = work.users().get(grant.user()).await?;
    owner.filter(|user| user.is_active).ok_or(Error::Unauthenticated)?;
    work.documents().insert(document).await?;
    work.jobs().insert(job).await?;
    let bytes = document.file.as_ref().map(|file| file.bytes.to_string());
    let changes = Changes::default().field("bytes", None, bytes);
    let (by, subject) = (By::holder(grant), Subject::document(document));
    app.auditor().write(&mut *work, &by, AuditAction::Add, subject, changes).await?;
    Ok(work.commit().await?)
}

async fn discard(app: &App, id: DocumentId) {
    if let Err(fault) = app.blobs.delete(&BlobKey::of_document(id)).await {
        app.note(&fault);
        tracing::warn!(document = %id, fault = %fault.report(), "the file of a refused upload could not be removed");
    }
}
