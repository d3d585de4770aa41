//! `POST /search`

use crate::answer_events::Sources;
use crate::openapi::answers;
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::error::Error;
use docent_app::{App, search as use_case};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::error::ValidationError;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_http::extract::deserialize::{List, Whole};
use docent_http::{Body, BodyErrors, Granted, Reply, State};
use std::sync::Arc;
use utoipa::ToSchema;

const LIMIT: u64 = 5;
/// Maximum number of characters of a query.
const QUERY_MAX: usize = 10_000;
const DOCUMENTS_MAX: usize = 1000;

/// What to search for.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "query": "How long is the warranty?", "limit": 5 }))]
pub(crate) struct SearchRequest {
    /// A question or words; not blank.
    #[deserr(try_from(&String) = parse_query -> ValidationError)]
    #[schema(min_length = 1, max_length = 10000, pattern = r"\S")]
    query: String,
    /// Maximum number of passages. Default: 5.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 50)]
    limit: Option<Whole<1, 50>>,
    /// Search only these documents. Unknown, deleted and pending documents have no passages.
    #[deserr(default, from(Option<List<DocumentRef, DOCUMENTS_MAX>>) = unwrap_ids)]
    #[schema(value_type = Option<Vec<DocumentRef>>, max_items = 1000)]
    document_ids: Option<Vec<DocumentId>>,
}

/// ID of a document.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, from(DocumentId) = DocumentRef)]
#[schema(value_type = String, format = "uuid")]
pub(crate) struct DocumentRef(DocumentId);

fn parse_query(text: &str) -> Result<String, ValidationError> {
    match text.trim() {
        "" => Err(ValidationError::new("query", "must not be empty")),
        text if text.chars().count() > QUERY_MAX => {
            Err(ValidationError::new("query", "must have at most 10000 characters"))
        }
        text => Ok(text.to_owned()),
    }
}

fn unwrap_ids(ids: Option<List<DocumentRef, DOCUMENTS_MAX>>) -> Option<Vec<DocumentId>> {
    ids.map(|List(ids)| ids.into_iter().map(|DocumentRef(id)| id).collect())
}

impl SearchRequest {
    /// Runs the search.
    pub(crate) async fn run(self, app: &App, grant: Grant<ReadDocuments>) -> Result<Vec<ScoredChunk>, Error> {
        let Whole(limit) = self.limit.unwrap_or(Whole(LIMIT));
        use_case::search(app, grant, &self.query, self.document_ids.as_deref(), limit as usize).await
    }
}

/// Search passages (extension)
///
/// Returns what the agent tool `search_docs` finds, best first. Page numbers start at 1. Scores are comparable within one response
/// only. Of passages with the same text only the best is returned.
#[utoipa::path(
    post, path = "/search", operation_id = "search", tag = "Search",
    request_body = SearchRequest,
    responses(
        (status = 200, description = "The most relevant passages.", body = Sources<'_>),
        answers::InvalidBody, answers::ModelFailed,
    ),
)]
pub(crate) async fn search(by: Granted<ReadDocuments>, context: State, body: Body) -> Reply {
    let request: SearchRequest = body.read().await?;
    let app = Arc::clone(&context.app);
    let found = context.run(async move { request.run(&app, by.grant).await }).await??;
    Ok(HttpResponse::Ok().json(Sources::from(found.as_slice())))
}
