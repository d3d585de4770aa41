//! Responses with documents.

use docent_domain::document::{Document, DocumentState};
use serde::Serialize;
use utoipa::ToSchema;

/// A document.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "title": "Terms.pdf",
    "status": "pending",
    "vector_doc_id": null,
}))]
pub(crate) struct DocumentResponse<'a> {
    /// ID of the document.
    #[schema(format = "uuid")]
    id: String,
    /// Title, or the name of the file.
    #[schema(min_length = 1, max_length = 500)]
    title: &'a str,
    /// `pending` until the file is ingested, then `ingested` or `failed`.
    status: DocumentStatus,
    /// ID in the vector store once the document is `ingested`: equal to `id`.
    #[schema(required, max_length = 200)]
    vector_doc_id: Option<&'a str>,
}

/// Status of a document.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DocumentStatus {
    /// Waiting for ingestion, or created without a file.
    Pending,
    /// Searchable.
    Ingested,
    /// Ingestion failed.
    Failed,
}

impl From<&DocumentState> for DocumentStatus {
    fn from(state: &DocumentState) -> Self {
        match state {
            DocumentState::Pending(_) => Self::Pending,
            DocumentState::Ingested(_) => Self::Ingested,
            DocumentState::Failed(_) => Self::Failed,
        }
    }
}

impl<'a> From<&'a Document> for DocumentResponse<'a> {
    fn from(document: &'a Document) -> Self {
        Self {
            id: document.id.to_string(),
            title: document.title.as_str(),
            status: (&document.state).into(),
            vector_doc_id: document.state.vector_doc_id().map(|id| id.as_str()),
        }
    }
}
