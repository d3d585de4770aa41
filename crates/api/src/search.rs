//! `POST /search`

use crate::answer_events::Source;
use crate::openapi::answers;
use crate::selection::{
    COLLECTIONS_MAX, CollectionRef, DOCUMENTS_MAX, DocumentRef, FilterBody, collections_of, documents_of,
    parse_filters, selection,
};
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::App;
use docent_app::error::Error;
use docent_app::search::{self as use_case, Found};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::condition::Condition;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::scope::Scope;
use docent_domain::spelling::Correction;
use docent_http::extract::deserialize::{List, Whole};
use docent_http::{Body, BodyErrors, Reply, Scoped, State};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

const LIMIT: u64 = 5;
/// Maximum number of characters of a query.
const QUERY_MAX: usize = 10_000;

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
    #[deserr(default, from(Option<List<DocumentRef, DOCUMENTS_MAX>>) = documents_of)]
    #[schema(value_type = Option<Vec<DocumentRef>>, max_items = 1000)]
    document_ids: Option<Vec<DocumentId>>,
    /// Search only these collections.
    #[deserr(default, from(Option<List<CollectionRef, COLLECTIONS_MAX>>) = collections_of)]
    #[schema(value_type = Option<Vec<CollectionRef>>, max_items = 100)]
    collection_ids: Option<Vec<CollectionId>>,
    /// Search only documents that meet this condition.
    #[deserr(default, try_from(Option<Value>) = parse_filters -> ValidationError)]
    #[schema(value_type = Option<FilterBody>)]
    filters: Option<Condition>,
}

fn parse_query(text: &str) -> Result<String, ValidationError> {
    match text.trim() {
        "" => Err(ValidationError::new("query", "must not be empty")),
        text if text.chars().count() > QUERY_MAX => {
            Err(ValidationError::new("query", "must have at most 10000 characters"))
        }
        text => Ok(text.to_owned()),
    }
}

impl SearchRequest {
    /// Runs the search.
    pub(crate) async fn run(
        self,
        app: &App,
        grant: Grant<ReadDocuments>,
        scope: &Scope,
    ) -> Result<Found, Error> {
        let Whole(limit) = self.limit.unwrap_or(Whole(LIMIT));
        let selection = selection(self.collection_ids, self.document_ids, self.filters);
        let (query, limit) = (self.query.as_str(), limit as usize);
        let request = use_case::SearchRequest { query, scope, selection: &selection, limit };
        use_case::search(app, grant, request).await
    }
}

/// Search passages (extension)
///
/// Returns what the agent tool `search_docs` finds, best first. Page numbers start at 1. Scores are comparable within one response
/// only. Of passages with the same text only the best is returned. Only documents of collections that the account may read are searched.
#[utoipa::path(
    post, path = "/search", operation_id = "search", tag = "Search",
    request_body = SearchRequest,
    responses(
        (status = 200, description = "The most relevant passages.", body = SearchResponse<'_>),
        answers::UnknownCollection, answers::InvalidBody, answers::ModelFailed,
    ),
)]
pub(crate) async fn search(by: Scoped<ReadDocuments>, context: State, body: Body) -> Reply {
    let request: SearchRequest = body.read().await?;
    let app = Arc::clone(&context.app);
    let found = context.run(async move { request.run(&app, by.grant, &by.scope).await }).await??;
    Ok(HttpResponse::Ok().json(SearchResponse::from(&found)))
}

/// Passages that match a query.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchResponse<'a> {
    /// The passages, best first.
    results: Vec<Source<'a>>,
    /// Words of the query that no document contains, with the words that were searched for in their place. Left out if there are
    /// none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    corrections: Vec<SpellingCorrection<'a>>,
}

/// A word that was read as another.
#[derive(Serialize, ToSchema)]
pub(crate) struct SpellingCorrection<'a> {
    /// The word of the query in lower case.
    written: &'a str,
    /// The word that was searched for, in lower case.
    meant: &'a str,
}

impl<'a> From<&'a Found> for SearchResponse<'a> {
    fn from(found: &'a Found) -> Self {
        let corrections = found.corrections.iter().filter(|correction| !correction.is_common);
        let shown = |Correction { written, meant, .. }: &'a Correction| SpellingCorrection { written, meant };
        Self {
            results: found.passages.iter().map(Source::from).collect(),
            corrections: corrections.map(shown).collect(),
        }
    }
}
