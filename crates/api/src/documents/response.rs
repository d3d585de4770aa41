//! Responses with documents.

use crate::selection::CollectionRef;
use docent_app::documents::access::DocumentAccess;
use docent_domain::document::{Document, DocumentState};
use docent_domain::id::CollectionId;
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
    pub(super) id: String,
    /// Title, or the name of the file.
    #[schema(min_length = 1, max_length = 500)]
    pub(super) title: &'a str,
    /// `pending` until the file is ingested, then `ingested` or `failed`.
    pub(super) status: DocumentStatus,
    /// ID in the vector store once the document is `ingested`: equal to `id`.
    #[schema(required, max_length = 200)]
    pub(super) vector_doc_id: Option<&'a str>,
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

/// Who added a document, where it is, and what the account may do with it.
#[derive(Serialize, ToSchema)]
#[schema(as = DocumentAccess, example = json!({
    "owner_id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4f",
    "owner_email": "ada@example.org",
    "owner_name": "Ada Lovelace",
    "is_own": true,
    "collection_ids": ["00000000-0000-0000-0000-000000000001"],
    "can_change": true,
    "can_delete": true,
}))]
pub(crate) struct AccessView {
    /// ID of the account that added it; `null` if that account was deleted.
    #[schema(required, format = "uuid")]
    pub(super) owner_id: Option<String>,
    /// Email address of that account. Only for the account itself, for managers of a collection that has the document, for accounts
    /// with `users.view_user` and for superusers; otherwise `null`.
    #[schema(required, format = "email")]
    pub(super) owner_email: Option<String>,
    /// Name that its owner chose; `null` without one and where `owner_email` is.
    #[schema(required)]
    pub(super) owner_name: Option<String>,
    /// Whether the account that asks added it.
    pub(super) is_own: bool,
    /// Collections that have it and that the account can see.
    #[schema(value_type = Vec<CollectionRef>)]
    pub(super) collection_ids: Vec<String>,
    /// Whether the account may change it and retry its ingestion.
    pub(super) can_change: bool,
    /// Whether the account may delete it.
    pub(super) can_delete: bool,
}

impl From<DocumentAccess> for AccessView {
    fn from(access: DocumentAccess) -> Self {
        Self {
            owner_id: access.owner.map(|owner| owner.to_string()),
            owner_email: access.owner_email.map(|email| email.as_str().to_owned()),
            owner_name: access.owner_name.map(|name| name.as_str().to_owned()),
            is_own: access.is_own,
            collection_ids: access.collections.iter().map(CollectionId::to_string).collect(),
            can_change: access.can_change,
            can_delete: access.can_delete,
        }
    }
}
