//! Searches the ingested documents.

mod named_pages;
mod scores;
pub(crate) mod search_docs;
mod spelling;

use crate::error::Result;
use crate::{App, scope};
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::condition::Condition;
use docent_domain::explanation::{FieldScores, UnitRatings};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::{ChunkId, DocumentId, VersionId};
use docent_domain::passage_text::{header, with_header};
use docent_domain::retrieval::{ChunkFilter, FoundChunk, ScoredChunk, deduplicated};
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::spelling::Correction;
use docent_ports::reranker::Reranker;
use docent_text::neighbours::{self, MERGED_RANKS};
use std::collections::HashMap;

/// Maximum number of chunks requested from the vector store when many results are duplicates, or belong to documents
/// that are not ingested.
const CANDIDATES_MAX: usize = 1000;

/// Minimum number of chunks that the reranker scores.
const RERANK_CANDIDATES: usize = 50;

/// What is searched for, and where.
#[derive(Clone, Copy, Debug)]
pub struct SearchRequest<'a> {
    /// The text that is searched for.
    pub query: &'a str,
    /// Only documents in this scope.
    pub scope: &'a Scope,
    /// Only these documents of the scope.
    pub selection: &'a Selection,
    /// Maximum number of results.
    pub limit: usize,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults {
    /// The chunks, best first.
    pub passages: Vec<ScoredChunk>,
    /// Whether the scores are those of the reranker.
    pub is_reranked: bool,
    /// Words that no document has, with those that were searched for in their place.
    pub corrections: Vec<Correction>,
}

impl SearchResults {
    /// Score of the best chunk, if it can be compared with those of other searches: only a reranker scores each chunk on
    /// its own.
    pub fn best_score(&self) -> Option<f32> {
        self.passages.first().filter(|_| self.is_reranked).map(|best| best.score)
    }

    /// The scores of the passages from 0 to 1, in their order.
    pub fn scores(&self) -> Vec<f64> {
        let scores: Vec<f64> = self.passages.iter().map(|passage| f64::from(passage.score)).collect();
        scores::calibrate(&scores, self.is_reranked)
    }
}

/// Returns the chunks that match the query, best first. Chunks of documents that were deleted or left the scope are left out, even
/// if the index still has them there. Of chunks with the same text only the best is returned, so that a file uploaded twice does not
/// displace other results. Chunks that follow each other are one result.
///
/// Order and scores are those of the reranker if one is configured and works, and otherwise those of the vector store.
///
/// # Errors
/// [`Error::NotFound`](crate::Error::NotFound) for a selected collection outside the scope; or when the embedder, the vector
/// store or the database fails.
pub async fn search(
    app: &App,
    grant: Grant<ReadDocuments>,
    request: SearchRequest<'_>,
) -> Result<SearchResults> {
    let SearchRequest { query, scope, selection, limit } = request;
    let (scope, condition) = scope::select(scope, selection)?;
    let (condition, documents) = (condition.as_ref(), selection.documents.as_deref());
    let selected = Selected { scope: &scope, condition, documents, limit };
    let Ranked { passages, reranked, corrections } = ranked(app, grant, query, selected).await?;
    let is_reranked = app.reranker.is_some() && reranked.is_ok();
    if let Err(fault) = reranked {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "the reranker failed; the search uses the order of the vector store");
    }
    Ok(SearchResults { passages, is_reranked, corrections })
}

/// The result of a search with an explanation of its scores.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedSearch {
    /// The result.
    pub found: SearchResults,
    /// Scores by field of the chunks that the index still has.
    pub fields: HashMap<ChunkId, FieldScores>,
    /// How the built-in answerer rates the result; `None` if another model answers.
    pub ratings: Option<UnitRatings>,
}

/// How the built-in answerer rates the parts of the passages that it would receive of this result. `None` if another model answers.
pub async fn rate(app: &App, query: &str, found: &SearchResults) -> Option<UnitRatings> {
    let received = found.passages.len().min(app.settings.search_limit);
    app.model.rate(query, &found.passages[..received], &found.corrections).await
}

