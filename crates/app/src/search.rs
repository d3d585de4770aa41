//! Searches the ingested documents.

use crate::App;
use crate::error::Result;
use docent_domain::access::{Grant, ReadDocuments};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::DocumentId;
use docent_domain::retrieval::{ChunkFilter, ScoredChunk, deduplicated};
use docent_ports::reranker::Reranker;

/// Maximum number of chunks requested from the vector store when many results are duplicates, or belong to documents
/// that are not ingested.
const CANDIDATES_MAX: usize = 1000;

/// Minimum number of chunks that the reranker scores.
const RERANK_CANDIDATES: usize = 50;

/// Returns at most `limit` chunks that match `query`, best first; only from `documents` if given. Chunks of deleted
/// documents are left out, even if the index still has them. Of chunks with the same text only the best is returned,
/// so that a file uploaded twice does not displace other results.
///
/// Order and scores are those of the reranker if one is configured and works, and otherwise those of the vector store.
///
/// # Errors
/// When the embedder, the vector store or the database fails.
pub async fn search(
    app: &App,
    grant: Grant<ReadDocuments>,
    query: &str,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<ScoredChunk>> {
    let (found, reranked) = ranked(app, grant, query, ChunkFilter { documents, limit }).await?;
    if let Err(fault) = reranked {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "the reranker failed; the search uses the order of the vector store");
    }
    Ok(found)
}

/// Searches without a fallback for the reranker, for evaluations.
///
/// # Errors
/// As [`search`], and when the reranker fails.
pub(crate) async fn search_strict(
    app: &App,
    grant: Grant<ReadDocuments>,
    query: &str,
    filter: ChunkFilter<'_>,
) -> Result<Vec<ScoredChunk>> {
    let (found, reranked) = ranked(app, grant, query, filter).await?;
    reranked?;
    Ok(found)
}

/// The best chunks, and whether the reranker failed. They are then in the order of the vector store.
async fn ranked(
    app: &App,
    _grant: Grant<ReadDocuments>,
    query: &str,
    filter: ChunkFilter<'_>,
) -> Result<(Vec<ScoredChunk>, Result<(), Fault>)> {
    let mut found = candidates(app, query, filter).await?;
    let reranked = match &app.reranker {
        Some(reranker) => rerank(&**reranker, query, &mut found).await,
        None => Ok(()),
    };
    found.truncate(filter.limit);
    Ok((found, reranked))
}

/// The best chunks in the order of the vector store; more than the limit if a reranker is configured.
async fn candidates(app: &App, query: &str, filter: ChunkFilter<'_>) -> Result<Vec<ScoredChunk>> {
    let ChunkFilter { documents, limit } = filter;
    // A vector store may treat an empty filter as no filter.
    if limit == 0 || documents.is_some_and(<[DocumentId]>::is_empty) {
        return Ok(Vec::new());
    }
    // The reranker must score every chunk that is returned: scores of different kinds cannot be compared.
    let limit = app.reranker.as_ref().map_or(limit, |_| limit.max(RERANK_CANDIDATES));
    let active = app.active_index().await?;
    let embedding = active.embedder()?.embed_query(query).await?;
    let mut requested = limit;
    loop {
        let candidates = active.index.search(&embedding, ChunkFilter { documents, limit: requested }).await?;
        let is_all = candidates.len() < requested || requested >= CANDIDATES_MAX;
        // Filtered first: a chunk of a deleted document must not hide its duplicate in another document.
        let mut found = deduplicated(of_ingested(app, candidates).await?);
        if found.len() >= limit || is_all {
            found.truncate(limit);
            return Ok(found);
        }
        requested = (requested * 4).min(CANDIDATES_MAX.max(limit));
    }
}

/// Sorts the chunks by the scores of the reranker; chunks with equal scores keep their order. After an error they are
/// unchanged.
async fn rerank(reranker: &dyn Reranker, query: &str, found: &mut [ScoredChunk]) -> Result<(), Fault> {
    if found.is_empty() {
        return Ok(());
    }
    // The title often has facts that a passage lacks, such as the company and the year of a report.
    let texts: Vec<String> = found.iter().map(|chunk| format!("{}\n\n{}", chunk.title, chunk.text)).collect();
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

/// The chunks that belong to ingested documents.
async fn of_ingested(app: &App, chunks: Vec<ScoredChunk>) -> Result<Vec<ScoredChunk>> {
    if chunks.is_empty() {
        return Ok(chunks);
    }
    let mut documents: Vec<DocumentId> = chunks.iter().map(|chunk| chunk.document_id).collect();
    documents.sort_unstable();
    documents.dedup();
    let ingested = app.store.read().await?.documents().ingested(&documents).await?;
    Ok(chunks.into_iter().filter(|chunk| ingested.contains(&chunk.document_id)).collect())
}
