//! Uploads a file, for a new document or as the next version of one.
//!
//! The bytes are streamed to the blob store. The record and its ingestion job are then written in one transaction: an
//! acknowledged upload is never lost, and a failed one leaves no record.

use super::external::{self, NewExternalFile};
use super::replace::{self, NewVersion};
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
use docent_domain::file_batch::FilePurpose;
use docent_domain::file_type::{FileType, HEAD_BYTES, conversion, detect};
use docent_domain::id::{CollectionId, DocumentId, JobId, UserId, VersionId};
use docent_domain::job::{Job, JobKind};
use docent_domain::limits::AccountLimits;
use docent_domain::scope::Scope;
use docent_domain::text::{FileName, Title};
use docent_domain::trace::TraceParent;
use docent_ports::blob_store::BlobWriter;
use docent_ports::store::UnitOfWork;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use tracing::Instrument;

/// What an uploaded file is for.
#[derive(Clone, Debug)]
pub enum UploadTarget {
    /// A new document.
    New(NewDocument),
    /// A new version of a document.
    Version(NewVersion),
}

/// The document that an upload makes.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// The right to add it.
    pub grant: Grant<AddDocuments>,
    /// Its collection, which [`destination`](crate::collections::destination) returned.
    pub collection: CollectionId,
    /// Its attributes.
    pub attributes: Attributes,
    /// Whether the oldest document of the collection with an equal file is returned instead, if there is one.
    pub returns_duplicate: bool,
    /// What the client says that the file is for, if it does.
    pub purpose: Option<FilePurpose>,
    /// The ID that the client gave the file, if it did. A document of the account with this ID gets the file as its next version instead.
    pub external: Option<NewExternalFile>,
    /// Whether the content type that the client sends does not matter, not even where PDF alone is accepted.
    pub ignores_content_type: bool,
}

impl From<NewDocument> for UploadTarget {
    fn from(document: NewDocument) -> Self {
        Self::New(document)
    }
}

impl From<NewVersion> for UploadTarget {
    fn from(version: NewVersion) -> Self {
        Self::Version(version)
    }
}

impl NewDocument {
    /// A document without attributes in a collection.
    pub fn new(grant: Grant<AddDocuments>, collection: CollectionId) -> Self {
        Self {
            grant,
            collection,
            attributes: Attributes::default(),
            returns_duplicate: false,
            purpose: None,
            external: None,
            ignores_content_type: false,
        }
    }
}

/// The document that an upload made, changed or found.
#[derive(Clone, Debug)]
pub struct Uploaded {
    /// The document.
    pub document: Document,
    /// Whether it had an equal file already and was returned instead of a new one.
    pub is_duplicate: bool,
}

/// An upload in progress. Dropping it discards it.
#[allow(missing_debug_implementations, reason = "writers have no debug form")]
pub struct Upload {
    app: Arc<App>,
    target: UploadTarget,
    version: VersionId,
    name: FileName,
    writer: Box<dyn BlobWriter>,
    bytes: u64,
    /// How many bytes the account can still store, and its limit; `None` for any number.
    room: Option<(u64, u64)>,
    digest: Sha256,
    kind: Kind,
    trace: Option<TraceParent>,
}

/// What is known of the type of the uploaded file.
enum Kind {
    Known(FileType),
    /// The beginning of the file.
    Unknown(Vec<u8>),
}

/// Begins an upload with the file name and content type that the client sent. The file has at least `expected` bytes.
///
/// The content type matters only where PDF alone is accepted, and its parameters are ignored. Otherwise the content decides.
///
/// # Errors
/// [`Error::UnsupportedFileType`] for another content type; [`Error::LimitReached`]; or when a store cannot be reached.
pub async fn begin(
    app: &Arc<App>,
    target: impl Into<UploadTarget>,
    name: &str,
    content_type: &str,
    expected: u64,
) -> Result<Upload> {
    let accepted = app.settings.upload_types;
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let target = target.into();
    let is_known = accepted.is_pdf_only() && !target.ignores_content_type();
    if is_known && !essence.eq_ignore_ascii_case(FileType::Pdf.media_type()) {
        return Err(Error::UnsupportedFileType { accepted, conversion: conversion(name) });
    }
    let (account, limits) = target.account();
    let room = limits::check_upload(app, account, limits, expected).await?;
    let version = app.new_id(VersionId::generate);
    let writer = app.blobs.create(&BlobKey::of_version(version)).await?;
    Ok(Upload {
        app: Arc::clone(app),
        target,
        version,
        name: FileName::sanitize(name),
        writer,
        bytes: 0,
        room,
        digest: Sha256::new(),
        kind: if is_known { Kind::Known(FileType::Pdf) } else { Kind::Unknown(Vec::new()) },
        trace: None,
    })
}

