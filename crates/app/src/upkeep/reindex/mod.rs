//! Building another index while the first one serves, and letting it take over.
//!
//! A *generation* is a collection with the embedding model of its chunks. A new one is filled from what was
//! read out of the files, document by document, in rounds: each takes over what was ingested, ingested again or
//! deleted since the round before. Then one transaction compares what it holds with the records as they are,
//! writes down what has changed of them and lets it take over, or finds work for another round. Whoever
//! relied on the other generation meanwhile learns of it in the transaction that ends its work, and does it
//! again; see [`Outcome`](crate::jobs).
//!
//! Everything that is known about a build is in the database and in its collection: it goes on wherever it was
//! stopped.

mod build;
mod switch;

use crate::{App, generations, upkeep::progress::Progress};
use build::Build;
use docent_domain::{
    generation::{GenerationState, IndexGeneration},
    id::{DocumentId, GenerationId},
};
use docent_ports::{embedder::Embedder, error::Fault};
use std::sync::Arc;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// What is to be built, and how.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The embedding model; when not named, that of the build under way, or else that of the settings.
    pub model: Option<String>,
    /// Documents at a time, at least 1.
    pub concurrency: usize,
}

/// A new index serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindexed {
    /// The generation that serves now.
    pub generation: GenerationId,
    /// The embedding model of its chunks.
    pub model: String,
    /// Documents that it holds.
    pub documents: u64,
    /// How many of them were written by this run; the others were there from an earlier one.
    pub written: u64,
}

/// Why the new index does not serve. The one before does; what was built stays, to be gone on with.
#[derive(Debug, Error)]
pub enum ReindexError {
    /// A build with another model is under way.
    #[error(
        "an index is being built with the embedding model {building} already: \
         go on with it, or give it up with --abandon"
    )]
    OtherModel {
        /// Its model.
        building: String,
    },
    /// The model gives other vectors than the build was begun with.
    #[error(
        "the build under way has vectors of {there} dimensions, and the embedding model gives {given}: \
             give it up with --abandon"
    )]
    OtherDimensions {
        /// Of the build.
        there: u32,
        /// Of the model.
        given: u32,
    },
    /// It was stopped.
    #[error("stopped")]
    Stopped,
    /// Somebody else gave this build up, or has let it take over.
    #[error("the build was given up or finished by another process")]
    Elsewhere,
    /// These documents cannot be read any more, and would be lost.
    #[error("{} of the documents cannot be built again: {}", .0.len(), list(.0))]
    Unreadable(Vec<(DocumentId, String)>),
    /// Documents come and go faster than they are taken over.
    #[error("documents come and go faster than they can be taken over: try again at a quieter time")]
    Restless,
    /// A part does not work.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn list(documents: &[(DocumentId, String)]) -> String {
    const SHOWN: usize = 10;
    let shown = documents.iter().take(SHOWN).map(|(id, why)| format!("{id} ({why})"));
    let more = documents.len().saturating_sub(SHOWN);
    let rest = (more > 0).then(|| format!("and {more} more"));
    shown.chain(rest).collect::<Vec<_>>().join(", ")
}

/// Builds another index, or goes on with the build under way, and lets it take over.
///
/// # Errors
/// See [`ReindexError`]; whatever happens, one index serves, and trying again goes on.
pub async fn reindex(
    app: &App,
    plan: &Plan,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<Reindexed, ReindexError> {
    generations::remove_retired(app).await?;
    let generation = begin(app, plan).await?;
    Build::of(app, generation, plan.concurrency.max(1), stop, progress).run().await
}

/// The index that is being built, if one is.
///
/// # Errors
/// When the database cannot be reached.
pub async fn under_way(app: &App) -> Result<Option<IndexGeneration>, Fault> {
    let all = app.store.read().await?.generations().all().await?;
    Ok(all.into_iter().find(|it| it.state == GenerationState::Building))
}

/// Gives the build under way up, and says which it was.
///
/// # Errors
/// When a store does not work. May be repeated.
pub async fn abandon(app: &App) -> Result<Option<IndexGeneration>, Fault> {
    let mut work = app.store.begin().await?;
    let all = work.generations().all().await?;
    let Some(building) = all.into_iter().find(|it| it.state == GenerationState::Building) else {
        return Ok(None);
    };
    let given_up = building.retired(app.clock.now());
    work.generations().update(&given_up).await?;
    work.commit().await?;
    // Nobody searches it. What cannot be removed now is removed as any retired one is.
    if let Err(fault) = app.collections.remove(&given_up.collection).await {
        tracing::warn!(fault = %fault.report(), "the collection that was given up will be removed later");
    }
    Ok(Some(given_up))
}

/// The build to go on with, or a new one. The model is tried first: one that does not work begins nothing.
async fn begin(app: &App, plan: &Plan) -> Result<IndexGeneration, ReindexError> {
    app.serving_generation().await?;
    let building = under_way(app).await?;
    let wanted = match (&building, &plan.model) {
        (Some(building), Some(named)) if *named != building.model => {
            return Err(ReindexError::OtherModel { building: building.model.clone() });
        }
        (Some(building), _) => building.model.clone(),
        (None, Some(named)) => named.clone(),
        (None, None) => app.settings.embedding_model.clone(),
    };
    let given = dimensions(&app.embedders.of_model(&wanted)?).await?;
    if let Some(building) = building {
        return match (building.dimensions, given) {
            (Some(there), Some(given)) if there != given => {
                Err(ReindexError::OtherDimensions { there, given })
            }
            _ => Ok(building),
        };
    }
    let id = app.new_id(GenerationId::generate);
    let begun = IndexGeneration::building(id, &wanted, &app.settings.collection, app.clock.now());
    let begun = IndexGeneration { dimensions: given, ..begun };
    let mut work = app.store.begin().await?;
    if !work.generations().insert(&begun).await? {
        return Err(ReindexError::Elsewhere);
    }
    work.commit().await?;
    Ok(begun)
}

/// The dimensions of a model's vectors, if it makes any.
async fn dimensions(embedder: &Arc<dyn Embedder>) -> Result<Option<u32>, Fault> {
    let embedding = embedder.embed_query("Is anybody there?").await?;
    Ok(embedding.dense.and_then(|dense| u32::try_from(dense.len()).ok()))
}
