//! `POST /search`

use crate::answer_events::Source;
use crate::answers;
use crate::selection::{
    COLLECTIONS_MAX, CollectionRef, DOCUMENTS_MAX, DocumentRef, FilterBody, collections_of, documents_of,
    parse_filters, selection,
};
use actix_web::HttpResponse;
use deserr::Deserr;
use docent_app::App;
use docent_app::error::Error;
use docent_app::search::{self as use_case, SearchResults};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::condition::Condition;
use docent_domain::error::ValidationError;
use docent_domain::explanation::{Feature, RatedUnit, UnitRatings};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::scope::Scope;
use docent_domain::spelling::Correction;
use docent_http::extract::deserialize::{List, Whole};
use docent_http::{Body, BodyErrors, Reply, Scoped, State};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
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
    /// Whether to say how the built-in answerer rates what was found.
    #[deserr(default)]
    explain: Option<bool>,
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
    ) -> Result<SearchResults, Error> {
        let Whole(limit) = self.limit.unwrap_or(Whole(LIMIT));
        let selection = selection(self.collection_ids, self.document_ids, self.filters);
        let (query, limit) = (self.query.as_str(), limit as usize);
        let request = use_case::SearchRequest { query, scope, selection: &selection, limit };
        use_case::search(app, grant, request).await
    }
}

/// Search passages (extension)
///
/// Returns what the agent tool `search_docs` finds, best first. With `explain`, the response also says how the built-in answerer rates
/// it, if that answers. Page numbers start at 1. Scores are comparable within one response
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
    let explained = request.explain.unwrap_or(false).then(|| request.query.clone());
    let searched = context.run(async move {
        let found = request.run(&app, by.grant, &by.scope).await?;
        let ratings = match explained {
            Some(query) => use_case::rate(&app, &query, &found).await,
            None => None,
        };
        Ok::<_, Error>((found, ratings))
    });
    let (found, ratings) = searched.await??;
    let explanation = ratings.as_ref().map(|ratings| AnswerExplanation::of(ratings, &found));
    Ok(HttpResponse::Ok().json(SearchResponse { explanation, ..SearchResponse::from(&found) }))
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
    /// With `explain`, how the built-in answerer rates what was found. Left out if another model answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    explanation: Option<AnswerExplanation<'a>>,
}

/// A word that was read as another.
#[derive(Serialize, ToSchema)]
pub(crate) struct SpellingCorrection<'a> {
    /// The word of the query in lower case.
    written: &'a str,
    /// The word that was searched for, in lower case.
    meant: &'a str,
}

impl<'a> From<&'a SearchResults> for SearchResponse<'a> {
    fn from(found: &'a SearchResults) -> Self {
        let corrections = found.corrections.iter().filter(|correction| !correction.is_common);
        let shown = |Correction { written, meant, .. }: &'a Correction| SpellingCorrection { written, meant };
        Self {
            results: found.passages.iter().map(Source::from).collect(),
            corrections: corrections.map(shown).collect(),
            explanation: None,
        }
    }
}

/// How the built-in answerer rates the units of the passages that it receives: parts that can be shown alone, such as a list with its
/// introduction. The probability that a unit answers is `1 / (1 + exp(-sum))`, where `sum` is that of the constant and the weighted
/// features.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerExplanation<'a> {
    /// The features that units are described by.
    features: Vec<WeightedFeature<'a>>,
    /// The constant of the sum.
    constant: f64,
    /// From this probability on, a unit is an answer, if it has the value that is asked for.
    answer_from: f64,
    /// From this probability on, a unit is shown as one that may help.
    shown_from: f64,
    /// The units, the most probable first.
    units: Vec<ExplainedUnit<'a>>,
}

/// A feature with its weight.
#[derive(Serialize, ToSchema)]
pub(crate) struct WeightedFeature<'a> {
    /// Name of the feature.
    name: &'a str,
    /// Its weight.
    weight: f64,
}

/// A unit with its features.
#[derive(Serialize, ToSchema)]
pub(crate) struct ExplainedUnit<'a> {
    /// ID of the passage, which is one of the results.
    #[schema(format = "uuid")]
    chunk_id: String,
    /// ID of the document.
    #[schema(format = "uuid")]
    document_id: String,
    /// Title of the document.
    title: &'a str,
    /// Page, counted from 1.
    #[schema(minimum = 1)]
    page: u32,
    /// Text.
    text: &'a str,
    /// The probability that it answers.
    #[schema(minimum = 0, maximum = 1)]
    probability: f64,
    /// The value of each feature by its name, from 0 to 1.
    features: BTreeMap<&'a str, f64>,
}

impl<'a> AnswerExplanation<'a> {
    fn of(ratings: &'a UnitRatings, found: &'a SearchResults) -> Self {
        let names = ratings.features.iter().map(|feature| feature.name);
        let unit = |unit: &'a RatedUnit| {
            let chunk = found.passages.get(unit.rank)?;
            Some(ExplainedUnit {
                chunk_id: chunk.id.to_string(),
                document_id: chunk.document_id.to_string(),
                title: &chunk.title,
                page: unit.page,
                text: &unit.text,
                probability: rounded(unit.probability),
                features: names.clone().zip(unit.values.iter().copied().map(rounded)).collect(),
            })
        };
        let weighted =
            |feature: &Feature| WeightedFeature { name: feature.name, weight: rounded(feature.weight) };
        Self {
            features: ratings.features.iter().map(weighted).collect(),
            constant: rounded(ratings.constant),
            answer_from: rounded(ratings.answer),
            shown_from: rounded(ratings.decline),
            units: ratings.units.iter().filter_map(unit).collect(),
        }
    }
}

/// Rounds to four places.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 10_000.0).round() / 10_000.0
}
