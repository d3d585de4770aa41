//! Finding the chunks that fit a question.

use crate::{App, error::Result};
use docent_domain::{
    access::{Grant, ReadDocuments},
    id::DocumentId,
    retrieval::{ScoredChunk, without_copies},
};

/// The most chunks that the vector store is asked for when many it gives are copies, or belong to documents that
/// are not to be found.
const CANDIDATES_MAX: usize = 1000;

/// The chunks that fit `query` best, best first, at most `limit`; of `documents` alone when given. Only
/// ingested documents are found: not one that was deleted, though its chunks may still be there. Of chunks with
/// the same words only the best one is given, so that a file that was uploaded twice does not take the place of
/// others.
///
/// # Errors
/// When the embedder, the vector store or the database does not work.
pub async fn search(
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
    let serving = app.serving().await?;
    let embedding = serving.embedder()?.embed_query(query).await?;
    let mut asked = limit;
    loop {
        let candidates = serving.index.search(&embedding, documents, asked).await?;
        let is_all = candidates.len() < asked || asked >= CANDIDATES_MAX;
        // What is not to be found hides no copy of it that is.
        let mut found = without_copies(visible(app, candidates).await?);
        if found.len() >= limit || is_all {
            found.truncate(limit);
            return Ok(found);
        }
        asked = (asked * 4).min(CANDIDATES_MAX.max(limit));
    }
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
