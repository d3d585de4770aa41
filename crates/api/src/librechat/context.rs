//! `GET /librechat/documents/{id}/context`

use super::passage::source;
use super::{User, not_found};
use actix_web::HttpResponse;
use actix_web::web::Path;
use docent_app::documents::{external, pages_text};
use docent_domain::access::ReadDocuments;
use docent_domain::external_file::ExternalId;
use docent_domain::extraction::ExtractedPage;
use docent_http::error::Problem;
use docent_http::{Reply, State};

const NOT_FOUND: &str = "The specified file_id was not found";

/// Read the whole text of a file of LibreChat (extension)
///
/// Returns the name of the file and its text, with a heading before each page if there are several, as one JSON string. The file is one that
/// the user's account has added.
#[utoipa::path(
    get, path = "/librechat/documents/{id}/context", operation_id = "librechat_context", tag = "LibreChat",
    security(("librechat_token" = [])),
    params(("id" = String, Path, description = "ID of the file.", example = "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10")),
    responses(
        (status = 200, description = "The text.", body = String, content_type = "application/json", example = json!("Terms.pdf\n\n# PAGE 1\n\nThe warranty lasts five years.")),
        (status = 404, description = "The ID is unknown.", body = Problem<'_>, example = json!({ "detail": "The specified file_id was not found" })),
    ),
)]
pub(crate) async fn context(user: User, context: State, id: Path<String>) -> Reply {
    let grant = user.authorize::<ReadDocuments>()?;
    let id = ExternalId::parse(&id).map_err(|_| not_found(NOT_FOUND))?;
    let app = &context.app;
    let files = external::readable(app, grant, &user.scope, &[id], None).await?;
    let file = files.first().ok_or_else(|| not_found(NOT_FOUND))?;
    let pages = pages_text::all(app, grant, &file.document).await?;
    Ok(HttpResponse::Ok().json(whole_text(source(&file.document), &pages)))
}

/// The name of a file and its text, in the form of LibreChat's own service.
fn whole_text(name: &str, pages: &[ExtractedPage]) -> String {
    let mut text = format!("{name}\n");
    for page in pages {
        if pages.len() > 1 {
            let heading = page.label.clone().unwrap_or_else(|| format!("PAGE {}", page.number));
            text.push_str(&format!("\n# {heading}\n\n"));
        }
        text.push_str(page.text.trim_end());
        text.push('\n');
    }
    text.trim().to_owned()
}
