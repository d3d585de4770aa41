//! The embedders of this process, one for each model that an index was made with.

use super::backend;
use anyhow::Context;
use docent::config::{EmbeddingProvider, Settings};
use docent_adapters::{
    builtin::embedder::BuiltinEmbedder,
    cached_embedder::CachedEmbedder,
    hybrid_embedder::HybridEmbedder,
    openai::{
        backend::BackendSettings,
        embeddings::{BatchLimits, OpenAiEmbedder},
    },
};
use docent_app::recorder::Recorder;
use docent_ports::{
    clock::Clock,
    embedder::{Embedder, Embedders},
    error::{Component, Fault, FaultKind, Result},
    store::Store,
};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// The model that the settings name.
pub(super) fn configured(settings: &Settings) -> String {
    let models = &settings.models;
    match (models.embedding_provider, &models.embedding_model) {
        (EmbeddingProvider::OpenAi, Some(model)) => model.clone(),
        _ => builtin(),
    }
}

/// The name of the built-in model.
pub(super) fn builtin() -> String {
    BuiltinEmbedder.model().to_owned()
}

/// The built-in embedder makes the sparse part of every embedding; a back end adds the dense part, once for each
/// text.
pub(super) struct ModelEmbedders {
    sparse: Arc<dyn Embedder>,
    /// How the back end is reached, if there is one; the model in it is left out.
    backend: Option<BackendSettings>,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    recorder: Arc<dyn Recorder>,
    /// Those that were asked for: of the index that serves, and of one that is built.
    made: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl ModelEmbedders {
    /// # Errors
    /// When the back end of the settings cannot be used.
    pub(super) fn new(
        settings: &Settings,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        recorder: &Arc<dyn Recorder>,
    ) -> anyhow::Result<Self> {
        let models = &settings.models;
        let reached = |url| backend(settings, url, models.embedding_key(), "", models.embedding_timeout);
        let embedders = Self {
            sparse: Arc::new(BuiltinEmbedder),
            // Also where the settings say `builtin`: the index may have been made with another model.
            backend: models.embedding_base_url.as_ref().map(reached),
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            recorder: Arc::clone(recorder),
            made: Mutex::default(),
        };
        embedders.of_model(&configured(settings)).context("DOCENT_EMBEDDING_BASE_URL")?;
        Ok(embedders)
    }

    fn make(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        let Some(backend) = &self.backend else {
            let message = format!(
                "the index takes the embedding model {model}, and no back end for it is set: \
                 set DOCENT_EMBEDDING_BASE_URL, or run `docent reindex` to change the index"
            );
            return Err(Fault::new(Component::Embedder, FaultKind::Unconfigured, message));
        };
        let backend = BackendSettings { model: model.to_owned(), ..backend.clone() };
        let dense = OpenAiEmbedder::new(&backend, BatchLimits::default(), Arc::clone(&self.clock)).map_err(
            |error| {
                Fault::new(Component::Embedder, FaultKind::Rejected, "the back end cannot be used")
                    .caused_by(error)
            },
        )?;
        let (store, clock, recorder) =
            (Arc::clone(&self.store), Arc::clone(&self.clock), Arc::clone(&self.recorder));
        let dense = CachedEmbedder::new(Arc::new(dense), store, clock, recorder);
        Ok(Arc::new(HybridEmbedder::new(Arc::clone(&self.sparse), Arc::new(dense))))
    }
}

impl Embedders for ModelEmbedders {
    fn of_model(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        if model == self.sparse.model() {
            return Ok(Arc::clone(&self.sparse));
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = made.get(model) {
            return Ok(Arc::clone(embedder));
        }
        let embedder = self.make(model)?;
        made.insert(model.to_owned(), Arc::clone(&embedder));
        Ok(embedder)
    }
}
