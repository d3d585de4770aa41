//! `POST /librechat/query`

use super::User;
use super::passage::{PassageOrDistance, pairs};
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::App;
use docent_app::documents::external::{self, ReadableFile};
use docent_app::error::Error;
use docent_app::search::{self, SearchRequest, SearchResults};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::error::ValidationError;
use docent_domain::external_file::ExternalId;
use docent_domain::id::DocumentId;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_http::extract::deserialize::Whole;
use docent_http::{BaseUrl, Body, BodyErrors, Reply, State};
use std::sync::Arc;
use utoipa::ToSchema;

/// Default number of passages.
pub(super) const LIMIT: u64 = 4;
/// Number of characters of a query that are searched.
const QUERY_MAX: usize = 10_000;

/// A search in a file.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "file_id": "0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10", "query": "How long is the warranty?", "k": 4 }))]
pub(crate) struct FileQuery {
    /// A question or words. LibreChat sends the whole message of its user, of which the first 10,000 characters are searched.
    query: String,
    /// ID of the file.
    #[schema(value_type = String, min_length = 1, max_length = 200)]
    file_id: ExternalId,
    /// Maximum number of passages. Default: 4.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 50)]
    k: Option<Whole<1, 50>>,
    /// ID of the agent that the file may belong to.
    #[deserr(default, try_from(Option<String>) = parse_entity -> ValidationError)]
    #[schema(value_type = Option<String>, max_length = 200)]
    entity_id: Option<ExternalId>,
}

/// An empty ID means none.
fn parse_entity(text: Option<String>) -> Result<Option<ExternalId>, ValidationError> {
    text.filter(|text| !text.is_empty()).map(|text| ExternalId::parse(&text)).transpose()
}

/// Search a file of LibreChat (extension)
///
/// Returns passages of a file that the user's account has added, or that belongs to the agent. Of other files and unknown ones nothing is
/// found.
#[utoipa::path(
    post, path = "/librechat/query", operation_id = "librechat_query", tag = "LibreChat",
    security(("librechat_token" = [])),
    request_body = FileQuery,
    responses(
        (status = 200, description = "Pairs of a passage and its distance, the nearest first.", body = Vec<Vec<PassageOrDistance>>),
        answers::UnknownPath, answers::InvalidBody, answers::ModelFailed,
    ),
)]
pub(crate) async fn query(user: User, context: State, base: BaseUrl, body: Body) -> Reply {
    let grant = user.authorize::<ReadDocuments>()?;
    let FileQuery { query, file_id, k, entity_id } = body.read().await?;
    let Whole(limit) = k.unwrap_or(Whole(LIMIT));
    let app = Arc::clone(&context.app);
    let searched = context.run(async move {
        let files = external::readable(&app, grant, &user.scope, &[file_id], entity_id.as_ref()).await?;
        let Some(file) = files.first() else { return Ok::<_, Error>(Vec::new()) };
        let found = find(&app, grant, &file.scope, &files, &query, limit).await?;
        Ok(pairs(&files, found, &base))
    });
    Ok(HttpResponse::Ok().json(searched.await??))
}

/// The passages of these files, which are in the scope, that match a query.
pub(super) async fn find(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    files: &[ReadableFile],
    query: &str,
    limit: u64,
) -> Result<SearchResults, Error> {
    let query: String = query.trim().chars().take(QUERY_MAX).collect();
    let documents: Vec<DocumentId> = files.iter().map(|file| file.document.id).collect();
    let selection = Selection { documents: Some(documents), ..Selection::default() };
    // Nothing matches an empty query.
    let limit = if query.is_empty() { 0 } else { usize::try_from(limit).unwrap_or(usize::MAX) };
    search::search(app, grant, SearchRequest { query: &query, scope, selection: &selection, limit }).await
}
