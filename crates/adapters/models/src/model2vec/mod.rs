//! Dense embeddings of a static model in a local folder, in the format of Model2Vec.
//!
//! A static model has one vector per token and no layers: it needs no GPU and no inference library, and embeds thousands
//! of passages per second on a core. The folder has the files `config.json`, `tokenizer.json` and `model.safetensors`.
//! Nothing is downloaded.

mod folder;
mod model;
mod tensors;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::passage_text::embedded_texts;
use docent_domain::retrieval::{Embedding, Passages, QueryEmbedding, SparseVector};
use docent_ports::embedder::Embedder;
pub use folder::InvalidModel;
use model::StaticModel;
use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tracing::Instrument;

/// Begins the names of local models.
pub const NAME_PREFIX: &str = "local:";
/// Longer queries are cut, because the cost of a query grows with its length.
const QUERY_CHARS: usize = 8 * 1024;
/// Number of texts that are embedded before other calls get a turn.
const BATCH_TEXTS: usize = 64;

/// An embedder with a static model in memory; returns dense vectors only.
///
/// The embedded text of a chunk has its document's title before it. All vectors have
/// unit length, except that a text without a token of the model has the zero vector.
///
/// The name of the model is `local:FOLDER@DIGEST`. The digest of the files keeps vectors of different models apart.
pub struct Model2VecEmbedder {
    model: Arc<StaticModel>,
    name: String,
    /// One permit per core: chunks of many documents are embedded at the same time.
    permits: Arc<Semaphore>,
}

impl Model2VecEmbedder {
    /// Reads the model in a folder into memory.
    ///
    /// # Errors
    /// If a file is missing, invalid or too large, or the files do not match. The error names the folder and the file.
    pub fn load(folder: &Path) -> Result<Self, InvalidModel> {
        let (model, name) = StaticModel::load(folder)?;
        let permits = Arc::new(Semaphore::new(available_parallelism().map_or(1, usize::from)));
        Ok(Self { model: Arc::new(model), name: format!("{NAME_PREFIX}{name}"), permits })
    }

    /// The number of dimensions of its vectors.
    pub fn dimensions(&self) -> usize {
        self.model.dimensions()
    }

    fn span(&self) -> tracing::Span {
        tracing::info_span!(
            "embeddings",
            otel.name = format_args!("embeddings {}", self.name),
            otel.kind = "internal",
            gen_ai.operation.name = "embeddings",
            gen_ai.provider.name = "docent",
            gen_ai.request.model = self.name,
            gen_ai.embeddings.dimension.count = self.dimensions(),
        )
    }

    /// Embeds texts on blocking threads, in batches.
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut texts = texts.into_iter();
        loop {
            let batch: Vec<String> = texts.by_ref().take(BATCH_TEXTS).collect();
            if batch.is_empty() {
                return Ok(vectors);
            }
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(internal)?;
            let model = Arc::clone(&self.model);
            // The permit ends with the work, which continues if the caller is cancelled.
            let embed = move || {
                let vectors: Result<Vec<Vec<f32>>> =
                    batch.iter().map(|text| model.embed(text).map_err(internal)).collect();
                drop(permit);
                vectors
            };
            vectors.extend(spawn_blocking(embed).await.map_err(internal)??);
        }
    }
}

fn internal(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Fault {
    Fault::new(Component::Embedder, FaultKind::Internal, "the local model cannot embed the text")
        .caused_by(error)
}

#[async_trait]
impl Embedder for Model2VecEmbedder {
    async fn embed_passages(&self, passages: Passages<'_>) -> Result<Vec<Embedding>> {
        let vectors = self.embed(embedded_texts(passages)).instrument(self.span()).await?;
        Ok(vectors
            .into_iter()
            .map(|vector| Embedding { dense: Some(vector), ..Embedding::default() })
            .collect())
    }

    async fn embed_sparse(&self, _passages: Passages<'_>) -> Result<Option<Vec<SparseVector>>> {
        Ok(None)
    }

    /// A query takes less than a millisecond and does not wait for the passages of documents.
    async fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let end = query.char_indices().nth(QUERY_CHARS).map_or(query.len(), |(at, _)| at);
        let embed = || self.model.embed(query.get(..end).unwrap_or(query)).map_err(internal);
        Ok(QueryEmbedding { sparse: None, dense: Some(self.span().in_scope(embed)?) })
    }

    fn makes_vectors(&self) -> bool {
        true
    }

    fn model(&self) -> &str {
        &self.name
    }
}