/// Like [`search`], and says how much each field contributes to the scores of the index.
///
/// # Errors
/// As [`search`].
pub async fn explain(
    app: &App,
    grant: Grant<ReadDocuments>,
    request: SearchRequest<'_>,
) -> Result<ExplainedSearch> {
    let found = search(app, grant, request).await?;
    let SearchRequest { query, scope, selection, .. } = request;
    let ratings = rate(app, query, &found).await;
    let mut documents: Vec<DocumentId> = found.passages.iter().map(|passage| passage.document_id).collect();
    documents.sort_unstable();
    documents.dedup();
    let (scope, condition) = scope::select(scope, selection)?;
    let versions = versions(app, &scope, &documents).await?;
    if versions.is_empty() {
        return Ok(ExplainedSearch { found, fields: HashMap::new(), ratings });
    }
    let active = app.active_index().await?;
    let condition = condition.as_ref();
    // The chunks that were found are among the best ones of their documents too.
    let filter = ChunkFilter { scope: &scope, condition, versions: Some(&versions), limit: CANDIDATES_MAX };
    let (embedding, _) = spelling::embed(&**active.embedder()?, &*active.index, query, filter).await?;
    let fields = active.index.explain(&embedding, filter).await?;
    Ok(ExplainedSearch { found, fields, ratings })
}

/// The chunks that a search is limited to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected<'a> {
    /// Only chunks of documents in this scope.
    pub(crate) scope: &'a Scope,
    /// Only chunks of documents that meet this condition.
    pub(crate) condition: Option<&'a Condition>,
    /// Only chunks of these documents.
    pub(crate) documents: Option<&'a [DocumentId]>,
    /// Maximum number of chunks.
    pub(crate) limit: usize,
}

impl Selected<'static> {
    /// The chunks of all documents.
    pub(crate) const fn all(limit: usize) -> Self {
        Self { scope: Scope::SERVICE, condition: None, documents: None, limit }
    }
}

/// The searched versions of those of these documents that are ingested and in the scope.
///
/// # Errors
/// When the database fails.
pub(crate) async fn versions(app: &App, scope: &Scope, documents: &[DocumentId]) -> Result<Vec<VersionId>> {
    if documents.is_empty() {
        return Ok(Vec::new());
    }
    Ok(app.store.read_latest().await?.documents().versions(documents, scope).await?)
}

/// Searches without a fallback for the reranker, for evaluations.
///
/// # Errors
/// As [`search`], and when the reranker fails.
pub(crate) async fn search_strict(
    app: &App,
    grant: Grant<ReadDocuments>,
    query: &str,
    selected: Selected<'_>,
) -> Result<Vec<ScoredChunk>> {
    let Ranked { passages, reranked, .. } = ranked(app, grant, query, selected).await?;
    reranked?;
    Ok(passages)
}

/// The best chunks for a query.
struct Ranked {
    passages: Vec<ScoredChunk>,
    /// Whether the reranker failed. The chunks are then in the order of the vector store.
    reranked: Result<(), Fault>,
    corrections: Vec<Correction>,
}

async fn ranked(
    app: &App,
    _grant: Grant<ReadDocuments>,
    query: &str,
    selected: Selected<'_>,
) -> Result<Ranked> {
    let Candidates { mut found, headings, corrections } = candidates(app, query, selected).await?;
    let reranked = match &app.reranker {
        Some(reranker) => rerank(&**reranker, query, &mut found, &headings).await,
        None => Ok(()),
    };
    let found = named_pages::put_first(app, query, selected.scope, found).await?;
    let mut passages = neighbours::merge(found);
    passages.truncate(selected.limit);
    Ok(Ranked { passages, reranked, corrections })
}

/// The best chunks in the order of the vector store.
#[derive(Default)]
struct Candidates {
    found: Vec<ScoredChunk>,
    /// The headings before each chunk, for the reranker.
    headings: HashMap<ChunkId, String>,
    corrections: Vec<Correction>,
}

