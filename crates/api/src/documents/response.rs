//! The records as answers, and what several operations share.

use docent_domain::document::Document;
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
    /// Its id.
    #[schema(format = "uuid")]
    id: String,
    /// Its title: what it was called, or the name of its file.
    #[schema(min_length = 1, max_length = 500)]
    title: &'a str,
    /// `pending` until its file has been read, then `ingested` or `failed`.
    #[schema(value_type = DocumentStatus)]
    status: &'static str,
    /// Its id in the vector store once it is `ingested`: the same one, as text.
    #[schema(required, max_length = 200)]
    vector_doc_id: Option<&'a str>,
}

/// What became of a document's file.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "says which names the domain gives them")]
pub(crate) enum DocumentStatus {
    /// It is still to be read, or there is none.
    Pending,
    /// It can be found and asked about.
    Ingested,
    /// It could not be read.
    Failed,
}

impl<'a> From<&'a Document> for DocumentResponse<'a> {
    fn from(document: &'a Document) -> Self {
        Self {
            id: document.id.to_string(),
            title: document.title.as_str(),
            status: document.state.name(),
            vector_doc_id: document.state.vector_doc_id().map(|id| id.as_str()),
        }
    }
}
