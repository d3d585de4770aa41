//! Caches dense embeddings in the database.

mod in_flight;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use chrono::TimeDelta;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::metrics::Cache;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::clock::Clock;
use docent_ports::embedder::{Embedder, Speller};
use docent_ports::embedding_cache::TextDigest;
use docent_ports::recorder::Recorder;
use docent_ports::store::Store;
use in_flight::{Claims, InFlightTexts};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The time of last use is updated if it is older than this.
const USE_UPDATED_AFTER: TimeDelta = TimeDelta::days(1);

/// An embedder that caches the dense vectors of another one.
///
/// The cache key of a chunk is the text that the inner embedder sends for it. Missing texts are embedded in batches, and
/// each batch is stored before the next is requested, so that a retry continues where an interrupted call stopped.
/// Concurrent calls embed each text once. Queries are not cached. Vectors of shortened texts are cached under the whole text in a
/// vector space of their own.
///
/// If the database is unavailable, texts are embedded without the cache.
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    recorder: Arc<dyn Recorder>,
    space: String,
    /// The vector space of shortened texts.
    shortened_space: String,
    in_flight: InFlightTexts,
}

/// The vector of a text.
#[derive(Clone, Debug, PartialEq)]
struct TextVector {
    vector: Arc<[f32]>,
    /// Whether it is the vector of the beginning of the text.
    is_shortened: bool,
}

/// The vectors of one call so far.
type Vectors = HashMap<TextDigest, TextVector>;

/// The input of one call.
struct Work<'a> {
    passages: Passages<'a>,
    texts: Vec<String>,
    digests: Vec<TextDigest>,
}

impl CachedEmbedder {
    /// Caches the vectors of `inner`, which must return dense vectors only, in `store`.
    pub fn new(
        inner: Arc<dyn Embedder>,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        recorder: Arc<dyn Recorder>,
    ) -> Self {
        let space = inner.vector_space();
        let shortened_space = format!("{space}, shortened");
        Self { inner, store, clock, recorder, space, shortened_space, in_flight: InFlightTexts::default() }
    }

    /// Returns the vectors of all texts; without `use_cache` all of them are embedded.
    async fn vectors(&self, work: &Work<'_>, use_cache: bool) -> Result<Vectors> {
        let wanted: HashSet<TextDigest> = work.digests.iter().copied().collect();
        let mut vectors = Vectors::with_capacity(wanted.len());
        while vectors.len() < wanted.len() {
            let missing = wanted.iter().filter(|text| !vectors.contains_key(*text));
            let (mut claims, pending) = self.in_flight.claim(missing.copied());
            // Claimed texts are completed before waiting for other calls, which prevents deadlocks.
            if use_cache {
                self.look_up(&mut claims, &mut vectors).await;
            }
            self.embed(work, &mut claims, &mut vectors).await?;
            for pending in pending {
                let text = pending.text;
                if let Some(vector) = pending.vector().await {
                    vectors.insert(text, vector);
                }
            }
        }
        Ok(vectors)
    }

    /// Looks up claimed texts in the cache. Claiming first ensures that vectors just stored by other calls are found.
    async fn look_up(&self, claims: &mut Claims<'_>, vectors: &mut Vectors) {
        let texts: Vec<TextDigest> = claims.texts().collect();
        if texts.is_empty() {
            return;
        }
        let find = async {
            let mut view = self.store.read_latest().await?;
            let whole = view.embedding_cache().find(&self.space, &texts).await?;
            let missing = texts.iter().copied().filter(|text| !whole.contains_key(text));
            let missing: Vec<TextDigest> = missing.collect();
            let shortened = match missing.is_empty() {
                true => HashMap::new(),
                false => view.embedding_cache().find(&self.shortened_space, &missing).await?,
            };
            Ok([(&self.space, false, whole), (&self.shortened_space, true, shortened)])
        };
        let found = find.await.map(Vec::from).unwrap_or_else(|fault: Fault| {
            self.log_fault(&fault, "cannot look up cached vectors; embedding again");
            Vec::new()
        });
        let count = found.iter().map(|(.., found)| found.len()).sum::<usize>();
        self.recorder.cache_lookups(Cache::Embeddings, count as u64, (texts.len() - count) as u64);
        let now = self.clock.now();
        for (space, is_shortened, found) in found {
            let stale = found.iter().filter(|(_, cached)| now - cached.used_at > USE_UPDATED_AFTER);
            let mut stale: Vec<TextDigest> = stale.map(|(text, _)| *text).collect();
            stale.sort_unstable();
            for (text, cached) in found {
                let vector = TextVector { vector: cached.vector.into(), is_shortened };
                claims.complete(&text, &vector);
                vectors.insert(text, vector);
            }
            if !stale.is_empty() {
                let touch = async {
                    let mut unit = self.store.begin().await?;
                    unit.embedding_cache().touch(space, &stale, now).await?;
                    unit.commit().await
                };
                if let Err(fault) = touch.await {
                    self.log_fault(&fault, "cannot update the last use of cached vectors");
                }
            }
        }
    }

