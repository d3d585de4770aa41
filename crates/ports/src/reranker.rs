//! Ranking passages once more.

use crate::error::Result;
use async_trait::async_trait;

/// Judges passages by reading them together with the question: better than a vector store ranks, and too slow for
/// more than the best few of what it finds.
#[async_trait]
pub trait Reranker: Send + Sync {
    /// How well each passage answers the query: one finite score for each, in their order. Higher is better;
    /// comparable within one call only.
    ///
    /// # Errors
    /// When it cannot be reached, is too slow, refuses or gives no such scores. Whoever asks can do without: somebody
    /// waits, so that an implementation does not try again by itself.
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>>;

    /// Whether it works, as far as is known without asking it: a call may cost money.
    ///
    /// # Errors
    /// The fault that the last call met.
    async fn check(&self) -> Result<()>;

    /// Names the model, for records.
    fn model(&self) -> &str;
}
