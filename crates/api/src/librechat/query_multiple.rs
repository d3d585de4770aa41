//! `POST /librechat/query_multiple`

use super::passage::{PassageOrDistance, pairs};
use super::query::{LIMIT, find};
use super::{User, not_found};
use crate::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::documents::external;
use docent_app::error::Error;
use docent_domain::access::ReadDocuments;
use docent_domain::external_file::ExternalId;
use docent_http::error::Problem;
use docent_http::extract::deserialize::{List, Whole};
use docent_http::{BaseUrl, Body, BodyErrors, Reply, State};
use std::sync::Arc;
use utoipa::ToSchema;

/// Maximum number of files of a request.
pub(super) const FILES_MAX: usize = 1000;

/// A search in several files.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "file_ids": ["0b1f4c52-3c0f-4a61-9f0e-5b6b2f1c9a10"], "query": "How long is the warranty?", "k": 4 }))]
pub(crate) struct FilesQuery {
    /// A question or words, of which the first 10,000 characters are searched.
    query: String,
    /// IDs of the files.
    #[schema(value_type = Vec<String>, max_items = 1000)]
    file_ids: List<ExternalId, FILES_MAX>,
    /// Maximum number of passages. Default: 4.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 50)]
    k: Option<Whole<1, 50>>,
}

/// Search several files of LibreChat (extension)
///
/// Returns passages of those of the files that the user's account has added.
#[utoipa::path(
    post, path = "/librechat/query_multiple", operation_id = "librechat_query_multiple", tag = "LibreChat",
    security(("librechat_token" = [])),
    request_body = FilesQuery,
    responses(
        (status = 200, description = "Pairs of a passage and its distance, the nearest first.", body = Vec<Vec<PassageOrDistance>>),
        (status = 404, description = "Nothing was found.", body = Problem<'_>, example = json!({ "detail": "No documents found for the given query" })),
        answers::InvalidBody, answers::ModelFailed,
    ),
)]
pub(crate) async fn query_multiple(user: User, context: State, base: BaseUrl, body: Body) -> Reply {
    let grant = user.authorize::<ReadDocuments>()?;
    let FilesQuery { query, file_ids: List(ids), k } = body.read().await?;
    let Whole(limit) = k.unwrap_or(Whole(LIMIT));
    let app = Arc::clone(&context.app);
    let searched = context.run(async move {
        let files = external::readable(&app, grant, &user.scope, &ids, None).await?;
        let found = find(&app, grant, &user.scope, &files, &query, limit).await?;
        Ok::<_, Error>(pairs(&files, found, &base))
    });
    let pairs = searched.await??;
    if pairs.is_empty() {
        return Err(not_found("No documents found for the given query"));
    }
    Ok(HttpResponse::Ok().json(pairs))
}
