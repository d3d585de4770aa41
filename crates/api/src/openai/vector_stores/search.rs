//! `POST /v1/vector_stores/{vector_store_id}/search`

use super::stores;
use crate::openai::ids;
use crate::openai::wire;
use crate::selection::{FilterBody, attributes_json, parse_filters, selection};
use actix_web::HttpResponse;
use actix_web::web::Path;
use deserr::Deserr;
use docent_app::App;
use docent_app::documents::list as listing;
use docent_app::error::Error;
use docent_app::search::{self as use_case, SearchResults};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::condition::Condition;
use docent_domain::document::Document;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::DocumentFilter;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use docent_domain::spelling::Correction;
use docent_http::extract::deserialize::Whole;
use docent_http::{BaseUrl, Body, BodyErrors, Reply, Scoped, State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;
use utoipa::ToSchema;

const LIMIT: u64 = 10;
/// Maximum number of queries of a request.
const QUERIES_MAX: usize = 10;
/// Maximum number of characters of a query.
const QUERY_MAX: usize = 10_000;

/// What to search for. Other fields are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({ "query": "How long is the warranty?", "max_num_results": 10 }))]
pub(crate) struct StoreSearch {
    /// A question or words, or up to 10 of them. Of several, each is searched, and the best passages are returned.
    query: QueryInput,
    /// Maximum number of passages. Default: 10.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 50)]
    max_num_results: Option<Whole<1, 50>>,
    /// Only files that meet this condition.
    #[deserr(default, try_from(Option<Value>) = parse_filters -> ValidationError)]
    #[schema(value_type = Option<FilterBody>)]
    filters: Option<Condition>,
    /// Options of the ranking.
    #[deserr(default)]
    ranking_options: Option<RankingOptions>,
    /// Whether to return the query as it was corrected. Searches always correct words that no document has.
    #[deserr(default)]
    rewrite_query: Option<bool>,
}

/// One query or several.
#[derive(Deserialize, Deserr, ToSchema)]
#[serde(untagged)]
#[deserr(error = BodyErrors, try_from(Value) = QueryInput::parse -> ValidationError)]
pub(crate) enum QueryInput {
    /// A query.
    One(QueryText),
    /// From 1 to 10 queries.
    Several(Vec<QueryText>),
}

/// A query.
#[derive(Deserialize, ToSchema)]
#[schema(min_length = 1, max_length = 10000, pattern = r"\S")]
pub(crate) struct QueryText(String);

impl QueryInput {
    fn parse(value: Value) -> Result<Self, ValidationError> {
        let invalid = |reason: &str| ValidationError::new("query", reason);
        let input: Self =
            serde_json::from_value(value).map_err(|_| invalid("must be a string or a list of strings"))?;
        let queries = input.texts();
        if queries.is_empty() || queries.len() > QUERIES_MAX {
            return Err(invalid("must have 1 to 10 queries"));
        }
        let is_valid = |text: &&str| !text.is_empty() && text.chars().count() <= QUERY_MAX;
        if !queries.iter().all(is_valid) {
            return Err(invalid("must have 1 to 10000 characters"));
        }
        Ok(input)
    }

    fn texts(&self) -> Vec<&str> {
        match self {
            Self::One(QueryText(text)) => vec![text.trim()],
            Self::Several(texts) => texts.iter().map(|QueryText(text)| text.trim()).collect(),
        }
    }
}

/// Options of the ranking.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) struct RankingOptions {
    /// `none`, `auto` or a name: the ranking of the service is always used.
    #[deserr(default)]
    #[expect(dead_code, reason = "only validated")]
    ranker: Option<String>,
    /// Minimum score of a passage, from 0 to 1. Default: 0.
    #[deserr(default, try_from(Option<f64>) = parse_threshold -> ValidationError)]
    #[schema(value_type = Option<f64>, minimum = 0, maximum = 1)]
    pub(in crate::openai) score_threshold: f64,
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_hybrid_search -> ValidationError)]
    #[expect(dead_code, reason = "only validated")]
    #[schema(value_type = Option<Object>)]
    hybrid_search: (),
}

