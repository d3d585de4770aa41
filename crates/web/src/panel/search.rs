//! `GET /admin/search`

use super::document_chunks::place;
use crate::language::{self, t};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::times::decimal;
use actix_web::http::StatusCode;
use docent_app::error::Error;
use docent_app::search::{self as use_case, ExplainedSearch, SearchRequest};
use docent_domain::access::{ReadDocuments, ViewDocuments};
use docent_domain::condition::Condition;
use docent_domain::explanation::{FieldScores, UnitRatings};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::permission::RecordKind;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_http::extract::condition::condition_of_text;
use docent_http::{Query, State};
use serde::Serialize;
use std::sync::Arc;

/// Number of passages to show.
const LIMIT: usize = 20;
/// Maximum number of characters of a query, as in the API.
const QUERY_MAX: usize = 10_000;

#[derive(Serialize)]
pub(super) struct SearchPage {
    query: String,
    filters: String,
    collection: String,
    document: String,
    problems: Vec<Problem>,
    /// Whether a search was run.
    is_run: bool,
    is_reranked: bool,
    /// Whether a passage has a dense score.
    has_dense: bool,
    rows: Vec<Row>,
    /// How the built-in answerer rates the units of the first passages; none if another model answers.
    units: Option<UnitTable>,
}

/// Units by features.
#[derive(Serialize)]
struct UnitTable {
    features: Vec<FeatureColumn>,
    constant: String,
    answer: String,
    decline: String,
    rows: Vec<UnitRow>,
}

#[derive(Serialize)]
struct FeatureColumn {
    name: &'static str,
    weight: String,
}

#[derive(Serialize)]
struct UnitRow {
    document: String,
    title: String,
    page: u32,
    text: String,
    probability: String,
    features: Vec<FeatureCell>,
}

#[derive(Serialize)]
struct FeatureCell {
    name: &'static str,
    value: String,
}

impl FeatureCell {
    fn of((name, value): (&'static str, &f32)) -> Self {
        Self { name, value: decimal(f64::from(*value), 2) }
    }
}

impl UnitTable {
    /// A table of the most probable units.
    fn of(ratings: &UnitRatings, passages: &[ScoredChunk]) -> Option<Self> {
        let names = ratings.features.iter().map(|feature| feature.name);
        let features = ratings.features.iter();
        let features = features.map(|it| FeatureColumn { name: it.name, weight: number(it.weight) });
        let rows = ratings.units.iter().take(LIMIT).filter_map(|unit| {
            let chunk = passages.get(unit.rank)?;
            Some(UnitRow {
                document: chunk.document_id.to_string(),
                title: chunk.title.clone(),
                page: unit.page,
                text: unit.text.clone(),
                probability: number(unit.probability),
                features: names.clone().zip(&unit.values).map(FeatureCell::of).collect(),
            })
        });
        let table = Self {
            features: features.collect(),
            constant: number(ratings.constant),
            answer: number(ratings.answer),
            decline: number(ratings.decline),
            rows: rows.collect(),
        };
        (!table.rows.is_empty()).then_some(table)
    }
}

/// Problem with a field of the form.
#[derive(Serialize)]
struct Problem {
    href: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Row {
    document: String,
    title: String,
    pages: String,
    text: String,
    score: String,
    /// Scores by field; none if the index has the passage no longer.
    fields: Option<FieldRow>,
}

#[derive(Serialize)]
struct FieldRow {
    body: String,
    headings: String,
    title: String,
    lead: String,
    dense: Option<String>,
}

impl FieldRow {
    fn of(scores: &FieldScores) -> Self {
        Self {
            body: number(scores.body),
            headings: number(scores.headings),
            title: number(scores.title),
            lead: number(scores.lead),
            dense: scores.dense.map(number),
        }
    }
}

impl Row {
    fn of(chunk: &ScoredChunk, fields: Option<&FieldScores>) -> Self {
        Self {
            document: chunk.document_id.to_string(),
            title: chunk.title.clone(),
            pages: place(chunk),
            text: chunk.text.clone(),
            score: number(chunk.score),
            fields: fields.map(FieldRow::of),
        }
    }
}

fn number(score: f32) -> String {
    decimal(f64::from(score), 3)
}

/// The fields of the form as submitted.
struct Request {
    query: String,
    filters: String,
    collection: String,
    document: String,
}

impl Request {
    fn of(query: &Query) -> Self {
        let text = |name| query.text(name).unwrap_or_default().trim().to_owned();
        Self {
            query: text("q"),
            filters: text("filters"),
            collection: text("collection"),
            document: text("document"),
        }
    }

    /// The documents to search, or the problems of the fields.
    fn selection(&self) -> Result<Selection, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut report = |href, text: String| problems.push(Problem { href, text });
        if self.query.chars().count() > QUERY_MAX {
            report("#q", problem(t!("search-query"), t!("rule-max-characters", count = QUERY_MAX)));
        }
        let condition = condition(&self.filters).unwrap_or_else(|text| {
            report("#filters", text);
            None
        });
        let collection: Option<CollectionId> = id(&self.collection).unwrap_or_else(|text| {
            report("#collection", problem(t!("collection"), text));
            None
        });
        let document: Option<DocumentId> = id(&self.document).unwrap_or_else(|text| {
            report("#document", problem(t!("document"), text));
            None
        });
        if !problems.is_empty() {
            return Err(problems);
        }
        let (collections, documents) = (collection.map(|id| vec![id]), document.map(|id| vec![id]));
        Ok(Selection { collections, documents, condition })
    }

