//! Vector stores, their files and batches in responses.

use super::chunking::ChunkingObject;
use crate::openai::ids;
use crate::selection::attributes_json;
use chrono::{DateTime, Utc};
use docent_app::App;
use docent_app::collections::metadata::DescribedCollection;
use docent_app::documents::batches::{self, BatchProgress};
use docent_app::error::Error;
use docent_domain::chunk::ChunkSize;
use docent_domain::document::{Document, DocumentState, Failure, FailureCode};
use docent_domain::id::CollectionId;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Numbers of files by status.
#[derive(Clone, Copy, Serialize, ToSchema)]
pub(crate) struct FileCountsObject {
    /// Files that are not yet searchable.
    in_progress: u64,
    /// Searchable files.
    completed: u64,
    /// Files whose ingestion failed.
    failed: u64,
    /// Files of a batch that were deleted or taken out of the vector store.
    cancelled: u64,
    /// All files.
    total: u64,
}

impl FileCountsObject {
    const fn new([in_progress, completed, failed, cancelled]: [u64; 4]) -> Self {
        let total = in_progress + completed + failed + cancelled;
        Self { in_progress, completed, failed, cancelled, total }
    }
}

/// When a vector store expires.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExpiryObject {
    /// Always `last_active_at`.
    anchor: &'static str,
    /// Number of days.
    days: u32,
}

/// A vector store.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e", "object": "vector_store", "created_at": 1_767_225_600, "name": "Contracts",
    "description": "", "usage_bytes": 120_000,
    "file_counts": { "in_progress": 0, "completed": 1, "failed": 0, "cancelled": 0, "total": 1 },
    "status": "completed", "expires_after": null, "expires_at": null, "last_active_at": 1_767_225_600, "metadata": {},
}))]
pub(crate) struct StoreObject {
    /// ID of the collection, with `vs_` instead of hyphens.
    #[schema(pattern = "^vs_[0-9a-f]{32}$")]
    pub(in crate::openai) id: String,
    /// Always `vector_store`.
    object: &'static str,
    /// Creation time in seconds since 1970.
    created_at: i64,
    /// Name of the collection.
    name: String,
    /// Description of the collection.
    description: String,
    /// Sum of the sizes of its files in bytes.
    usage_bytes: u64,
    /// Its files.
    file_counts: FileCountsObject,
    /// `expired`, `in_progress` while a file is not yet searchable, or `completed`.
    #[schema(pattern = "^(expired|in_progress|completed)$")]
    status: &'static str,
    /// When it expires, if it does.
    #[schema(required)]
    expires_after: Option<ExpiryObject>,
    /// Time of expiry in seconds since 1970.
    #[schema(required)]
    expires_at: Option<i64>,
    /// Last use in seconds since 1970. Of vector stores that expire it is recorded to the hour.
    last_active_at: i64,
    /// Texts of the client.
    metadata: BTreeMap<String, String>,
}

impl StoreObject {
    /// A vector store as it is now.
    pub(crate) fn new(described: DescribedCollection, now: DateTime<Utc>) -> Self {
        let DescribedCollection { collection, metadata, files } = described;
        let counts = files.documents;
        let status = match counts.pending {
            _ if metadata.is_expired(now) => "expired",
            0 => "completed",
            _ => "in_progress",
        };
        let days = metadata.expires_after_days;
        Self {
            id: ids::encode(collection.id),
            object: "vector_store",
            created_at: collection.created_at.timestamp(),
            name: collection.name.as_str().to_owned(),
            description: collection.description.as_str().to_owned(),
            usage_bytes: files.bytes,
            file_counts: FileCountsObject::new([counts.pending, counts.ingested, counts.failed, 0]),
            status,
            expires_after: days.map(|days| ExpiryObject { anchor: "last_active_at", days }),
            expires_at: metadata.expires_at().map(|at| at.timestamp()),
            last_active_at: metadata.last_active_at.timestamp(),
            metadata: metadata.entries.entries().clone(),
        }
    }
}

/// The answer to a deletion or a detachment.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedObject {
    /// ID of the object.
    id: String,
    /// `vector_store.deleted` or `vector_store.file.deleted`.
    object: &'static str,
    /// Always true.
    deleted: bool,
}

impl DeletedObject {
    /// The answer for an object.
    pub(crate) const fn new(id: String, object: &'static str) -> Self {
        Self { id, object, deleted: true }
    }
}

/// Why a file failed.
#[derive(Serialize, ToSchema)]
pub(crate) struct LastError {
    /// `unsupported_file`, `invalid_file` or `server_error`.
    #[schema(pattern = "^(unsupported_file|invalid_file|server_error)$")]
    code: &'static str,
    /// Sentence for people.
    message: String,
}

impl From<&Failure> for LastError {
    fn from(failure: &Failure) -> Self {
        use FailureCode as Code;
        let code = match failure.code {
            Code::NotAPdf
            | Code::WrongFileType
            | Code::PasswordRequired
            | Code::NoText
            | Code::UnmappedText => "unsupported_file",
            Code::Unreadable
            | Code::Empty
            | Code::TooLarge
            | Code::TooManyPages
            | Code::TooMuchText
            | Code::TooManyChunks
            | Code::ExtractionTimeout
            | Code::ExtractionMemory
            | Code::ExtractionCrashed => "invalid_file",
            Code::Recognition
            | Code::FileMissing
            | Code::Storage
            | Code::Embedding
            | Code::Indexing
            | Code::Interrupted
            | Code::Internal => "server_error",
        };
        Self { code, message: failure.reason.clone() }
    }
}