/// Returns more chunks than the limit, because some will be merged, and because a reranker needs a choice. At most
/// [`MERGED_RANKS`] chunks are merged with others, so that as many more suffice.
async fn candidates(app: &App, query: &str, selected: Selected<'_>) -> Result<Candidates> {
    let Selected { scope, condition, documents, limit } = selected;
    let mut versions = selected_versions(app, scope, documents).await?;
    // A vector store may treat an empty filter as no filter.
    if limit == 0 || scope.is_empty() || versions.as_ref().is_some_and(Vec::is_empty) {
        return Ok(Candidates::default());
    }
    let limit = match app.reranker {
        // The reranker must score every chunk that is returned: scores of different kinds cannot be compared.
        Some(_) => (limit + MERGED_RANKS).max(RERANK_CANDIDATES),
        None => limit + MERGED_RANKS,
    };
    let active = app.active_index().await?;
    let filter = ChunkFilter { scope, condition, versions: versions.as_deref(), limit };
    let (embedding, corrections) =
        spelling::embed(&**active.embedder()?, &*active.index, query, filter).await?;
    let (mut requested, mut is_repeated) = (limit, false);
    loop {
        let filter = ChunkFilter { scope, condition, versions: versions.as_deref(), limit: requested };
        let mut candidates = active.index.search(&embedding, filter).await?;
        let headings = candidates.iter_mut().map(|chunk| (chunk.id, std::mem::take(&mut chunk.headings)));
        let headings = headings.collect();
        let number = candidates.len();
        let is_all = number < requested || requested >= CANDIDATES_MAX;
        // Filtered first: a chunk of a deleted document must not hide its duplicate in another document.
        let found = searchable(app, scope, candidates).await?;
        if !is_repeated {
            // A document whose chunks were read before its new version was written, and whose record afterwards, is found
            // in neither. With selected documents it is not found either if its former version was removed before the search.
            let before = std::mem::replace(&mut versions, selected_versions(app, scope, documents).await?);
            if found.len() < number || versions != before {
                is_repeated = true;
                continue;
            }
        }
        let mut found = deduplicated(found);
        if found.len() >= limit || is_all {
            found.truncate(limit);
            return Ok(Candidates { found, headings, corrections });
        }
        requested = (requested * 4).min(CANDIDATES_MAX.max(limit));
    }
}

/// The searched versions of the selected documents; `None` if none are selected.
async fn selected_versions(
    app: &App,
    scope: &Scope,
    documents: Option<&[DocumentId]>,
) -> Result<Option<Vec<VersionId>>> {
    let Some(documents) = documents else { return Ok(None) };
    let mut versions = versions(app, scope, documents).await?;
    versions.sort_unstable();
    Ok(Some(versions))
}

/// Sorts the chunks by the scores of the reranker; chunks with equal scores keep their order. After an error they are
/// unchanged.
async fn rerank(
    reranker: &dyn Reranker,
    query: &str,
    found: &mut [ScoredChunk],
    headings: &HashMap<ChunkId, String>,
) -> Result<(), Fault> {
    if found.is_empty() {
        return Ok(());
    }
    // Title and headings often have facts that a passage lacks, such as the company and the year of a report.
    let text = |chunk: &ScoredChunk| {
        let headings = headings.get(&chunk.id).map_or("", String::as_str);
        with_header(&header(chunk, headings), &chunk.text)
    };
    let texts: Vec<String> = found.iter().map(text).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = reranker.rerank(query, &texts).await?;
    if scores.len() != found.len() || !scores.iter().all(|score| score.is_finite()) {
        let message =
            format!("{} scores for {} passages, or a score that is not finite", scores.len(), found.len());
        return Err(Fault::new(Component::Reranker, FaultKind::InvalidResponse, message));
    }
    for (chunk, score) in found.iter_mut().zip(scores) {
        chunk.score = score;
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// The chunks that belong to ingested documents of the scope, as the records are now.
async fn searchable(app: &App, scope: &Scope, chunks: Vec<FoundChunk>) -> Result<Vec<ScoredChunk>> {
    if chunks.is_empty() {
        return Ok(Vec::new());
    }
    let mut versions: Vec<VersionId> = chunks.iter().map(|chunk| chunk.version).collect();
    versions.sort_unstable();
    versions.dedup();
    let searchable = app.store.read().await?.documents().searchable(&versions, scope).await?;
    let known = |chunk: FoundChunk| searchable.get(&chunk.version).map(|version| chunk.in_version(version));
    Ok(chunks.into_iter().filter_map(known).collect())
}