    fn page(self, problems: Vec<Problem>, explained: Option<&ExplainedSearch>) -> SearchPage {
        let Self { query, filters, collection, document } = self;
        let passages = explained.map_or(&[][..], |explained| &explained.found.passages);
        let fields = |chunk: &ScoredChunk| explained.and_then(|explained| explained.fields.get(&chunk.id));
        let rows: Vec<Row> = passages.iter().map(|chunk| Row::of(chunk, fields(chunk))).collect();
        let has_dense = |row: &Row| row.fields.as_ref().is_some_and(|fields| fields.dense.is_some());
        SearchPage {
            query,
            filters,
            collection,
            document,
            problems,
            is_run: explained.is_some(),
            is_reranked: explained.is_some_and(|explained| explained.found.is_reranked),
            has_dense: rows.iter().any(has_dense),
            rows,
            units: explained
                .and_then(|explained| UnitTable::of(explained.ratings.as_ref()?, &explained.found.passages)),
        }
    }
}

/// What is wrong with a field.
fn problem(field: String, reason: String) -> String {
    t!("search-error", field = field, reason = reason)
}

fn condition(text: &str) -> Result<Option<Condition>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = |error| t!("search-filters-invalid", reason = language::reason(&error));
    condition_of_text(text).map(Some).map_err(invalid)
}

fn id<Id: std::str::FromStr>(text: &str) -> Result<Option<Id>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| t!("search-not-an-id", text = text.escape_debug().to_string()))
}

pub(super) async fn search(staff: Staff, context: State, query: Query) -> PageResult {
    let scope = Scope::everything(staff.authorize::<ViewDocuments>()?);
    let request = Request::of(&query);
    let selection = match request.selection() {
        Ok(selection) => selection,
        Err(problems) => return wrong(&staff, &context, request, problems),
    };
    if request.query.is_empty() {
        return staff.show(&context, "search", request.page(Vec::new(), None));
    }
    let grant = staff.authorize::<ReadDocuments>()?;
    let (app, text) = (Arc::clone(&context.app), request.query.clone());
    let explained = context.run(async move {
        let request = SearchRequest { query: &text, scope: &scope, selection: &selection, limit: LIMIT };
        use_case::explain(&app, grant, request).await
    });
    match explained.await? {
        Ok(explained) => staff.show(&context, "search", request.page(Vec::new(), Some(&explained))),
        Err(Error::NotFound(RecordKind::Collection)) => {
            let text = t!("search-no-collection");
            wrong(&staff, &context, request, vec![Problem { href: "#collection", text }])
        }
        Err(error) => Err(error.into()),
    }
}

fn wrong(staff: &Staff, context: &State, request: Request, problems: Vec<Problem>) -> PageResult {
    let page = request.page(problems, None);
    staff.show_with(StatusCode::UNPROCESSABLE_ENTITY, context, "search", page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for SearchPage {
        fn samples() -> Vec<Self> {
            let row = |dense: Option<f32>| Row {
                document: "1".to_owned(),
                title: "Title".to_owned(),
                pages: "pages 3–4".to_owned(),
                text: "Passage".to_owned(),
                score: number(4.5),
                fields: dense
                    .map(|dense| FieldRow::of(&FieldScores { dense: Some(dense), ..FieldScores::default() })),
            };
            let units = || UnitTable {
                features: vec![FeatureColumn { name: "feature", weight: number(1.5) }],
                constant: number(-4.0),
                answer: number(0.2),
                decline: number(0.1),
                rows: vec![UnitRow {
                    document: "1".to_owned(),
                    title: "Title".to_owned(),
                    page: 3,
                    text: "Unit".to_owned(),
                    probability: number(0.5),
                    features: vec![FeatureCell::of(("feature", &0.25))],
                }],
            };
            let page = |is_run: bool, rows: Vec<Row>| Self {
                query: "Query".to_owned(),
                filters: "{}".to_owned(),
                collection: "Collection".to_owned(),
                document: "Document".to_owned(),
                problems: vec![Problem { href: "#q", text: "Problem".to_owned() }],
                is_run,
                is_reranked: rows.len() == 1,
                has_dense: rows.len() == 2,
                units: (rows.len() == 2).then(units),
                rows,
            };
            vec![
                page(false, Vec::new()),
                page(true, Vec::new()),
                page(true, vec![row(None)]),
                page(true, vec![row(Some(0.5)), row(None)]),
            ]
        }
    }

    #[test]
    fn every_invalid_field_is_reported() {
        let text = |text: &str| text.to_owned();
        let request = Request {
            query: "x".repeat(10_001),
            filters: text("{"),
            collection: text("x"),
            document: text("y"),
        };
        let problems: Vec<_> =
            request.selection().unwrap_err().into_iter().map(|problem| problem.href).collect();
        assert_eq!(problems, ["#q", "#filters", "#collection", "#document"]);
        let problem = condition("{\"type\": \"is\"}").unwrap_err();
        assert!(problem.starts_with("Filters must have a type eq"), "{problem}");
    }
}
