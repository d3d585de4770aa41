//! `GET /librechat/documents`

use super::passage::Passage;
use super::{User, not_found};
use crate::answers;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use docent_app::documents::{external, pages_text};
use docent_domain::access::ReadDocuments;
use docent_domain::external_file::ExternalId;
use docent_http::error::Problem;
use docent_http::{ApiError, BaseUrl, Query, Reply, State};
use std::collections::HashSet;

/// Maximum number of files of a request.
const FILES_MAX: usize = 100;

/// Read files of LibreChat (extension)
///
/// Returns the pages of files that the user's account has added.
#[utoipa::path(
    get, path = "/librechat/documents", operation_id = "librechat_documents", tag = "LibreChat",
    security(("librechat_token" = [])),
    params(("ids" = Vec<String>, Query, description = "IDs of the files, from 1 to 100.", min_items = 1, max_items = 100)),
    responses(
        (status = 200, description = "The pages.", body = Vec<Passage>),
        (status = 404, description = "An ID is unknown.", body = Problem<'_>, example = json!({ "detail": "One or more IDs not found" })),
        (status = 413, description = "The files have too much text for one response.", body = Problem<'_>, example = json!({ "detail": "The text of these files is too long; ask for fewer at a time" })),
        answers::InvalidParameters,
    ),
)]
pub(crate) async fn get(user: User, context: State, base: BaseUrl, query: Query) -> Reply {
    let grant = user.authorize::<ReadDocuments>()?;
    let parse = |text| ExternalId::parse(text).map_err(|error| invalid(&error.reason));
    let mut ids: Vec<ExternalId> = query.all("ids").map(parse).collect::<Result<_, _>>()?;
    if ids.is_empty() || ids.len() > FILES_MAX {
        return Err(invalid("must be given 1 to 100 times"));
    }
    let mut seen = HashSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    let app = &context.app;
    let files = external::readable(app, grant, &user.scope, &ids, None).await?;
    if files.len() < ids.len() {
        return Err(not_found("One or more IDs not found"));
    }
    let (mut passages, mut left) = (Vec::new(), app.settings().max_characters);
    for file in &files {
        for page in pages_text::all(app, grant, &file.document).await? {
            let characters = page.text.chars().count() as u64;
            left = left.checked_sub(characters).ok_or_else(too_long)?;
            passages.push(Passage::of_page(file, (page.number, page.label), page.text, &base));
        }
    }
    Ok(HttpResponse::Ok().json(passages))
}

fn invalid(reason: &str) -> ApiError {
    ApiError::invalid_field(&["query", "ids"], reason)
}

fn too_long() -> ApiError {
    ApiError::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        "The text of these files is too long; ask for fewer at a time",
    )
}
