//! Reranker without a model.

use crate::retrieval::words_in_common;
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_ports::reranker::Reranker;

/// Scores a passage by the share of the query's words that it contains.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeReranker;

#[async_trait]
impl Reranker for FakeReranker {
    async fn rerank(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>> {
        Ok(passages.iter().map(|passage| words_in_common(query, passage)).collect())
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }

    fn model(&self) -> &'static str {
        "fake-reranker"
    }
}
