//! A reranker that needs no model.

use crate::retrieval::words_in_common;
use async_trait::async_trait;
use docent_ports::{error::Result, reranker::Reranker};

/// A passage's score is the share of the query's words that it has.
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
