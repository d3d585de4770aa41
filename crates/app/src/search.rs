//! Finding the chunks that fit a question.

use crate::{App, error::Result};
use docent_domain::{
    access::{Grant, ReadDocuments},
    fault::{Component, Fault, FaultKind},
    id::DocumentId,
    retrieval::{ScoredChunk, deduplicated},
};
use docent_ports::reranker::Reranker;

/// The most chunks that the vector store is asked for when many it gives are copies, or belong to documents that
/// are not to be found.
const CANDIDATES_MAX: usize = 1000;

/// Chunks of a search that the reranker scores, if the search returns no more than that.
const RERANK_CANDIDATES: usize = 50;

/// The chunks that fit `query` best, best first, at most `limit`; of `documents` alone when given. Only
/// ingested documents are found: not one that was deleted, though its chunks may still be there. Of chunks with
/// the same words only the best one is given, so that a file that was uploaded twice does not take the place of
/// others.
///
/// Where there is a reranker, order and scores are its own. While it does not work they are those of the vector
/// store.
///
/// # Errors
/// When the embedder, the vector store or the database does not work.
pub async fn search(
    app: &App,
    grant: Grant<ReadDocuments>,
    query: &str,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<ScoredChunk>> {
    let mut found = candidates(app, grant, query, documents, limit).await?;
    if let Some(reranker) = &app.reranker
        && let Err(fault) = rerank(&**reranker, query, &mut found).await
    {
        app.note(&fault);
        tracing::warn!(fault = %fault.report(), "a search goes on without the reranker");
    }
    found.truncate(limit);
    Ok(found)
}

/// The same, for who measures how good that is: nothing else stands for what a reranker does not give.
///
/// # Errors
/// Also when the reranker does not work.
pub(crate) async fn search_in_full(
    app: &App,
    grant: Grant<ReadDocuments>,
    query: &str,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<ScoredChunk>> {
    let mut found = candidates(app, grant, query, documents, limit).await?;
    if let Some(reranker) = &app.reranker {
        rerank(&**reranker, query, &mut found).await?;
    }
    found.truncate(limit);
    Ok(found)
}

/// The best chunks in the order of the vector store; more than `limit` where a reranker is to choose among them.
async fn candidates(
    app: &App,
    _grant: Grant<ReadDocuments>,
    query: &str,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<ScoredChunk>> {
    // A store may take a filter that names nothing for none.
    if limit == 0 || documents.is_some_and(<[DocumentId]>::is_empty) {
        return Ok(Vec::new());
    }
    // All that is given has a score of the same kind, so the reranker is given at least as much.
    let limit = app.reranker.as_ref().map_or(limit, |_| limit.max(RERANK_CANDIDATES));
    let serving = app.serving().await?;
    let embedding = serving.embedder()?.embed_query(query).await?;
    let mut asked = limit;
    loop {
        let candidates = serving.index.search(&embedding, documents, asked).await?;
        let is_all = candidates.len() < asked || asked >= CANDIDATES_MAX;
        // What is not to be found hides no copy of it that is.
        let mut found = deduplicated(visible(app, candidates).await?);
        if found.len() >= limit || is_all {
            found.truncate(limit);
            return Ok(found);
        }
        asked = (asked * 4).min(CANDIDATES_MAX.max(limit));
    }
}

/// Gives the chunks the order and the scores of the reranker, or leaves them as they are. Of equals the one that
/// came first stays so.
async fn rerank(reranker: &dyn Reranker, query: &str, found: &mut [ScoredChunk]) -> Result<(), Fault> {
    if found.is_empty() {
        return Ok(());
    }
    // The title says what a passage alone may not: whose report it is, and of which year.
    let texts: Vec<String> = found.iter().map(|chunk| format!("{}\n\n{}", chunk.title, chunk.text)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let scores = reranker.rerank(query, &texts).await?;
    if scores.len() != found.len() || !scores.iter().all(|score| score.is_finite()) {
        let message =
            format!("{} scores for {} passages, or none that are numbers", scores.len(), found.len());
        return Err(Fault::new(Component::Reranker, FaultKind::InvalidResponse, message));
    }
    for (chunk, score) in found.iter_mut().zip(scores) {
        chunk.score = score;
    }
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(())
}

/// Those that belong to ingested documents.
async fn visible(app: &App, chunks: Vec<ScoredChunk>) -> Result<Vec<ScoredChunk>> {
    if chunks.is_empty() {
        return Ok(chunks);
    }
    let mut documents: Vec<DocumentId> = chunks.iter().map(|chunk| chunk.document_id).collect();
    documents.sort_unstable();
    documents.dedup();
    let ingested = app.store.read().await?.documents().ingested(&documents).await?;
    Ok(chunks.into_iter().filter(|chunk| ingested.contains(&chunk.document_id)).collect())
}
