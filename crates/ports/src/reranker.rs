//! Reranking of search results.

use async_trait::async_trait;
use docent_domain::fault::Result;

/// Scores passages with a model that reads them together with the query: more accurate than a vector store, but too
/// slow for more than the best candidates.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// Returns one finite relevance score per passage, in order. Higher is better; comparable only within one call.
    ///
    /// # Errors
    /// If the back end is unavailable, too slow, rejects the request or returns invalid scores. Implementations do not
    /// retry: the caller can do without, and a user is waiting.
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>>;

    /// Checks the state without calling the back end, since a call may cost money.
    ///
    /// # Errors
    /// The fault of the last call.
    async fn check(&self) -> Result<()>;

    /// Name of the model, for records.
    fn model(&self) -> &str;
}
