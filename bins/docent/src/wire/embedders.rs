//! Creates embedders, one per embedding model of an index.

use super::backend;
use anyhow::Context;
use docent::config::{EmbeddingProvider, Models, Settings, TextPrefix};
use docent_domain::embedding_model::EmbeddingModel;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_models::builtin::{self, embedder::BuiltinEmbedder};
use docent_models::cached_embedder::CachedEmbedder;
use docent_models::hybrid_embedder::HybridEmbedder;
use docent_models::model2vec::{Model2VecEmbedder, NAME_PREFIX};
use docent_models::openai::backend::BackendSettings;
use docent_models::openai::embeddings::{BatchLimits, OpenAiEmbedder};
use docent_ports::clock::Clock;
use docent_ports::embedder::{Embedder, Embedders};
use docent_ports::recorder::Recorder;
use docent_ports::store::Store;
use docent_text::lexical::Lexicon;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the built-in model.
pub(super) fn builtin_model() -> String {
    BuiltinEmbedder::default().model().to_owned()
}

/// The model of this name with the prefixes of the settings, or of its family if they set none.
pub(super) fn model_identity(settings: &Settings, name: &str) -> String {
    if name.starts_with(builtin::embedder::NAME_PREFIX) || name.starts_with(NAME_PREFIX) {
        return name.to_owned();
    }
    let Models { embedding_query_prefix: query, embedding_document_prefix: document, .. } = &settings.models;
    let text = |prefix: &Option<TextPrefix>| prefix.as_ref().map(|prefix| prefix.0.clone());
    EmbeddingModel::new(name, text(query).as_deref(), text(document).as_deref()).to_string()
}

/// The built-in lexicon with the entries of the settings.
pub(super) fn lexicon(settings: &Settings) -> Lexicon {
    let own = settings.agent.lexicon.as_ref().map(|own| own.lexicon.clone());
    Lexicon::builtin().with(own.unwrap_or_default())
}

/// The embedder of the back end and model of the settings, without a cache. `None` if another provider is
/// set.
pub(super) fn of_settings(
    settings: &Settings,
    clock: Arc<dyn Clock>,
) -> anyhow::Result<Option<Arc<dyn Embedder>>> {
    let models = &settings.models;
    let (EmbeddingProvider::OpenAi, Some(url), Some(name)) =
        (&models.embedding_provider, &models.embedding_base_url, &models.embedding_model)
    else {
        return Ok(None);
    };
    let model = EmbeddingModel::parse(&model_identity(settings, name));
    let backend = backend(settings, url, models.embedding_key(), &model.name, models.embedding_timeout);
    let embedder = OpenAiEmbedder::new(&backend, batch_limits(models), clock);
    let embedder = embedder.context("DOCENT_EMBEDDING_BASE_URL")?.with_prefixes(model.prefixes);
    Ok(Some(Arc::new(embedder)))
}

fn batch_limits(models: &Models) -> BatchLimits {
    BatchLimits {
        texts: models.embedding_batch as usize,
        text_tokens: models.embedding_max_tokens.map(|tokens| tokens as usize),
        ..BatchLimits::default()
    }
}

/// Embedders by model. The built-in embedder creates the sparse part of every embedding; a local model or a back end adds
/// the dense part. That of a back end is cached per text.
pub(super) struct ModelEmbedders {
    sparse: Arc<dyn Embedder>,
    /// The model in the folder of the settings, if they name one.
    local: Option<Arc<dyn Embedder>>,
    /// The model of the settings.
    configured: String,
    /// Settings of the back end, if there is one, without the model.
    backend: Option<BackendSettings>,
    limits: BatchLimits,
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    recorder: Arc<dyn Recorder>,
    /// Embedders created so far, for example of the active index and of one being built.
    cache: Mutex<HashMap<String, Arc<dyn Embedder>>>,
}

