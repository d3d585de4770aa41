//! Embedder without a model.

use crate::retrieval::{query_terms, terms};
use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_domain::spelling::{SpelledWord, one_mistake_from};
use docent_ports::embedder::{Embedder, Speller};

/// An embedder whose sparse part counts lower-case words and whose optional dense part sums up hashes of words.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeEmbedder {
    dimensions: usize,
}

impl FakeEmbedder {
    /// Creates an embedder with a dense part of this many dimensions.
    pub fn with_dense(dimensions: usize) -> Self {
        Self { dimensions }
    }

    fn dense(self, text: &str) -> Option<Vec<f32>> {
        if self.dimensions == 0 {
            return None;
        }
        let mut vector = vec![0.0_f32; self.dimensions];
        for (word, n) in terms(text).iter() {
            let hash =
                word.bytes().fold(7_usize, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
            vector[hash % self.dimensions] += n as f32;
        }
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        if length == 0.0 {
            vector[0] = 1.0;
        } else {
            vector.iter_mut().for_each(|number| *number /= length);
        }
        Some(vector)
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let embed = |(_, text): &(u32, &str)| {
            let sparse = SparseVector {
                body: terms(text),
                title: terms(passages.title),
                lead: terms(passages.lead),
                ..SparseVector::default()
            };
            Embedding { sparse: Some(sparse), dense: self.dense(text), is_shortened: false }
        };
        Ok(passages.chunks.iter().map(embed).collect())
    }

    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        Ok(self.embed_passages(passages).await?.into_iter().map(|embedding| embedding.sparse).collect())
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        Ok(QueryEmbedding { sparse: Some(query_terms(query)), dense: self.dense(query) })
    }

    fn makes_vectors(&self) -> bool {
        self.dimensions > 0
    }

    fn model(&self) -> &'static str {
        "fake-embedder"
    }

    fn speller(&self) -> Option<&dyn Speller> {
        Some(self)
    }
}

/// Words have the terms that they are; words of fewer than four letters are not corrected.
impl Speller for FakeEmbedder {
    fn words(&self, query: &str) -> Vec<SpelledWord> {
        let words = terms(query);
        let long = words.iter().filter(|(word, _)| word.chars().all(char::is_alphabetic) && word.len() > 3);
        long.map(|(word, _)| spelled(word.to_owned())).collect()
    }

    fn meant_by(&self, word: &str, _query: &str) -> Vec<SpelledWord> {
        one_mistake_from(word).into_iter().map(spelled).collect()
    }
}

fn spelled(word: String) -> SpelledWord {
    SpelledWord { terms: vec![word.clone()], word }
}
