//! Turning text into what the vector store finds it by.

use crate::error::Result;
use async_trait::async_trait;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use std::sync::Arc;

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

    /// Whether its embeddings have a dense part.
    fn makes_vectors(&self) -> bool;

    /// Names the model, for records; embeddings of different models do not mix.
    fn model(&self) -> &str;

    /// What stands for each chunk, where its embedding depends on nothing else: chunks with the same text have
    /// the same embedding, whatever their document, so that it may be remembered. None where it depends on more,
    /// or costs less than remembering it.
    fn texts(&self, _passages: Passages<'_>) -> Option<Vec<String>> {
        None
    }

    /// How many of these texts, from the first, are embedded by one call of a back end. At least 1.
    fn batch_size(&self, texts: &[String]) -> usize {
        texts.len().max(1)
    }

    /// Names whose embeddings may stand for one another: the model, and the back end that runs it.
    fn vector_space(&self) -> String {
        self.model().to_owned()
    }
}

/// The embedders of this process, by the names of their models.
pub trait Embedders: Send + Sync {
    /// The embedder that makes what a generation with this model holds. The same one each time, for what it
    /// remembers of its back end.
    ///
    /// # Errors
    /// `Unconfigured` when this process has no back end for the model; the fault names the setting.
    fn of_model(&self, model: &str) -> Result<Arc<dyn Embedder>>;
}