fn refuse_hybrid_search(value: Option<Value>) -> Result<(), ValidationError> {
    let reason = "is not supported: the service weighs words and meaning itself";
    if value.is_none_or(|value| value.is_null()) {
        Ok(())
    } else {
        Err(ValidationError::new("hybrid_search", reason))
    }
}

fn parse_threshold(threshold: Option<f64>) -> Result<f64, ValidationError> {
    let threshold = threshold.unwrap_or_default();
    let is_valid = (0.0..=1.0).contains(&threshold);
    if is_valid { Ok(threshold) } else { Err(ValidationError::new("score_threshold", "must be from 0 to 1")) }
}

/// Passages, best first.
#[derive(Serialize, ToSchema)]
pub(crate) struct StoreSearchPage {
    /// Always `vector_store.search_results.page`.
    object: &'static str,
    /// The queries, with `rewrite_query` as they were corrected.
    search_query: Vec<String>,
    /// The passages.
    data: Vec<StoreSearchResult>,
    /// Always false.
    has_more: bool,
    /// Always null.
    #[schema(required)]
    next_page: Option<String>,
}

/// A passage.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "file_id": "file-01920f3e5b7a7c3d9e214f6a8b0c2d4e", "filename": "Terms.pdf", "score": 0.62,
    "attributes": { "year": 2025, "page": 3, "link": "https://docent.example.org/chat#document=01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e&page=3" },
    "content": [{ "type": "text", "text": "The warranty lasts five years." }],
}))]
pub(crate) struct StoreSearchResult {
    /// ID of the file.
    file_id: String,
    /// Name of the file.
    filename: String,
    /// Relevance from 0 to 1. Comparable between searches with the same ranking only.
    score: f64,
    /// Attributes of the document. Beside them, unless it has such attributes itself: `page`, counted from 1; `label`, what the page is in a file that
    /// is not a PDF; and `link` to the page in the web chat.
    attributes: Map<String, Value>,
    /// The text.
    content: Vec<PassageContent>,
}

/// Text of a passage.
#[derive(Serialize, ToSchema)]
pub(crate) struct PassageContent {
    /// Always `text`.
    r#type: &'static str,
    /// The text.
    text: String,
}

/// Search a vector store (extension)
///
/// Returns passages as `POST /search`, with scores from 0 to 1.
#[utoipa::path(
    post, path = "/v1/vector_stores/{vector_store_id}/search", operation_id = "search_vector_store", tag = "OpenAI wire",
    params(("vector_store_id" = String, Path, description = "ID of the vector store.", example = "vs_01920f3e5b7a7c3d9e214f6a8b0c2d4e")),
    request_body = StoreSearch,
    responses(
        (status = 200, description = "The most relevant passages.", body = StoreSearchPage),
        wire::InvalidBody, wire::UnknownObject, wire::ModelFailed,
    ),
)]
pub(crate) async fn search(
    by: Scoped<ReadDocuments>,
    context: State,
    base: BaseUrl,
    id: Path<String>,
    body: Body,
) -> Reply {
    let collection: CollectionId = ids::require(&id)?;
    stores::ensure_usable(&context.app, &by.actor, collection).await?;
    let request: StoreSearch = body.read().await?;
    let app = Arc::clone(&context.app);
    let answer = async move { request.run(&app, by.grant, &by.scope, collection, &base).await };
    Ok(HttpResponse::Ok().json(context.run(answer).await??))
}

impl StoreSearch {
    async fn run(
        self,
        app: &App,
        grant: Grant<ReadDocuments>,
        scope: &Scope,
        collection: CollectionId,
        base: &BaseUrl,
    ) -> Result<StoreSearchPage, Error> {
        let Whole(limit) = self.max_num_results.unwrap_or(Whole(LIMIT));
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let selection = selection(Some(vec![collection]), None, self.filters);
        let (mut search_query, mut best) = (Vec::new(), Vec::<(f64, ScoredChunk)>::new());
        for query in self.query.texts() {
            let request = use_case::SearchRequest { query, scope, selection: &selection, limit };
            let found = use_case::search(app, grant, request).await?;
            search_query.push(match self.rewrite_query {
                Some(true) => corrected(query, &found.corrections),
                _ => query.to_owned(),
            });
            merge(&mut best, found);
        }
        let threshold = self.ranking_options.map_or(0.0, |options| options.score_threshold);
        best.retain(|(score, _)| *score >= threshold);
        best.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        best.truncate(limit);
        let ids = best.iter().map(|(_, passage)| passage.document_id).collect();
        let documents = documents_of(app, grant, scope, ids).await?;
        let result = |(score, passage): (f64, ScoredChunk)| {
            Some(StoreSearchResult::new(documents.get(&passage.document_id)?, score, passage, base))
        };
        let data = best.into_iter().filter_map(result).collect();
        let object = "vector_store.search_results.page";
        Ok(StoreSearchPage { object, search_query, data, has_more: false, next_page: None })
    }
}

