//! Turning text into what the vector store finds it by.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding};

/// Embeds text.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Embeds chunks of one document: one embedding for each, in their order.
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>>;

    /// Embeds a question.
    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding>;

    /// Names the model, for records; embeddings of different models do not mix.
    fn model(&self) -> &str;
}
