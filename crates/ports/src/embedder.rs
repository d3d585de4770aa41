//! Turning text into what the vector store finds it by.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};

/// Embeds text.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Embeds chunks of one document: one embedding for each, in their order.
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>>;

    /// The sparse parts that [`Self::embed_passages`] gives, without asking any back end: for chunks whose
    /// dense vectors are there already. `None` when its embeddings have no sparse part.
    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>>;

    /// Embeds a question.
    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding>;

    /// Names the model, for records; embeddings of different models do not mix.
    fn model(&self) -> &str;
}
