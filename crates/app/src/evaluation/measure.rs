//! Runs the questions against the service and the baselines.

use super::baselines::Baselines;
use super::{LinkedQuestion, Passage, Question, Ranking, Relevance, SearchScope, Source};
use crate::error::Result;
use crate::generations::OpenIndex;
use crate::maintenance::progress::Progress;
use crate::search::Selected;
use crate::{App, search};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::condition::Condition;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::DocumentId;
use docent_domain::listing::DocumentFilter;
use docent_domain::retrieval::{Passages, QueryEmbedding, SparseVector};
use docent_domain::scope::Scope;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// The number of passages of a ranking that are examined.
pub const DEPTH: usize = 50;
/// Passages per embedding call.
const BATCH: usize = 64;

/// The documents and questions of an evaluation.
#[derive(Clone, Copy, Debug)]
pub struct EvaluationInput<'a> {
    /// The documents that are searched.
    pub sources: &'a [Source],
    /// The condition that these documents meet, if not all documents are searched.
    pub condition: Option<&'a Condition>,
    /// The questions.
    pub questions: &'a [LinkedQuestion],
    /// The number of top passages in which evidence is searched.
    pub top: usize,
}

/// A question with its results in all scopes and rankings.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionResult {
    /// The question.
    pub question: Question,
    /// The results.
    pub rankings: Vec<RankingResult>,
}

/// The result of one ranking in one scope.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingResult {
    /// The documents that were searched.
    pub scope: SearchScope,
    /// The ranking.
    pub ranking: Ranking,
    /// Its relevance.
    pub relevance: Relevance,
    /// The top passages.
    pub first: Vec<Passage>,
}

/// The results of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluationResult {
    /// The results by question, in order.
    pub questions: Vec<QuestionResult>,
    /// The number of passages.
    pub passages: usize,
    /// The embedding model.
    pub model: String,
    /// The reranking model, if one is used.
    pub reranker: Option<String>,
}

/// Searches for every question in all documents and, if its pages are known, in its own document, and measures the
/// rankings.
///
/// # Errors
/// When a component fails, including the reranker: results without it would not measure this configuration.
pub async fn measure(
    app: &App,
    grant: Grant<ReadDocuments>,
    input: &EvaluationInput<'_>,
    progress: &dyn Progress,
) -> Result<EvaluationResult> {
    let active = app.active_index().await?;
    let baselines = Arc::new(read_passages(app, &active, input.sources, progress).await?);
    let embedder = active.embedder()?;
    progress.begin("searching", Some(input.questions.len() as u64));
    let mut questions = Vec::with_capacity(input.questions.len());
    for LinkedQuestion { question, sources } in input.questions {
        let embedding = embedder.embed_query(&question.text).await?;
        let gold: Vec<DocumentId> = sources.iter().map(|source| source.document).collect();
        let mut rankings = Vec::new();
        for scope in SearchScope::of(question) {
            let document = (*scope == SearchScope::OneDocument).then(|| gold[0]);
            let documents = document.map(|_| &gold[..1]);
            let selected = Selected { documents, condition: input.condition, ..Selected::all(DEPTH) };
            let found = search::search_strict(app, grant, &question.text, selected).await?;
            let found = found.into_iter().map(Passage::from).collect();
            let mut ranked = vec![(Ranking::Docent, found)];
            ranked.extend(rank_baselines(&baselines, &embedding, document).await?);
            rankings.extend(ranked.into_iter().map(|(ranking, mut first)| {
                let relevance = Relevance::of(question, &gold, &first, input.top);
                first.truncate(input.top);
                RankingResult { scope: *scope, ranking, relevance, first }
            }));
        }
        questions.push(QuestionResult { question: question.clone(), rankings });
        progress.advance(1);
    }
    progress.end();
    let reranker = app.reranker.as_ref().map(|reranker| reranker.model().to_owned());
    Ok(EvaluationResult { questions, passages: baselines.len(), model: active.generation.model, reranker })
}

/// The documents of these that meet a condition.
///
/// # Errors
/// When the database cannot be read.
pub async fn matching(app: &App, sources: Vec<Source>, condition: &Condition) -> Result<Vec<Source>> {
    let ids = sources.iter().map(|source| source.document).collect();
    let all = DocumentFilter::of(Scope::SERVICE.clone());
    let filter = DocumentFilter { ids: Some(ids), condition: Some(condition.clone()), ..all };
    let found = app.store.read().await?.documents().list(&filter).await?;
    let found: HashSet<DocumentId> = found.into_iter().map(|document| document.id).collect();
    Ok(sources.into_iter().filter(|source| found.contains(&source.document)).collect())
}

/// Reads all passages for the baselines.
async fn read_passages(
    app: &App,
    active: &OpenIndex,
    sources: &[Source],
    progress: &dyn Progress,
) -> Result<Baselines> {
    progress.begin("reading passages", Some(sources.len() as u64));
    let (embedder, mut baselines) = (active.embedder()?, Baselines::default());
    for source in sources {
        let Some(version) = search::versions(app, Scope::SERVICE, &[source.document]).await?.pop() else {
            continue;
        };
        let chunks = active.index.chunks(version).await?;
        let mut terms = Vec::with_capacity(chunks.len());
        for batch in chunks.chunks(BATCH) {
            // Without title, lead and page numbers: only the text's own terms.
            let texts: Vec<(u32, &str)> = batch.iter().map(|chunk| (0, chunk.text.as_str())).collect();
            let passages = Passages { title: "", lead: "", chunks: &texts, headings: &[] };
            let sparse = embedder.embed_sparse(passages).await?;
            let sparse = sparse.unwrap_or_else(|| vec![SparseVector::default(); batch.len()]);
            terms.extend(sparse.into_iter().map(|sparse| sparse.body));
        }
        baselines.add(source.document, chunks, &terms);
        progress.advance(1);
    }
    progress.end();
    Ok(baselines)
}

async fn rank_baselines(
    baselines: &Arc<Baselines>,
    query: &QueryEmbedding,
    document: Option<DocumentId>,
) -> Result<Vec<(Ranking, Vec<Passage>)>> {
    let (baselines, query) = (Arc::clone(baselines), query.clone());
    let rank = move || {
        let mut ranked = Vec::new();
        if let Some(terms) = &query.sparse {
            ranked.push((Ranking::Bm25, baselines.by_terms(terms, document, DEPTH)));
        }
        if let Some(vector) = query.dense.as_ref().filter(|_| baselines.has_vectors()) {
            ranked.push((Ranking::Dense, baselines.by_vector(vector, document, DEPTH)));
        }
        ranked
    };
    let result = spawn_blocking(rank).await;
    Ok(result.map_err(|error| {
        Fault::new(Component::Service, FaultKind::Internal, "baseline ranking failed").caused_by(error)
    })?)
}
