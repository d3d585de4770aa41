//! Access to index generations.
//!
//! An [`OpenIndex`] holds a vector collection and its embedder, which belong together. Its holder keeps using it after
//! another generation was activated. The active generation is read from the database each time and never cached.

use crate::App;
use chrono::TimeDelta;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::generation::{GenerationState, IndexGeneration};
use docent_domain::id::GenerationId;
use docent_ports::embedder::Embedder;
use docent_ports::vector_index::VectorIndex;
use std::sync::Arc;

/// How long after a switch searches may still use the previous vector collection.
pub(crate) const GRACE: TimeDelta = TimeDelta::minutes(2);
/// How long after a switch a delayed writer may create a removed vector collection again.
const LATE: TimeDelta = TimeDelta::hours(1);

/// An open index generation.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct OpenIndex {
    /// The generation.
    pub generation: IndexGeneration,
    /// Its vector collection.
    pub index: Arc<dyn VectorIndex>,
    embedder: Result<Arc<dyn Embedder>>,
}

impl OpenIndex {
    /// The embedder of its chunks and of queries.
    ///
    /// # Errors
    /// When this process is not configured for its model.
    pub fn embedder(&self) -> Result<&Arc<dyn Embedder>> {
        self.embedder.as_ref().map_err(Fault::clone)
    }
}

impl App {
    /// Opens the active generation.
    ///
    /// # Errors
    /// When the database cannot be reached, or the vector collection cannot be opened.
    pub async fn active_index(&self) -> Result<OpenIndex> {
        let generation = self.active_generation().await?;
        self.open(generation).await
    }

    /// Checks that the vector store can be used with the settings.
    ///
    /// # Errors
    /// When it cannot be reached, or refuses the credentials.
    pub async fn check_vector_store(&self) -> Result<()> {
        self.collections.check().await
    }

    /// The active generation. If there is none yet, it is created with the collection and the model of the settings.
    pub(crate) async fn active_generation(&self) -> Result<IndexGeneration> {
        if let Some(active) = self.store.read_latest().await?.generations().active().await? {
            return Ok(active);
        }
        let (model, collection) = (&self.settings.embedding_model, &self.settings.collection);
        let exists = self.collections.exists(collection).await?;
        let id = self.new_id(GenerationId::generate);
        let first = IndexGeneration::first(id, model, collection, self.clock.now());
        let mut work = self.store.begin().await?;
        let is_inserted = work.generations().insert(&first).await?;
        let active = work.generations().active().await?;
        if is_inserted {
            // The chunks of an unknown installation must be neither shown nor swept away.
            if exists {
                return Err(foreign(collection));
            }
            work.commit().await?;
        }
        Ok(active.unwrap_or(first))
    }

    pub(crate) async fn open(&self, generation: IndexGeneration) -> Result<OpenIndex> {
        let index = self.collections.open(&generation.collection, generation.id).await?;
        let embedder = self.embedders.of_model(&generation.model);
        Ok(OpenIndex { generation, index, embedder })
    }

    /// Whether this generation may be written to. A retired generation may not: it is about to be removed.
    pub(crate) async fn is_writable(&self, id: GenerationId) -> Result<bool> {
        let all = self.store.read_latest().await?.generations().all().await?;
        Ok(all.iter().any(|it| it.id == id && !matches!(it.state, GenerationState::Retired { .. })))
    }
}

fn foreign(collection: &str) -> Fault {
    let message = format!(
        "the vector collection {collection} exists, but this database is new: it belongs to another installation. \
         Use its database, set another DOCENT_QDRANT_COLLECTION (or DOCENT_DATA_DIR, if the index is embedded), or delete the collection"
    );
    Fault::new(Component::VectorStore, FaultKind::Unconfigured, message)
}

/// Removes the vector collections of retired generations that searches no longer use, and later their records. A
/// collection that cannot be removed now is removed by a later call.
///
/// # Errors
/// When the database cannot be reached. Can be retried.
pub async fn remove_retired(app: &App) -> Result<()> {
    for generation in app.store.read().await?.generations().all().await? {
        let GenerationState::Retired { since } = generation.state else { continue };
        let age = app.now() - since;
        if age < GRACE {
            continue;
        }
        if let Err(fault) = app.collections.remove(&generation.collection).await {
            app.note(&fault);
            tracing::warn!(collection = generation.collection, fault = %fault.report(), "the vector collection of a retired index could not be removed; trying again later");
            continue;
        }
        if age >= LATE {
            let mut work = app.store.begin().await?;
            work.generations().remove(generation.id).await?;
            work.commit().await?;
        }
    }
    Ok(())
}