/// A file of a vector store.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e", "object": "vector_store.file", "created_at": 1_767_225_600,
    "usage_bytes": 120_000, "vector_store_id": "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e", "status": "completed",
    "last_error": null, "attributes": { "year": 2025 },
    "chunking_strategy": { "type": "static", "static": { "max_chunk_size_tokens": 512, "chunk_overlap_tokens": 50 } },
}))]
pub(crate) struct StoreFileObject {
    /// ID of the file.
    #[schema(pattern = "^file-[0-9a-f]{32}$")]
    pub(in crate::openai) id: String,
    /// Always `vector_store.file`.
    object: &'static str,
    /// Creation time of the file in seconds since 1970.
    created_at: i64,
    /// Size of the file in bytes.
    usage_bytes: u64,
    /// ID of the vector store.
    vector_store_id: String,
    /// `in_progress`, `completed`, `failed` or, of a file that a cancelled batch did not add, `cancelled`.
    #[schema(pattern = "^(in_progress|completed|failed|cancelled)$")]
    pub(super) status: &'static str,
    /// Why ingestion failed.
    #[schema(required)]
    last_error: Option<LastError>,
    /// Attributes of the document, the same in all of its vector stores.
    attributes: Map<String, Value>,
    /// How the service splits files.
    chunking_strategy: ChunkingObject,
}

/// Status of a file that is not yet searchable in its vector store.
pub(super) const IN_PROGRESS: &str = "in_progress";
/// Status of a file that a cancelled batch did not add.
pub(super) const CANCELLED: &str = "cancelled";

impl StoreFileObject {
    /// A file of a vector store, with whether searches find it there once it is ingested.
    fn new(document: &Document, collection: CollectionId, size: ChunkSize, is_searchable: bool) -> Self {
        let (status, last_error) = match &document.state {
            DocumentState::Pending(_) => (IN_PROGRESS, None),
            DocumentState::Ingested(_) if !is_searchable => (IN_PROGRESS, None),
            DocumentState::Ingested(_) => ("completed", None),
            DocumentState::Failed(failed) => ("failed", Some(LastError::from(&failed.failure))),
        };
        Self {
            id: ids::encode(document.id),
            object: "vector_store.file",
            created_at: document.created_at.timestamp(),
            usage_bytes: document.file.as_ref().map_or(0, |file| file.bytes),
            vector_store_id: ids::encode(collection),
            status,
            last_error,
            attributes: attributes_json(&document.attributes),
            chunking_strategy: ChunkingObject::from(size),
        }
    }

    /// Files of a vector store.
    ///
    /// # Errors
    /// When the database cannot be reached.
    pub(super) async fn all(
        app: &App,
        documents: &[Document],
        collection: CollectionId,
    ) -> Result<Vec<Self>, Error> {
        let (waiting, size) = (batches::not_yet_searchable(app, documents).await?, app.settings().chunk_size);
        let file =
            |document: &Document| Self::new(document, collection, size, !waiting.contains(&document.id));
        Ok(documents.iter().map(file).collect())
    }

    /// The same file, as one that a cancelled batch did not add.
    pub(super) fn cancelled(self) -> Self {
        Self { status: CANCELLED, last_error: None, ..self }
    }
}

/// A batch of files.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "vsfb_01920f3e5b7a7c3d9e214f6a8b0c2d4e", "object": "vector_store.files_batch", "created_at": 1_767_225_600,
    "vector_store_id": "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e", "status": "in_progress",
    "file_counts": { "in_progress": 1, "completed": 1, "failed": 0, "cancelled": 0, "total": 2 },
}))]
pub(crate) struct BatchObject {
    /// ID of the batch.
    #[schema(pattern = "^vsfb_[0-9a-f]{32}$")]
    id: String,
    /// Always `vector_store.files_batch`.
    object: &'static str,
    /// Creation time in seconds since 1970.
    created_at: i64,
    /// ID of the vector store.
    vector_store_id: String,
    /// `in_progress`, `completed`, `cancelled`, or `failed` if all files failed.
    #[schema(pattern = "^(in_progress|completed|cancelled|failed)$")]
    pub(super) status: &'static str,
    /// Its files.
    file_counts: FileCountsObject,
}

impl From<&BatchProgress> for BatchObject {
    fn from(progress: &BatchProgress) -> Self {
        let (batch, counts) = (&progress.batch, progress.counts);
        let status = match counts.pending {
            _ if batch.is_cancelled => CANCELLED,
            1.. => IN_PROGRESS,
            0 if counts.failed == batch.files.len() as u64 => "failed",
            0 => "completed",
        };
        Self {
            id: ids::encode(batch.id),
            object: "vector_store.files_batch",
            created_at: batch.created_at.timestamp(),
            vector_store_id: ids::encode(batch.collection),
            status,
            file_counts: FileCountsObject::new([
                counts.pending,
                counts.ingested,
                counts.failed,
                progress.cancelled(),
            ]),
        }
    }
}
