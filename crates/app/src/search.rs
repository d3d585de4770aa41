//! Finding the chunks that fit a question.

use crate::{App, error::Result};
use docent_domain::{
    access::{Grant, ReadDocuments},
    id::DocumentId,
    retrieval::ScoredChunk,
};

/// The chunks that fit `query` best, best first, at most `limit`; of `documents` alone when given.
///
/// # Errors
/// When the embedder or the vector store does not work.
pub async fn search(
    app: &App,
    _grant: Grant<ReadDocuments>,
    query: &str,
    documents: Option<&[DocumentId]>,
    limit: usize,
) -> Result<Vec<ScoredChunk>> {
    let embedding = app.embedder.embed_query(query).await?;
    Ok(app.index.search(&embedding, documents, limit).await?)
}
