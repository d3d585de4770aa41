//! Cached embedding vectors in memory.

use super::Transaction;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::fault::Result;
use docent_ports::embedding_cache::{CachedVector, EmbeddingCacheReader, EmbeddingCacheWriter, TextDigest};
use std::collections::HashMap;

#[async_trait]
impl EmbeddingCacheReader for Transaction {
    async fn find(&mut self, space: &str, texts: &[TextDigest]) -> Result<HashMap<TextDigest, CachedVector>> {
        let vectors = &self.read()?.vectors;
        let find = |text: &TextDigest| Some((*text, vectors.get(&(space.to_owned(), *text))?.clone()));
        Ok(texts.iter().filter_map(find).collect())
    }
}

#[async_trait]
impl EmbeddingCacheWriter for Transaction {
    async fn put(&mut self, space: &str, vectors: &[(TextDigest, &[f32])], at: DateTime<Utc>) -> Result<()> {
        self.write(|tables| {
            for (text, vector) in vectors {
                let vector = CachedVector { vector: vector.to_vec(), used_at: at };
                tables.vectors.insert((space.to_owned(), *text), vector);
            }
            Ok(())
        })
    }

    async fn touch(&mut self, space: &str, texts: &[TextDigest], at: DateTime<Utc>) -> Result<()> {
        self.write(|tables| {
            for text in texts {
                if let Some(vector) = tables.vectors.get_mut(&(space.to_owned(), *text)) {
                    vector.used_at = at;
                }
            }
            Ok(())
        })
    }

    async fn purge_unused(&mut self, before: DateTime<Utc>, limit: u64) -> Result<u64> {
        self.write(|tables| {
            let unused = tables.vectors.iter().filter(|(_, vector)| vector.used_at < before);
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            let unused: Vec<_> = unused.map(|(key, _)| key.clone()).take(limit).collect();
            for key in &unused {
                tables.vectors.remove(key);
            }
            Ok(unused.len() as u64)
        })
    }
}