    /// Embeds the claimed texts in the order of the chunks.
    async fn embed(&self, work: &Work<'_>, claims: &mut Claims<'_>, vectors: &mut Vectors) -> Result<()> {
        loop {
            // Chunks with the same text are embedded once.
            let mut seen = HashSet::new();
            let positions = work.digests.iter().enumerate();
            let positions: Vec<usize> = positions
                .filter(|(_, text)| claims.contains(text) && seen.insert(**text))
                .map(|(position, _)| position)
                .collect();
            let texts: Vec<String> = positions.iter().filter_map(|at| work.texts.get(*at).cloned()).collect();
            if texts.is_empty() {
                return Ok(());
            }
            let positions = positions.get(..self.inner.batch_size(&texts).max(1)).unwrap_or(&positions);
            let batch = self.embed_batch(work, positions).await?;
            self.store_batch(&batch).await;
            for (text, vector) in batch {
                claims.complete(&text, &vector);
                vectors.insert(text, vector);
            }
        }
    }

    async fn embed_batch(
        &self,
        work: &Work<'_>,
        positions: &[usize],
    ) -> Result<Vec<(TextDigest, TextVector)>> {
        let chunks: Vec<(u32, &str)> =
            positions.iter().filter_map(|at| work.passages.chunks.get(*at).copied()).collect();
        let line = |at: &usize| work.passages.headings.get(*at).cloned().unwrap_or_default();
        let headings: Vec<String> = match work.passages.headings {
            [] => Vec::new(),
            _ => positions.iter().map(line).collect(),
        };
        let passages = Passages { chunks: &chunks, headings: &headings, ..work.passages };
        let embeddings = self.inner.embed_passages(passages).await.map_err(|fault| {
            match fault.passage().and_then(|position| positions.get(position)) {
                Some(position) => fault.with_passage(*position),
                None => fault,
            }
        })?;
        if embeddings.len() != positions.len() {
            return Err(invalid_response(format!(
                "{} embeddings for {} chunks",
                embeddings.len(),
                positions.len()
            )));
        }
        let digests = positions.iter().filter_map(|at| work.digests.get(*at).copied());
        let vector = |Embedding { dense, is_shortened, .. }: Embedding| {
            let dense = dense.filter(|vector| !vector.is_empty());
            let vector =
                dense.ok_or_else(|| invalid_response("the embedding has no dense vector".to_owned()));
            vector.map(|vector| TextVector { vector: vector.into(), is_shortened })
        };
        digests.zip(embeddings).map(|(text, embedding)| Ok((text, vector(embedding)?))).collect()
    }

    async fn store_batch(&self, batch: &[(TextDigest, TextVector)]) {
        let rows = |is_shortened| -> Vec<(TextDigest, &[f32])> {
            let rows = batch.iter().filter(|(_, vector)| vector.is_shortened == is_shortened);
            rows.map(|(text, vector)| (*text, &*vector.vector)).collect()
        };
        let (whole, shortened) = (rows(false), rows(true));
        let keep = async {
            let (mut unit, now) = (self.store.begin().await?, self.clock.now());
            unit.embedding_cache().put(&self.space, &whole, now).await?;
            if !shortened.is_empty() {
                unit.embedding_cache().put(&self.shortened_space, &shortened, now).await?;
            }
            unit.commit().await
        };
        if let Err(fault) = keep.await {
            self.log_fault(&fault, "cannot store vectors in the cache");
        }
    }

    fn log_fault(&self, fault: &Fault, message: &'static str) {
        self.recorder.fault(fault.component(), fault.kind());
        tracing::warn!(fault = %fault.report(), "{message}");
    }
}

/// Whether all vectors have the same number of dimensions.
fn have_same_dimensions(vectors: &Vectors) -> bool {
    let mut lengths = vectors.values().map(|text| text.vector.len());
    let first = lengths.next();
    lengths.all(|length| Some(length) == first)
}

fn invalid_response(message: String) -> Fault {
    Fault::new(Component::Embedder, FaultKind::InvalidResponse, message)
}

fn digest(text: &str) -> TextDigest {
    Sha256::digest(text).into()
}

#[async_trait]
impl Embedder for CachedEmbedder {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let Some(texts) = self.inner.texts(passages) else {
            return self.inner.embed_passages(passages).await;
        };
        let digests: Vec<TextDigest> = texts.iter().map(|text| digest(text)).collect();
        let work = Work { passages, texts, digests };
        let mut vectors = self.vectors(&work, true).await?;
        if !have_same_dimensions(&vectors) {
            tracing::warn!("the model's vectors have other dimensions than the cached ones; embedding again");
            vectors = self.vectors(&work, false).await?;
            if !have_same_dimensions(&vectors) {
                return Err(invalid_response("the vectors have different dimensions".to_owned()));
            }
        }
        let found = work.digests.iter().filter_map(|text| vectors.get(text));
        let embedding = |TextVector { vector, is_shortened }: &TextVector| Embedding {
            sparse: None,
            dense: Some(vector.to_vec()),
            is_shortened: *is_shortened,
        };
        Ok(found.map(embedding).collect())
    }

    async fn embed_sparse(&self, passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        self.inner.embed_sparse(passages).await
    }

    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        self.inner.embed_query(query).await
    }

    fn makes_vectors(&self) -> bool {
        self.inner.makes_vectors()
    }

    fn speller(&self) -> Option<&dyn Speller> {
        self.inner.speller()
    }

    fn model(&self) -> &str {
        self.inner.model()
    }

    fn texts(&self, passages: Passages<'_>) -> Option<Vec<String>> {
        self.inner.texts(passages)
    }

    fn batch_size(&self, texts: &[String]) -> usize {
        self.inner.batch_size(texts)
    }

    fn vector_space(&self) -> String {
        self.space.clone()
    }
}