/// Adds the passages of a search to those of others. A passage that several found has its best score.
fn merge(best: &mut Vec<(f64, ScoredChunk)>, found: SearchResults) {
    let scores = found.scores();
    for (score, passage) in scores.into_iter().zip(found.passages) {
        match best.iter_mut().find(|(_, of)| of.id == passage.id) {
            Some(same) if same.0 >= score => {}
            Some(same) => *same = (score, passage),
            None => best.push((score, passage)),
        }
    }
}

/// The documents with these IDs that are in the scope.
pub(in crate::openai) async fn documents_of(
    app: &App,
    grant: Grant<ReadDocuments>,
    scope: &Scope,
    ids: Vec<DocumentId>,
) -> Result<HashMap<DocumentId, Document>, Error> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let filter = DocumentFilter { ids: Some(ids), ..DocumentFilter::of(scope.clone()) };
    let found = listing::list(app, grant, &filter).await?;
    Ok(found.into_iter().map(|document| (document.id, document)).collect())
}

impl StoreSearchResult {
    fn new(document: &Document, score: f64, passage: ScoredChunk, base: &BaseUrl) -> Self {
        Self {
            file_id: ids::encode(document.id),
            filename: file_name(document).to_owned(),
            score,
            attributes: place_attributes(document, &passage, base),
            content: vec![PassageContent { r#type: "text", text: passage.text }],
        }
    }
}

/// The name of the file of a document, or its title if it has none.
pub(in crate::openai) fn file_name(document: &Document) -> &str {
    document.file.as_ref().map_or(document.title.as_str(), |file| file.name.as_str())
}

/// The attributes of a document with the place of a passage.
pub(in crate::openai) fn place_attributes(
    document: &Document,
    passage: &ScoredChunk,
    base: &BaseUrl,
) -> Map<String, Value> {
    let page = passage.span.start.page;
    let mut attributes = attributes_json(&document.attributes);
    let label = passage.label.as_deref().map(Value::from);
    let link = Value::from(base.document(document.id, page));
    let place = [("page", Some(Value::from(page))), ("label", label), ("link", Some(link))];
    for (key, value) in place {
        if let Some(value) = value {
            attributes.entry(key).or_insert(value);
        }
    }
    attributes
}

/// The query with the words that were searched for instead of those that no document has.
fn corrected(query: &str, corrections: &[Correction]) -> String {
    let word = |word: &str| {
        let lower = word.to_lowercase();
        let correction = corrections.iter().find(|of| !of.is_common && of.written == lower);
        correction.map_or_else(|| word.to_owned(), |of| of.meant.clone())
    };
    let mut text = String::with_capacity(query.len());
    let mut rest = query;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let (before, from) = rest.split_at(start);
        let (found, after) = from.split_at(from.find(|c: char| !c.is_alphanumeric()).unwrap_or(from.len()));
        text.push_str(before);
        text.push_str(&word(found));
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrected_query_keeps_its_other_words_and_signs() {
        let of = |written: &str, meant: &str, is_common| Correction {
            written: written.to_owned(),
            meant: meant.to_owned(),
            is_common,
        };
        let corrections = [of("waranty", "warranty", false), of("teh", "the", true)];
        assert_eq!(
            corrected("“Waranty” of teh pump (2025)?", &corrections),
            "“warranty” of teh pump (2025)?"
        );
        assert_eq!(corrected("…", &corrections), "…");
    }
}
