//! `POST /search`

use crate::{
    api::Reply,
    context::State,
    error::Refusal,
    extract::{
        granted::Granted,
        json::{Body, Fields},
    },
    sse::Source,
};
use actix_web::HttpResponse;
use docent_app::search as use_case;
use docent_domain::{access::ReadDocuments, error::Invalid, id::DocumentId};
use serde_json::json;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;

const LIMIT: u64 = 5;
const LIMIT_MAX: u64 = 50;
/// The most characters of a query.
const QUERY_MAX: usize = 10_000;
const DOCUMENTS_MAX: usize = 1000;

pub(crate) async fn search(by: Granted<ReadDocuments>, context: State, body: Body) -> Reply {
    let Wanted { query, documents, limit } = parse(body.fields().await?)?;
    let app = Arc::clone(&context.app);
    // Connections to back ends outlive this request's thread.
    let searching =
        async move { use_case::search(&app, by.grant, &query, documents.as_deref(), limit).await };
    let searching = context.runtime.spawn(searching.in_current_span());
    let found = AbortOnDropHandle::new(searching).await.map_err(|_| Refusal::internal())??;
    let results: Vec<_> = found.iter().map(Source::from).collect();
    Ok(HttpResponse::Ok().json(json!({ "results": results })))
}

struct Wanted {
    query: String,
    documents: Option<Vec<DocumentId>>,
    limit: usize,
}

fn parse(mut body: Fields) -> Result<Wanted, Refusal> {
    let query = body.text("query");
    let query = body.parse("query", query, |text| match text.trim() {
        "" => Err(Invalid::new("query", "must not be empty")),
        text if text.chars().count() > QUERY_MAX => {
            Err(Invalid::new("query", "must have at most 10000 characters"))
        }
        text => Ok(text.to_owned()),
    });
    let limit = body.optional_number("limit", 1..=LIMIT_MAX).unwrap_or(LIMIT);
    let documents = body.optional_ids("document_ids", DOCUMENTS_MAX);
    body.done(query.map(|query| Wanted { query, documents, limit: limit as usize }))
}
