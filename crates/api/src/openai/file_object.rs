//! A file in responses.

use super::ids;
use docent_domain::document::{Document, DocumentState};
use docent_domain::file_batch::FilePurpose;
use serde::Serialize;
use utoipa::ToSchema;

/// A file.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e",
    "object": "file",
    "bytes": 120_000,
    "created_at": 1_767_225_600,
    "filename": "Terms.pdf",
    "purpose": "assistants",
    "status": "processed",
    "status_details": null,
}))]
pub(crate) struct FileObject {
    /// ID of the document, with `file-` instead of hyphens.
    #[schema(pattern = "^file-[0-9a-f]{32}$")]
    pub(super) id: String,
    /// Always `file`.
    object: &'static str,
    /// Size in bytes.
    bytes: u64,
    /// Creation time in seconds since 1970.
    created_at: i64,
    /// Name of the file.
    filename: String,
    /// `assistants` or `user_data`.
    #[schema(pattern = "^(assistants|user_data)$")]
    purpose: &'static str,
    /// `uploaded` until the file is ingested, then `processed` or `error`.
    #[schema(pattern = "^(uploaded|processed|error)$")]
    status: &'static str,
    /// Why ingestion failed.
    #[schema(required)]
    status_details: Option<String>,
}

impl FileObject {
    /// The file of a document; `None` for one without a file.
    pub(crate) fn of(document: &Document, purpose: FilePurpose) -> Option<Self> {
        let file = document.file.as_ref()?;
        let (status, status_details) = match &document.state {
            DocumentState::Pending(_) => ("uploaded", None),
            DocumentState::Ingested(_) => ("processed", None),
            DocumentState::Failed(failed) => ("error", Some(failed.failure.reason.clone())),
        };
        Some(Self {
            id: ids::encode(document.id),
            object: "file",
            bytes: file.bytes,
            created_at: document.created_at.timestamp(),
            filename: file.name.as_str().to_owned(),
            purpose: purpose.name(),
            status,
            status_details,
        })
    }
}

/// The answer to the deletion of a file.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedFile {
    /// ID of the file.
    id: String,
    /// Always `file`.
    object: &'static str,
    /// Always true.
    deleted: bool,
}

impl DeletedFile {
    /// The answer for a file.
    pub(crate) fn new(id: String) -> Self {
        Self { id, object: "file", deleted: true }
    }
}
