//! `GET /documents/{doc_id}/find`

use crate::answers;
use actix_web::HttpResponse;
use docent_app::documents::find::{self as use_case, Hit};
use docent_domain::access::ReadDocuments;
use docent_domain::id::DocumentId;
use docent_http::{ApiError, PathId, Query, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// Maximum number of characters of the text to find.
const TEXT_MAX: usize = 200;

/// The places of a text in a document.
#[derive(Serialize, ToSchema)]
pub(crate) struct FindResponse {
    /// The first 200 places, in order.
    hits: Vec<FindHit>,
    /// Number of all places.
    total: u32,
}

/// A place of the text.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "page": 3, "before": "costs of the repair. The ", "text": "warranty", "after": " lasts five years.",
}))]
pub(crate) struct FindHit {
    /// Number of the page.
    #[schema(minimum = 1)]
    page: u32,
    /// What the page is in a file that is not a PDF: `Slide 3`, `Budget!A1:F40` or a heading. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
    /// The text before the place, at most 48 characters.
    before: String,
    /// The text as written in the document.
    text: String,
    /// The text after the place, at most 48 characters.
    after: String,
}

impl From<Hit> for FindHit {
    fn from(Hit { page, label, before, text, after }: Hit) -> Self {
        Self { page, label, before, text, after }
    }
}

/// Find a text in a document (extension)
///
/// Finds the text exactly, except for letter case, white space and soft hyphens. A text over the end of a page is not found, nor any in a
/// document that is not ingested. `POST /search` finds passages by meaning.
#[utoipa::path(
    get, path = "/documents/{doc_id}/find", operation_id = "find_in_document", tag = "Documents",
    params(
        ("doc_id" = String, Path, description = "ID of the document.", format = "uuid"),
        ("q" = String, Query, description = "The text, up to 200 characters.", min_length = 1, max_length = 200, example = "warranty"),
    ),
    responses((status = 200, description = "The places.", body = FindResponse), answers::UnknownDocument),
)]
pub(crate) async fn find(
    by: Scoped<ReadDocuments>,
    context: State,
    id: PathId<DocumentId>,
    query: Query,
) -> Reply {
    let document = id.parse()?;
    let text =
        query.text("q").map(str::trim).filter(|text| !text.is_empty() && text.chars().count() <= TEXT_MAX);
    let text =
        text.ok_or_else(|| ApiError::invalid_field(&["query", "q"], "must have 1 to 200 characters"))?;
    let found = use_case::find(&context.app, by.grant, &by.scope, document, text).await?;
    let hits = found.hits.into_iter().map(FindHit::from).collect();
    Ok(HttpResponse::Ok().json(FindResponse { hits, total: found.total }))
}
