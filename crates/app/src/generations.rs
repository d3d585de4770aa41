//! Which index serves, and what it is searched with.
//!
//! A collection and its embedder belong together: both are had at once, as a value, and whoever has it goes on
//! with it though another generation takes over meanwhile. Which one serves is read each time; nothing is
//! remembered by time.

use crate::App;
use chrono::TimeDelta;
use docent_domain::{
    fault::{Fault, Result},
    generation::{GenerationState, IndexGeneration},
    id::GenerationId,
};
use docent_ports::{embedder::Embedder, vector_index::VectorIndex};
use std::sync::Arc;

/// For so long after a switch searches may still be under way in the collection that served before.
pub(crate) const GRACE: TimeDelta = TimeDelta::minutes(2);
/// For so long somebody who was late may make a removed collection anew.
const LATE: TimeDelta = TimeDelta::hours(1);

/// A generation of the index, opened.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Opened {
    /// Which one it is.
    pub generation: IndexGeneration,
    /// Its chunks.
    pub index: Arc<dyn VectorIndex>,
    embedder: Result<Arc<dyn Embedder>>,
}

impl Opened {
    /// What its chunks, and questions for it, are embedded with.
    ///
    /// # Errors
    /// When this process is not configured for its model.
    pub fn embedder(&self) -> Result<&Arc<dyn Embedder>> {
        self.embedder.as_ref().map_err(Fault::clone)
    }
}

impl App {
    /// The generation that serves.
    ///
    /// # Errors
    /// When the database cannot be reached or the collection not opened.
    pub async fn serving(&self) -> Result<Opened> {
        let generation = self.serving_generation().await?;
        self.open(generation).await
    }

    /// Which generation serves. An installation that has none yet begins with the collection and the model of
    /// the settings.
    pub(crate) async fn serving_generation(&self) -> Result<IndexGeneration> {
        if let Some(active) = self.store.read_latest().await?.generations().active().await? {
            return Ok(active);
        }
        let (model, collection) = (&self.settings.embedding_model, &self.settings.collection);
        let id = self.new_id(GenerationId::generate);
        let first = IndexGeneration::first(id, model, collection, self.clock.now());
        let mut work = self.store.begin().await?;
        let is_ours = work.generations().insert(&first).await?;
        let active = work.generations().active().await?;
        if is_ours {
            work.commit().await?;
        }
        Ok(active.unwrap_or(first))
    }

    pub(crate) async fn open(&self, generation: IndexGeneration) -> Result<Opened> {
        let index = self.collections.open(&generation.collection).await?;
        let embedder = self.embedders.of_model(&generation.model);
        Ok(Opened { generation, index, embedder })
    }

    /// Whether anything may be written into this generation: not once it is retired, since it is about to be
    /// removed then.
    pub(crate) async fn is_kept(&self, id: GenerationId) -> Result<bool> {
        let all = self.store.read_latest().await?.generations().all().await?;
        let is_kept =
            |it: &IndexGeneration| it.id == id && !matches!(it.state, GenerationState::Retired { .. });
        Ok(all.iter().any(is_kept))
    }
}

/// Removes the collections of generations that were retired, once nobody searches them any more, and at last
/// forgets them. What cannot be removed now is removed another time.
///
/// # Errors
/// When the database cannot be reached. May be repeated.
pub async fn remove_retired(app: &App) -> Result<()> {
    for generation in app.store.read().await?.generations().all().await? {
        let GenerationState::Retired { since } = generation.state else { continue };
        let age = app.now() - since;
        if age < GRACE {
            continue;
        }
        if let Err(fault) = app.collections.remove(&generation.collection).await {
            app.note(&fault);
            tracing::warn!(collection = generation.collection, fault = %fault.report(), "a retired collection is still there");
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
