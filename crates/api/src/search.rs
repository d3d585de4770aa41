//! `POST /search`

use crate::{answer_events::Sources, openapi::answers};
use actix_web::HttpResponse;
use docent_app::search as use_case;
use docent_domain::{access::ReadDocuments, error::ValidationError, id::DocumentId};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{
        granted::Granted,
        json::{Body, Fields},
    },
};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;
use utoipa::ToSchema;

const LIMIT: u64 = 5;
const LIMIT_MAX: u64 = 50;
/// The most characters of a query.
const QUERY_MAX: usize = 10_000;
const DOCUMENTS_MAX: usize = 1000;

/// What to search for.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({ "query": "How long is the warranty?", "limit": 5 }))]
pub(crate) struct SearchRequest {
    /// A question or words; not blank.
    #[schema(min_length = 1, max_length = 10000, pattern = r"\S")]
    query: String,
    /// How many passages at most; 5 when left out.
    #[schema(minimum = 1, maximum = 50)]
    limit: Option<u64>,
    /// Only passages of these documents; one that is unknown, deleted or not ingested has none.
    #[schema(value_type = Option<Vec<DocumentRef>>, max_items = 1000)]
    document_ids: Option<Vec<DocumentRef>>,
}

/// A document's id.
#[derive(ToSchema)]
#[schema(format = "uuid")]
#[expect(dead_code, reason = "says what the handler reads")]
pub(crate) struct DocumentRef(String);

/// Search passages (extension)
///
/// What the agent's `search_docs` finds, without an agent: best first, pages counted from 1. Scores compare within one
/// answer only. Of passages with the same words the best one alone is given.
#[utoipa::path(
    post, path = "/search", operation_id = "search", tag = "Search",
    request_body = SearchRequest,
    responses(
        (status = 200, description = "The passages that fit best.", body = Sources<'_>),
        answers::Guarded,
        answers::BodyRead,
        answers::ModelAway,
        answers::StoreAway,
    ),
)]
pub(crate) async fn search(by: Granted<ReadDocuments>, context: State, body: Body) -> Reply {
    let Wanted { query, documents, limit } = parse(body.fields().await?)?;
    let app = Arc::clone(&context.app);
    // Connections to back ends outlive this request's thread.
    let searching =
        async move { use_case::search(&app, by.grant, &query, documents.as_deref(), limit).await };
    let searching = context.runtime.spawn(searching.in_current_span());
    let found = AbortOnDropHandle::new(searching).await.map_err(|_| ApiError::internal())??;
    Ok(HttpResponse::Ok().json(Sources::from(found.as_slice())))
}

struct Wanted {
    query: String,
    documents: Option<Vec<DocumentId>>,
    limit: usize,
}

fn parse(mut body: Fields) -> Result<Wanted, ApiError> {
    let query = body.text("query");
    let query = body.parse("query", query, |text| match text.trim() {
        "" => Err(ValidationError::new("query", "must not be empty")),
        text if text.chars().count() > QUERY_MAX => {
            Err(ValidationError::new("query", "must have at most 10000 characters"))
        }
        text => Ok(text.to_owned()),
    });
    let limit = body.optional_number("limit", 1..=LIMIT_MAX).unwrap_or(LIMIT);
    let documents = body.optional_ids("document_ids", DOCUMENTS_MAX);
    body.done(query.map(|query| Wanted { query, documents, limit: limit as usize }))
}
