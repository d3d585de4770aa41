//! Documents.

pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod file;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod page_image;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod upload;

use docent_domain::document::Document;
use serde::Serialize;

/// DocumentResponse of the contract.
#[derive(Serialize)]
pub(crate) struct DocumentResponse<'a> {
    id: String,
    title: &'a str,
    status: &'static str,
    vector_doc_id: Option<&'a str>,
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