impl Upload {
    /// Sets the trace that the ingestion belongs to.
    #[must_use]
    pub fn traced(self, trace: Option<TraceParent>) -> Self {
        Self { trace, ..self }
    }

    /// Sets the purpose of a new document's file.
    #[must_use]
    pub fn for_purpose(mut self, purpose: FilePurpose) -> Self {
        if let UploadTarget::New(new) = &mut self.target {
            new.purpose = Some(purpose);
        }
        self
    }

    /// Sets the ID that the client gave a new document's file.
    #[must_use]
    pub fn with_external(mut self, file: NewExternalFile) -> Self {
        if let UploadTarget::New(new) = &mut self.target {
            new.external = Some(file);
        }
        self
    }

    /// Writes the next bytes.
    ///
    /// # Errors
    /// [`Error::FileTooLarge`], [`Error::LimitReached`], [`Error::UnsupportedFileType`], or when the blob store fails. Call [`Self::abort`] then.
    pub async fn write(&mut self, bytes: Bytes) -> Result<()> {
        self.bytes += bytes.len() as u64;
        let limit = self.app.settings.max_upload_bytes;
        if self.bytes > limit {
            return Err(Error::FileTooLarge { limit });
        }
        if let Some((room, max)) = self.room
            && self.bytes > room
        {
            return Err(limits::storage_full(max));
        }
        if let Kind::Unknown(head) = &mut self.kind {
            head.extend_from_slice(&bytes[..bytes.len().min(HEAD_BYTES - head.len())]);
            if head.len() == HEAD_BYTES {
                self.file_type()?;
            }
        }
        self.digest.update(&bytes);
        Ok(self.writer.write(bytes).await?)
    }

    /// Determines the type of the file by what has been received.
    fn file_type(&mut self) -> Result<FileType> {
        let head = match &self.kind {
            Kind::Known(file_type) => return Ok(*file_type),
            Kind::Unknown(head) => head,
        };
        let accepted = self.app.settings.upload_types;
        let file_type = detect(head, self.name.as_str()).filter(|of| accepted.contains(*of));
        let unsupported =
            || Error::UnsupportedFileType { accepted, conversion: conversion(self.name.as_str()) };
        let file_type = file_type.ok_or_else(unsupported)?;
        self.kind = Kind::Known(file_type);
        Ok(file_type)
    }

    /// Records the file and queues its ingestion. Runs to completion even if the caller stops waiting, so that no file is left
    /// without its record.
    ///
    /// # Errors
    /// As [`replace::begin`] for a new version; [`Error::UnsupportedFileType`]; or when the blob store or the database fails. Nothing is changed then.
    pub async fn finish(self) -> Result<Uploaded> {
        tokio::spawn(self.complete().in_current_span()).await.map_err(|error| {
            Fault::new(Component::Service, FaultKind::Internal, "finishing an upload failed").caused_by(error)
        })?
    }

    /// Completes the file, which has no record yet.
    pub(super) async fn store(mut self) -> Result<(Arc<App>, VersionId, StoredFile)> {
        let file_type = match self.file_type() {
            Ok(file_type) => file_type,
            Err(error) => {
                self.abort().await;
                return Err(error);
            }
        };
        let Self { app, version, name, writer, bytes, digest, .. } = self;
        writer.finish().await?;
        let blob = BlobKey::of_version(version);
        let file = StoredFile { blob, name, bytes, sha256: digest.finalize().into(), file_type };
        Ok((app, version, file))
    }

    async fn complete(mut self) -> Result<Uploaded> {
        let (target, trace) = (self.target.clone(), self.trace.take());
        let (app, version, file) = self.store().await?;
        let recorded = match target {
            UploadTarget::New(new) => record_new(&app, new, version, file, trace).await,
            UploadTarget::Version(target) => replace::record(&app, &target, version, file, trace)
                .await
                .map(|document| Uploaded { document, is_duplicate: false }),
        };
        // A commit may have succeeded although it reported an error: the file is removed only if the record is known to be
        // missing.
        let is_unused = match &recorded {
            Ok(uploaded) => uploaded.is_duplicate,
            Err(_) => is_unknown(&app, version).await,
        };
        if is_unused {
            discard(&app, version).await;
        }
        if recorded.as_ref().is_ok_and(|uploaded| !uploaded.is_duplicate) {
            app.process.new_jobs.notify_one();
        }
        recorded
    }

    /// Discards the upload and its bytes.
    pub async fn abort(self) {
        if let Err(fault) = self.writer.abort().await {
            self.app.note(&fault);
            tracing::warn!(version = %self.version, fault = %fault.report(), "the file of an aborted upload could not be removed");
        }
    }
}

impl UploadTarget {
    const fn ignores_content_type(&self) -> bool {
        matches!(self, Self::New(NewDocument { ignores_content_type: true, .. }))
    }