impl ModelEmbedders {
    /// Reads the local model, if the settings name one.
    ///
    /// # Errors
    /// If the local model or the configured back end cannot be used.
    pub(super) fn new(
        settings: &Settings,
        store: &Arc<dyn Store>,
        clock: &Arc<dyn Clock>,
        recorder: &Arc<dyn Recorder>,
    ) -> anyhow::Result<Self> {
        let models = &settings.models;
        let backend = |url| backend(settings, url, models.embedding_key(), "", models.embedding_timeout);
        let local = match &models.embedding_provider {
            EmbeddingProvider::Local(folder) => Some(local_embedder(folder)?),
            EmbeddingProvider::OpenAi | EmbeddingProvider::Builtin => None,
        };
        let configured = match (&models.embedding_provider, &models.embedding_model, &local) {
            (EmbeddingProvider::OpenAi, Some(model), _) => model_identity(settings, model),
            (_, _, Some(local)) => local.model().to_owned(),
            _ => builtin_model(),
        };
        let embedders = Self {
            sparse: Arc::new(BuiltinEmbedder::new(lexicon(settings))),
            local,
            configured,
            // Also with the provider `builtin`: the index may have been built with another model.
            backend: models.embedding_base_url.as_ref().map(backend),
            limits: batch_limits(models),
            store: Arc::clone(store),
            clock: Arc::clone(clock),
            recorder: Arc::clone(recorder),
            cache: Mutex::default(),
        };
        embedders.of_model(&embedders.configured).context("DOCENT_EMBEDDING_BASE_URL")?;
        Ok(embedders)
    }

    /// The name of the model in the settings.
    pub(super) fn configured_model(&self) -> &str {
        &self.configured
    }

    fn create(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        let dense = match model.starts_with(NAME_PREFIX) {
            true => self.local(model)?,
            false => self.of_back_end(model)?,
        };
        Ok(Arc::new(HybridEmbedder::new(Arc::clone(&self.sparse), dense)))
    }

    /// The local model, if it is this one.
    fn local(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        let own = self.local.as_ref().map(|local| local.model());
        let digest = |model: &str| model.rsplit_once('@').map(|(_, digest)| digest.to_owned());
        let wrong = match (own, &self.local) {
            (Some(own), Some(local)) if own == model => return Ok(Arc::clone(local)),
            (Some(own), _) if digest(own) == digest(model) => format!(
                "the folder of DOCENT_EMBEDDING_PROVIDER has this model as {own}: give the folder its former name"
            ),
            (Some(own), _) => format!(
                "the folder of DOCENT_EMBEDDING_PROVIDER has the model {own}: restore the files of the former model"
            ),
            (None, _) => "no folder is configured: set DOCENT_EMBEDDING_PROVIDER=local:DIR".to_owned(),
        };
        let message = format!(
            "the index uses the embedding model {model}, but {wrong}, or run `docent reindex` to change the model"
        );
        Err(Fault::new(Component::Embedder, FaultKind::Unconfigured, message))
    }

    fn of_back_end(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        let Some(backend) = &self.backend else {
            let message = format!(
                "the index uses the embedding model {model}, but no back end is configured: \
                 set DOCENT_EMBEDDING_BASE_URL, or run `docent reindex` to change the model"
            );
            return Err(Fault::new(Component::Embedder, FaultKind::Unconfigured, message));
        };
        let EmbeddingModel { name, prefixes } = EmbeddingModel::parse(model);
        let backend = BackendSettings { model: name, ..backend.clone() };
        let dense = OpenAiEmbedder::new(&backend, self.limits, Arc::clone(&self.clock)).map_err(|error| {
            Fault::new(Component::Embedder, FaultKind::Rejected, "the embedding back end cannot be used")
                .caused_by(error)
        })?;
        let dense = dense.with_prefixes(prefixes);
        let (store, clock, recorder) =
            (Arc::clone(&self.store), Arc::clone(&self.clock), Arc::clone(&self.recorder));
        Ok(Arc::new(CachedEmbedder::new(Arc::new(dense), store, clock, recorder)))
    }
}

/// Reads the model in a folder.
fn local_embedder(folder: &Path) -> anyhow::Result<Arc<dyn Embedder>> {
    let embedder = Model2VecEmbedder::load(folder).context("DOCENT_EMBEDDING_PROVIDER")?;
    tracing::debug!(
        model = embedder.model(),
        dimensions = embedder.dimensions(),
        "read the local embedding model"
    );
    Ok(Arc::new(embedder))
}

impl Embedders for ModelEmbedders {
    fn of_model(&self, model: &str) -> Result<Arc<dyn Embedder>> {
        // An index of an earlier version is searched until it is built again.
        if model.starts_with(builtin::embedder::NAME_PREFIX) {
            return Ok(Arc::clone(&self.sparse));
        }
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = cache.get(model) {
            return Ok(Arc::clone(embedder));
        }
        let embedder = self.create(model)?;
        cache.insert(model.to_owned(), Arc::clone(&embedder));
        Ok(embedder)
    }
}
