//! Combines a sparse and a dense embedder.

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::embedder::{Embedder, Speller};
use futures::future::try_join;
use std::sync::Arc;

/// An embedder that takes sparse vectors from one embedder and dense vectors from another.
///
/// A fault of either embedder fails the call: chunks with only one vector would permanently rank lower.
pub struct HybridEmbedder {
    sparse: Arc<dyn Embedder>,
    dense: Arc<dyn Embedder>,
    model: String,
}

impl HybridEmbedder {
    /// Combines an embedder of sparse vectors with one of dense vectors.
    pub fn new(sparse: Arc<dyn Embedder>, dense: Arc<dyn Embedder>) -> Self {
        let model = format!("{}+{}", sparse.model(), dense.model());
        Self { sparse, dense, model }
    }
}

fn missing(part: &'static str) -> Fault {
    Fault::new(Component::Embedder, FaultKind::InvalidResponse, format!("the embedding has no {part} vector"))
}

#[async_trait]
impl Embedder for HybridEmbedder {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let both = try_join(self.sparse.embed_passages(passages), self.dense.embed_passages(passages));
        let (sparse, dense) = both.await?;
        let count = passages.chunks.len();
        if sparse.len() != count || dense.len() != count {
            let message =
                format!("{} sparse and {} dense embeddings for {count} chunks", sparse.len(), dense.len());
            return Err(Fault::new(Component::Embedder, FaultKind::InvalidResponse, message));
        }
        let join = |(sparse, dense): (Embedding, Embedding)| {
            Ok(Embedding {
                sparse: Some(sparse.sparse.ok_or_else(|| missing("sparse"))?),
                dense: Some(dense.dense.ok_or_else(|| missing("dense"))?),
                is_shortened: dense.is_shortened,
            })
        };
        sparse.into_iter().zip(dense).map(join).collect()
    }

    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        self.sparse.embed_sparse(passages).await
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let (sparse, dense) = try_join(self.sparse.embed_query(query), self.dense.embed_query(query)).await?;
        Ok(QueryEmbedding {
            sparse: Some(sparse.sparse.ok_or_else(|| missing("sparse"))?),
            dense: Some(dense.dense.ok_or_else(|| missing("dense"))?),
        })
    }

    fn makes_vectors(&self) -> bool {
        self.dense.makes_vectors()
    }

    fn speller(&self) -> Option<&dyn Speller> {
        self.sparse.speller()
    }

    fn model(&self) -> &str {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::retrieval::{QueryTerm, SparseVector, TermCounts};
    use docent_testkit::fakes::embedder::FakeEmbedder;

    docent_testkit::embedder_contract!(async {
        let sparse = Arc::new(FakeEmbedder::default());
        (Arc::new(HybridEmbedder::new(sparse, Arc::new(FakeEmbedder::with_dense(64)))) as _, ())
    });

    /// Returns `embedding` `times` times for each chunk, or `fault`.
    struct Fixed {
        embedding: Embedding,
        times: usize,
        fault: Option<FaultKind>,
    }

    fn terms() -> TermCounts {
        TermCounts::count(["pump".to_owned()])
    }

    fn sparse() -> Embedding {
        let sparse = SparseVector { body: terms(), ..SparseVector::default() };
        Embedding { sparse: Some(sparse), ..Embedding::default() }
    }

    fn dense() -> Embedding {
        Embedding { dense: Some(vec![1.0]), is_shortened: true, ..Embedding::default() }
    }

    fn fixed(embedding: Embedding) -> Fixed {
        Fixed { embedding, times: 1, fault: None }
    }

    fn hybrid(sparse: Fixed, dense: Fixed) -> HybridEmbedder {
        HybridEmbedder::new(Arc::new(sparse), Arc::new(dense))
    }

    #[async_trait]
    impl Embedder for Fixed {
        async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
            match self.fault {
                Some(kind) => Err(Fault::new(Component::Embedder, kind, "down")),
                None => Ok(vec![self.embedding.clone(); self.times * passages.chunks.len()]),
            }
        }

        async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
            Ok(self.embed_passages(passages).await?.into_iter().map(|embedding| embedding.sparse).collect())
        }

        async fn embed_query(&self, _query: &str) -> Result<QueryEmbedding> {
            let words =
                |sparse: &SparseVector| sparse.body.iter().map(|(term, _)| QueryTerm::word(term)).collect();
            let sparse = self.embedding.sparse.as_ref().map(words);
            match self.fault {
                Some(kind) => Err(Fault::new(Component::Embedder, kind, "down")),
                None => Ok(QueryEmbedding { sparse, dense: self.embedding.dense.clone() }),
            }
        }

        fn makes_vectors(&self) -> bool {
            self.embedding.dense.is_some()
        }

        fn model(&self) -> &'static str {
            if self.embedding.dense.is_some() { "d" } else { "s" }
        }
    }

    const CHUNKS: Passages<'static> =
        Passages { title: "t", lead: "l", chunks: &[(1, "a"), (2, "b")], headings: &[] };

    #[tokio::test]
    async fn sparse_and_dense_vectors_are_combined() {
        let hybrid = hybrid(fixed(sparse()), fixed(dense()));
        let both = Embedding { sparse: sparse().sparse, ..dense() };
        assert_eq!(hybrid.embed_passages(CHUNKS).await.unwrap(), [both.clone(), both]);
        let words = terms().iter().map(|(term, _)| QueryTerm::word(term)).collect();
        let query = QueryEmbedding { sparse: Some(words), dense: Some(vec![1.0]) };
        assert_eq!(hybrid.embed_query("pump").await.unwrap(), query);
        assert_eq!(hybrid.model(), "s+d");
    }

    #[tokio::test]
    async fn missing_vector_or_chunk_is_invalid() {
        let broken = [
            hybrid(fixed(dense()), fixed(dense())),
            hybrid(fixed(sparse()), fixed(sparse())),
            hybrid(Fixed { times: 2, ..fixed(sparse()) }, fixed(dense())),
            hybrid(fixed(sparse()), Fixed { times: 0, ..fixed(dense()) }),
        ];
        for hybrid in broken {
            let fault = hybrid.embed_passages(CHUNKS).await.unwrap_err();
            assert_eq!(fault.kind(), FaultKind::InvalidResponse);
        }
        let one_sided = hybrid(fixed(sparse()), fixed(sparse()));
        assert_eq!(one_sided.embed_query("pump").await.unwrap_err().kind(), FaultKind::InvalidResponse);
    }

    #[tokio::test]
    async fn fault_of_either_embedder_fails_the_call() {
        let down = |embedding| Fixed { fault: Some(FaultKind::Timeout), ..fixed(embedding) };
        for hybrid in [hybrid(down(sparse()), fixed(dense())), hybrid(fixed(sparse()), down(dense()))] {
            assert_eq!(hybrid.embed_passages(CHUNKS).await.unwrap_err().kind(), FaultKind::Timeout);
            assert_eq!(hybrid.embed_query("pump").await.unwrap_err().kind(), FaultKind::Timeout);
        }
    }
}
