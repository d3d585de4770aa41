//! `GET /documents/{doc_id}/pages/{page}/text`

use super::page_number;
use crate::answers;
use actix_web::HttpResponse;
use actix_web::web::Path;
use docent_app::documents::page_text as use_case;
use docent_app::error::Error;
use docent_domain::access::ReadDocuments;
use docent_domain::id::DocumentId;
use docent_http::{PathId, Query, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// The text of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageTextResponse {
    /// Number of the page.
    #[schema(minimum = 1)]
    page: u32,
    /// Number of pages of the document.
    pages: u32,
    /// What the page is in a file that is not a PDF: `Slide 3`, `Budget!A1:F40` or a heading. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<String>,
    /// The text, or a part of it. Tables are Markdown tables.
    text: String,
    /// `offset` of the next part, if the text does not end here. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next_offset: Option<usize>,
}

/// Read the text of a page (extension)
///
/// Returns at most 100,000 characters of the page's extracted text. Pages of files that are not PDFs are slides, ranges of sheets or
/// sections. A document that is not ingested has no pages.
#[utoipa::path(
    get, path = "/documents/{doc_id}/pages/{page}/text", operation_id = "get_page_text", tag = "Documents",
    params(
        ("doc_id" = String, Path, description = "ID of the document.", format = "uuid"),
        ("page" = u32, Path, description = "Page number, counted from 1.", minimum = 1, example = 1),
        (
            "offset" = Option<u32>, Query, description = "Number of characters to skip. Default: 0.", minimum = 0,
            nullable = false,
        ),
    ),
    responses((status = 200, description = "The text.", body = PageTextResponse), answers::UnknownPageText),
)]
pub(crate) async fn page_text(
    by: Scoped<ReadDocuments>,
    context: State,
    id: PathId<DocumentId>,
    path: Path<(String, String)>,
    mut query: Query,
) -> Reply {
    let (document, page) = (id.parse()?, page_number(&path.1)?.get());
    let offset = query.parse("offset", "must be a whole number of characters from 0", |text| {
        text.parse::<u32>().ok().and_then(|offset| usize::try_from(offset).ok())
    });
    query.done()?;
    let found =
        use_case::read(&context.app, by.grant, &by.scope, document, page, offset.unwrap_or_default()).await?;
    let text = found.text.ok_or(Error::PageNotFound)?;
    let (pages, label, next_offset) = (found.pages, found.label, found.next);
    Ok(HttpResponse::Ok().json(PageTextResponse { page, pages, label, text, next_offset }))
}
