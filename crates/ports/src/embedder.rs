//! Embedding of text.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_domain::spelling::SpelledWord;
use std::sync::Arc;

/// Embeds text.
#[async_trait]
pub trait Embedder: Send + Sync {
    /// Embeds chunks of one document. Returns one embedding per chunk, in order.
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>>;

    /// Computes only the sparse part of [`Self::embed_passages`], without calling a back end, for chunks whose dense
    /// vectors exist already. `None` if the embeddings have no sparse part.
    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>>;

    /// Embeds a query.
    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding>;

    /// Whether its embeddings have a dense part.
    fn makes_vectors(&self) -> bool;

    /// Name of the model, for records. Embeddings of different models are not comparable.
    fn model(&self) -> &str;

    /// Returns the cache key text of each chunk if its embedding depends on nothing else: equal texts have equal
    /// embeddings, whatever the document. `None` if the embedding depends on more or is cheaper than a cache look-up.
    fn texts(&self, _passages: Passages<'_>) -> Option<Vec<String>> {
        None
    }

    /// Returns how many of these texts, from the first, one call of the back end embeds. At least 1.
    fn batch_size(&self, texts: &[String]) -> usize {
        texts.len().max(1)
    }

    /// Returns what knows how its terms are spelled; `None` if the embeddings have no sparse part.
    fn speller(&self) -> Option<&dyn Speller> {
        None
    }

    /// Identifies the vector space: embeddings are interchangeable if the model and the back end are the same.
    fn vector_space(&self) -> String {
        self.model().to_owned()
    }
}

/// Relates the words of queries to terms.
pub trait Speller: Send + Sync {
    /// Returns the words of a query that may be misspelled, with their terms.
    fn words(&self, query: &str) -> Vec<SpelledWord>;

    /// Returns the words that may be meant by a misspelled word of a query, likely mistakes first.
    fn meant_by(&self, word: &str, query: &str) -> Vec<SpelledWord>;
}

/// The embedders of this process by model name.
pub trait Embedders: Send + Sync {
    /// Returns the embedder of a model. Always returns the same instance, which keeps state about its back end.
    ///
    /// # Errors
    /// `Unconfigured` if no back end is configured for the model; the fault names the setting.
    fn of_model(&self, model: &str) -> Result<Arc<dyn Embedder>>;
}
