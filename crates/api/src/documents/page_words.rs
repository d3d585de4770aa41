//! `GET /documents/{doc_id}/pages/{page}/words`

use super::page_number;
use crate::answers;
use actix_web::HttpResponse;
use actix_web::web::Path;
use docent_app::documents::page_words as use_case;
use docent_domain::access::ReadDocuments;
use docent_domain::id::DocumentId;
use docent_domain::page_words::PageWord;
use docent_domain::recognition::PageBox;
use docent_http::{PathId, Reply, Scoped, State};
use serde::Serialize;
use utoipa::ToSchema;

/// The words of a page.
#[derive(Serialize, ToSchema)]
pub(crate) struct PageWordsResponse {
    /// The lines in the order of the file, each with its words.
    lines: Vec<Vec<PlacedWord>>,
}

/// A word with its place, or a whole line that is written from right to left.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({ "text": "Warranty", "bounds": [0.121, 0.0845, 0.2307, 0.1012] }))]
pub(crate) struct PlacedWord {
    /// The text.
    text: String,
    /// Left, top, right and bottom edge, as fractions of the width and height of the page.
    #[schema(min_items = 4, max_items = 4)]
    bounds: Vec<f64>,
}

impl From<PageWord> for PlacedWord {
    fn from(PageWord { text, bounds }: PageWord) -> Self {
        let PageBox { left, top, right, bottom } = bounds;
        let fraction = |edge: u16| f64::from(edge) / f64::from(PageBox::UNITS);
        Self { text, bounds: [left, top, right, bottom].map(fraction).to_vec() }
    }
}

/// Find the words of a page (extension)
///
/// Returns the words of a page of a PDF with their places on its image. Counts as a page image in the limit of the account. At most
/// 20,000 words are returned.
#[utoipa::path(
    get, path = "/documents/{doc_id}/pages/{page}/words", operation_id = "get_page_words", tag = "Documents",
    params(
        ("doc_id" = String, Path, description = "ID of the document.", format = "uuid"),
        ("page" = u32, Path, description = "Page number, counted from 1.", minimum = 1, example = 1),
    ),
    responses((status = 200, description = "The words.", body = PageWordsResponse), answers::UnknownPage),
)]
pub(crate) async fn page_words(
    by: Scoped<ReadDocuments>,
    context: State,
    id: PathId<DocumentId>,
    path: Path<(String, String)>,
) -> Reply {
    let (document, page) = (id.parse()?, page_number(&path.1)?);
    let lines = use_case::read(&context.app, by.grant, &by.scope, document, page).await?;
    let words = |line: Vec<PageWord>| line.into_iter().map(PlacedWord::from).collect();
    Ok(HttpResponse::Ok().json(PageWordsResponse { lines: lines.into_iter().map(words).collect() }))
}
