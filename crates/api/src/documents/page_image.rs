//! `GET /documents/{doc_id}/pages/{page}`
//!
//! Renders a page as PNG. With `passage`, the ID of a chunk, the lines of the chunk are highlighted.

use super::page_number;
use crate::answers;
use actix_web::HttpResponse;
use actix_web::web::Path;
use docent_app::documents::page_image::{self as use_case, PageImage};
use docent_domain::access::ReadDocuments;
use docent_domain::id::{ChunkId, DocumentId};
use docent_http::{PathId, Query, Reply, Scoped, State};
use std::num::NonZeroU16;

/// Default width of an image in pixels.
const WIDTH: NonZeroU16 = NonZeroU16::new(1000).unwrap();
const WIDTHS: std::ops::RangeInclusive<u16> = 100..=3000;

/// Render a page of the file (extension)
///
/// With `passage`, the lines of the passage are highlighted. A passage of another document or page has no effect.
#[utoipa::path(
    get, path = "/documents/{doc_id}/pages/{page}", operation_id = "get_page_image", tag = "Documents",
    params(
        ("doc_id" = String, Path, description = "ID of the document.", format = "uuid"),
        ("page" = u32, Path, description = "Page number, counted from 1.", minimum = 1, example = 1),
        (
            "width" = Option<u16>, Query, description = "Width of the image in pixels. Default: 1,000.",
            minimum = 100, maximum = 3000, nullable = false,
        ),
        (
            "passage" = Option<String>, Query, description = "`chunk_id` of a passage of this document.", format = "uuid",
            nullable = false,
        ),
    ),
    responses(
        (status = 200, description = "The image.", body = String, content_type = "image/png"),
        answers::UnknownPage,
    ),
)]
pub(crate) async fn page_image(
    by: Scoped<ReadDocuments>,
    context: State,
    id: PathId<DocumentId>,
    path: Path<(String, String)>,
    mut query: Query,
) -> Reply {
    let (document, page) = (id.parse()?, page_number(&path.1)?);
    let width = query.parse("width", "must be a whole number of pixels from 100 to 3000", |text| {
        text.parse().ok().filter(|width: &NonZeroU16| WIDTHS.contains(&width.get()))
    });
    let passage = query.parse("passage", "must be a UUID", |text| text.parse::<ChunkId>().ok());
    query.done()?;
    let image = PageImage { document, page, width: width.unwrap_or(WIDTH), passage };
    let png = use_case::render(&context.app, by.grant, &by.scope, image).await?;
    Ok(HttpResponse::Ok().content_type("image/png").body(png))
}