    /// The account that uploads, and its limits.
    fn account(&self) -> (UserId, AccountLimits) {
        match self {
            Self::New(new) => (new.grant.user(), new.grant.limits()),
            Self::Version(new) => (new.grant.user(), new.grant.limits()),
        }
    }
}

/// The outcome of recording the file of a new document.
enum Recorded {
    /// The document was added or found.
    Done(Box<Uploaded>),
    /// A document has this ID of the file, which is to be its next version.
    Replaces(DocumentId, NewExternalFile),
}

async fn record_new(
    app: &App,
    new: NewDocument,
    version: VersionId,
    file: StoredFile,
    trace: Option<TraceParent>,
) -> Result<Uploaded> {
    match record(app, new, version, file.clone(), trace.clone()).await? {
        Recorded::Done(uploaded) => Ok(*uploaded),
        Recorded::Replaces(id, external) => {
            let target = replace::begin(app, &external.actor, id).await?.with_external(external);
            let document = replace::record(app, &target, version, file, trace).await?;
            Ok(Uploaded { document, is_duplicate: false })
        }
    }
}

async fn record(
    app: &App,
    new: NewDocument,
    version: VersionId,
    file: StoredFile,
    trace: Option<TraceParent>,
) -> Result<Recorded> {
    let NewDocument { grant, collection, attributes, returns_duplicate, purpose, external, .. } = new;
    let mut work = app.store.begin().await?;
    // The account may have been deactivated or deleted during a long upload.
    let owner = work.users().get(grant.user()).await?;
    let owner = owner.filter(|user| user.is_active).ok_or(Error::Unauthenticated)?;
    // It may have lost its role on the collection meanwhile.
    let roles = work.collections().roles(owner.id).await?;
    let mut roles = roles.iter().filter(|(of, _)| *of == collection);
    let is_writable = roles.any(|(_, role)| role >= CollectionRole::Contributor);
    if collection != CollectionId::personal(owner.id) && !is_writable {
        return Err(Error::Forbidden);
    }
    if returns_duplicate && let Some(document) = duplicate(&mut *work, &file, collection).await? {
        return Ok(Recorded::Done(Box::new(Uploaded { document, is_duplicate: true })));
    }
    // The lock of the account excludes another upload with the same ID.
    if let Some(external) = &external
        && let Some(document) = external::of_owner(&mut *work, owner.id, &external.id).await?
    {
        return Ok(Recorded::Replaces(document, external.clone()));
    }
    limits::check_stored(app, &mut *work, &owner, file.bytes).await?;
    let now = app.now();
    let bytes = file.bytes;
    // The first version has the ID of the document.
    let id = DocumentId::from_uuid(version.as_uuid());
    let title = Title::of_file(&file.name);
    let document = Document::new(id, owner.id, collection, title, Some(file), now);
    let document = Document { attributes, ..document };
    let job = Job::new(app.new_id(JobId::generate), JobKind::Ingest, id, document.owner, now);
    work.documents().insert(&document).await?;
    if let Some(purpose) = purpose.filter(|purpose| *purpose != FilePurpose::default()) {
        work.documents().set_purpose(id, purpose).await?;
    }
    if let Some(external) = &external {
        work.documents().set_external_file(&external.of_document(id)).await?;
    }
    work.jobs().insert(&Job { trace, ..job }).await?;
    let mut changes = Changes::default().added("bytes", bytes);
    if let Some(NewExternalFile { id, entity, .. }) = &external {
        let entity = entity.as_ref().map(ToString::to_string);
        changes = changes.added("external_id", id).field("entity", None, entity);
    }
    let (initiator, target) = (Initiator::grantee(&grant), AuditTarget::document(&document));
    app.audit(&mut *work, &initiator, AuditAction::Add, target, changes).await?;
    work.commit().await?;
    Ok(Recorded::Done(Box::new(Uploaded { document, is_duplicate: false })))
}

/// The oldest document of a collection with an equal file.
async fn duplicate(
    work: &mut dyn UnitOfWork,
    file: &StoredFile,
    collection: CollectionId,
) -> Result<Option<Document>> {
    let Some(scope) = Scope::SERVICE.within(&[collection]) else { return Ok(None) };
    Ok(work.documents().with_equal_file(&file.sha256, &scope).await?)
}

/// Whether the version is known to have no record.
async fn is_unknown(app: &App, version: VersionId) -> bool {
    let statuses = async { app.store.read_latest().await?.inventory().statuses(&[version]).await };
    statuses.await.is_ok_and(|statuses| statuses.is_empty())
}

async fn discard(app: &App, version: VersionId) {
    if let Err(fault) = app.blobs.delete(&BlobKey::of_version(version)).await {
        app.note(&fault);
        tracing::warn!(%version, fault = %fault.report(), "the file of a rejected upload could not be removed");
    }
}
