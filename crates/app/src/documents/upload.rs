//! Uploads a file.
//!
//! The bytes are streamed to the blob store. The record and its ingestion job are then written in one transaction: an
//! acknowledged upload is never lost, and a failed one leaves no record.

use crate::audit::{AuditTarget, Changes, Initiator};
use crate::error::{Error, Result};
use crate::{App, limits};
use bytes::Bytes;
use docent_domain::access::{AddDocuments, Grant};
use docent_domain::attributes::Attributes;
use docent_domain::audit::AuditAction;
use docent_domain::collection::CollectionRole;
use docent_domain::document::{BlobKey, Document, StoredFile};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{CollectionId, DocumentId, JobId};
use docent_domain::job::{Job, JobKind};
use docent_domain::text::{FileName, Title};
use docent_domain::trace::TraceParent;
use docent_ports::blob_store::BlobWriter;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tracing::Instrument;

/// An upload in progress. Dropping it discards it.
#[allow(missing_debug_implementations, reason = "writers have no debug form")]
pub struct Upload {
    app: Arc<App>,
    grant: Grant<AddDocuments>,
    collection: CollectionId,
    attributes: Attributes,
    id: DocumentId,
    name: FileName,
    writer: Box<dyn BlobWriter>,
    bytes: u64,
    /// How many bytes the account can still store; `None` for any number.
    room: Option<u64>,
    digest: Sha256,
    trace: Option<TraceParent>,
}

/// Begins an upload into a collection, which [`destination`](crate::collections::destination) returned, with the file name and content type that the client sent. Parameters of the content type are
/// ignored. The file has at least `expected` bytes.
///
/// # Errors
/// [`Error::NotPdf`] for another content type; [`Error::LimitReached`]; or when a store cannot be reached.
pub async fn begin(
    app: &Arc<App>,
    grant: Grant<AddDocuments>,
    collection: CollectionId,
    name: &str,
    content_type: &str,
    expected: u64,
) -> Result<Upload> {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    if !essence.eq_ignore_ascii_case("application/pdf") {
        return Err(Error::NotPdf);
    }
    let room = limits::check_upload(app, &grant, expected).await?;
    let id = app.new_id(DocumentId::generate);
    let writer = app.blobs.create(&BlobKey::of_document(id)).await?;
    Ok(Upload {
        app: Arc::clone(app),
        grant,
        collection,
        attributes: Attributes::default(),
        id,
        name: FileName::sanitize(name),
        writer,
        bytes: 0,
        room,
        digest: Sha256::new(),
        trace: None,
    })
}

impl Upload {
    /// Sets the trace that the ingestion belongs to.
    #[must_use]
    pub fn traced(self, trace: Option<TraceParent>) -> Self {
        Self { trace, ..self }
    }

    /// Sets the attributes of the document.
    #[must_use]
    pub fn with_attributes(self, attributes: Attributes) -> Self {
        Self { attributes, ..self }
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// [`Error::FileTooLarge`], [`Error::LimitReached`], or when the blob store fails. Call [`Self::abort`] then.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes += bytes.len() as u64;
        let limit = self.app.settings.max_upload_bytes;
        if self.bytes > limit {
            return Err(Error::FileTooLarge { limit });
        }
        if self.room.is_some_and(|room| self.bytes > room) {
            let max = self.grant.limits().or(self.app.settings.account_limits).stored_bytes;
            return Err(limits::storage_full(max));
        }
        self.digest.update(&bytes);
        Ok(self.writer.write(bytes).await?)
    }

    /// Creates a pending document for the file, with its ingestion job. Runs to completion even if the caller stops
    /// waiting, so that no file is left without its record.
    ///
    /// # Errors
    /// When the blob store or the database fails; no document is created then.
    pub async fn finish(self) -> Result<Document> {
        tokio::spawn(self.complete().in_current_span()).await.map_err(|error| {
            Fault::new(Component::Service, FaultKind::Internal, "finishing an upload failed").caused_by(error)
        })?
    }

    async fn complete(self) -> Result<Document> {
        let Self { app, grant, collection, attributes, id, name, writer, bytes, digest, trace, .. } = self;
        writer.finish().await?;
        let now = app.now();
        let file =
            StoredFile { blob: BlobKey::of_document(id), name, bytes, sha256: digest.finalize().into() };
        let title = Title::of_file(&file.name);
        let document = Document::new(id, grant.user(), collection, title, Some(file), now);
        let document = Document { attributes, ..document };
        let job = Job::new(app.new_id(JobId::generate), JobKind::Ingest, id, document.owner, now);
        let job = Job { trace, ..job };
        if let Err(error) = record(&app, &grant, &document, &job).await {
            // The commit may have succeeded although it reported an error: the file is removed only if the record
            // is known to be missing.
            if let Ok(mut view) = app.store.read().await
                && let Ok(None) = view.documents().get(id).await
            {
                discard(&app, id).await;
            }
            return Err(error);
        }
        app.process.new_jobs.notify_one();
        Ok(document)
    }

    /// Discards the upload and its bytes.
    pub async fn abort(self) {
        if let Err(fault) = self.writer.abort().await {
            self.app.note(&fault);
            tracing::warn!(document = %self.id, fault = %fault.report(), "the file of an aborted upload could not be removed");
        }
    }
}

async fn record(app: &App, grant: &Grant<AddDocuments>, document: &Document, job: &Job) -> Result<()> {
    let mut work = app.store.begin().await?;
    // The account may have been deactivated or deleted during a long upload.
    let owner = work.users().get(grant.user()).await?;
    let owner = owner.filter(|user| user.is_active).ok_or(Error::Unauthenticated)?;
    // It may have lost its role on the collection meanwhile.
    let roles = work.collections().roles(owner.id).await?;
    let personal = CollectionId::personal(owner.id);
    let can_add = |id: &CollectionId| {
        *id == personal || roles.iter().any(|(of, role)| of == id && *role >= CollectionRole::Contributor)
    };
    if !document.collections.iter().all(can_add) {
        return Err(Error::Forbidden);
    }
    let bytes = document.file.as_ref().map_or(0, |file| file.bytes);
    limits::check_stored(app, &mut *work, &owner, bytes).await?;
    work.documents().insert(document).await?;
    work.jobs().insert(job).await?;
    let bytes = document.file.as_ref().map(|file| file.bytes.to_string());
    let changes = Changes::default().field("bytes", None, bytes);
    let (initiator, target) = (Initiator::grantee(grant), AuditTarget::document(document));
    app.audit(&mut *work, &initiator, AuditAction::Add, target, changes).await?;
    Ok(work.commit().await?)
}

async fn discard(app: &App, id: DocumentId) {
    if let Err(fault) = app.blobs.delete(&BlobKey::of_document(id)).await {
        app.note(&fault);
        tracing::warn!(document = %id, fault = %fault.report(), "the file of a rejected upload could not be removed");
    }
}
