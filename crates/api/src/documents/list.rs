//! `GET /documents`
//!
//! Returns all documents or, with the extension parameters, a page of matching documents.

use super::response::DocumentResponse;
use crate::openapi::answers;
use crate::paging;
use docent_app::documents::list as use_case;
use docent_domain::access::ReadDocuments;
use docent_domain::document::Document;
use docent_domain::listing::{DocumentFilter, ListPosition};
use docent_http::{Granted, Query, Reply, State};

/// Maximum number of characters of the parameter `q`.
pub(crate) const TITLE_PART_MAX: usize = 200;
const STATUSES: [&str; 3] = ["pending", "ingested", "failed"];

/// List documents
///
/// Returns all documents, newest first. The parameters are an extension and filter the list. With `limit`, the headers `Link` and
/// `X-Next-Cursor` name the next page, if there is one. Empty parameters are ignored.
#[utoipa::path(
    get, path = "/documents", operation_id = "list_documents", tag = "Documents",
    params(
        ("limit" = Option<u64>, Query, description = "Maximum number of documents.", minimum = 1, maximum = 1000, nullable = false),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the previous page.", nullable = false,
            pattern = r"^([0-9]{1,15}\.[0-9a-f]{32})?$", example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e",
        ),
        (
            "status" = Option<super::response::DocumentStatus>, Query, description = "Only documents with this status.", nullable = false, example = "ingested",
        ),
        ("q" = Option<String>, Query, description = "Only documents whose title contains this text.", max_length = 200, nullable = false),
    ),
    responses(
        (status = 200, description = "The documents.", body = [DocumentResponse<'_>]),
        answers::InvalidParameters,
    ),
)]
pub(crate) async fn list(by: Granted<ReadDocuments>, context: State, mut query: Query) -> Reply {
    let mut filter = filter(&mut query);
    let limit = paging::limit(&mut query);
    let title_part = query.text("q").map(str::to_owned);
    query.done()?;
    // One more than requested shows whether there is another page.
    filter.limit = limit.map(|limit| limit + 1);
    let mut documents = use_case::list(&context.app, by.grant, &filter).await?;
    let next = limit.and_then(|limit| paging::truncate(&mut documents, limit, cursor));
    let parameters = [("status", filter.status), ("q", title_part.as_deref())];
    let body: Vec<_> = documents.iter().map(DocumentResponse::from).collect();
    Ok(paging::response(body, "/documents", &parameters, limit.unwrap_or_default(), next))
}

/// Reads `status`, `q` and `cursor`.
pub(crate) fn filter(query: &mut Query) -> DocumentFilter {
    DocumentFilter {
        status: query.parse("status", "must be pending, ingested or failed", |text| {
            STATUSES.into_iter().find(|status| *status == text)
        }),
        title_contains: query.parse("q", "must have at most 200 characters", |text| {
            (text.chars().count() <= TITLE_PART_MAX).then(|| text.to_owned())
        }),
        after: paging::after(query, position),
        limit: None,
    }
}

/// Encodes the position of a document in the list.
pub(crate) fn cursor(document: &Document) -> String {
    paging::cursor(document.created_at, document.id)
}

/// Decodes a position encoded by [`cursor`].
pub(crate) fn position(cursor: &str) -> Option<ListPosition> {
    paging::position(cursor).map(|(created_at, id)| ListPosition { created_at, id })
}
