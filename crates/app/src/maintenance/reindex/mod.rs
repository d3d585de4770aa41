//! Reindexing: builds a new index while the active one is used, then activates it.
//!
//! An index *generation* is a vector collection and the embedding model of its chunks. A build indexes the extracted
//! text of all documents in rounds: each round covers the documents that were ingested or deleted since the previous
//! one. One transaction then compares the new index with the records and either activates it or reports what is
//! missing for another round. A job that used the previous generation notices the switch in the transaction that
//! completes it, and runs again; see [`jobs`](crate::jobs).
//!
//! The state of a build is in the database and in its vector collection, so an interrupted build can be resumed.

mod build;
mod switch;

use crate::maintenance::progress::Progress;
use crate::{App, generations};
use build::Build;
use docent_domain::fault::Fault;
use docent_domain::generation::{GenerationState, IndexGeneration};
use docent_domain::id::{DocumentId, GenerationId};
use docent_ports::embedder::Embedder;
use std::sync::Arc;
use thiserror::Error;
use tokio_util::sync::CancellationToken;

/// The parameters of a build.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The embedding model. Defaults to that of the build in progress, then to the configured one.
    pub model: Option<String>,
    /// The number of documents that are indexed concurrently; at least 1.
    pub concurrency: usize,
}

/// The result of a completed build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindexed {
    /// The generation that is active now.
    pub generation: GenerationId,
    /// The embedding model of its chunks.
    pub model: String,
    /// The number of indexed documents.
    pub documents: u64,
    /// The number of documents that this run has indexed; earlier runs have indexed the others.
    pub written: u64,
}

/// Why a build failed. The previous index remains active, and the build can be resumed.
#[derive(Debug, Error)]
pub enum ReindexError {
    /// A build with another model is in progress.
    #[error(
        "a build with the embedding model {building} is in progress: \
         resume it, or cancel it with --abandon"
    )]
    ModelMismatch {
        /// The model of the build in progress.
        building: String,
    },
    /// The model produces vectors of other dimensions than when the build was started.
    #[error(
        "the build in progress has vectors of {expected} dimensions, but the embedding model produces {actual}: \
             cancel it with --abandon"
    )]
    DimensionMismatch {
        /// The dimensions of the build.
        expected: u32,
        /// The dimensions of the model.
        actual: u32,
    },
    /// The build was stopped.
    #[error("stopped")]
    Stopped,
    /// Another process has cancelled or finished this build.
    #[error("another process has cancelled or finished the build")]
    EndedElsewhere,
    /// These ingested documents can no longer be read and would be missing from the new index.
    #[error("{} documents can no longer be read: {}", .0.len(), list(.0))]
    Unreadable(Vec<(DocumentId, String)>),
    /// Documents change faster than they can be indexed.
    #[error("documents change faster than they can be indexed: try again when there is less traffic")]
    TooManyChanges,
    /// A component failed.
    #[error(transparent)]
    Fault(#[from] Fault),
}

fn list(documents: &[(DocumentId, String)]) -> String {
    const SHOWN: usize = 10;
    let shown = documents.iter().take(SHOWN).map(|(id, reason)| format!("{id} ({reason})"));
    let more = documents.len().saturating_sub(SHOWN);
    let rest = (more > 0).then(|| format!("and {more} more"));
    shown.chain(rest).collect::<Vec<_>>().join(", ")
}

/// Builds a new index, or resumes the build in progress, and activates it.
///
/// # Errors
/// See [`ReindexError`]. After any error an index is active, and another call resumes the build.
pub async fn reindex(
    app: &App,
    plan: &Plan,
    stop: &CancellationToken,
    progress: &dyn Progress,
) -> Result<Reindexed, ReindexError> {
    generations::remove_retired(app).await?;
    let generation = begin(app, plan).await?;
    Build::new(app, generation, plan.concurrency.max(1), stop, progress).run().await
}

/// The build in progress, if any.
///
/// # Errors
/// When the database cannot be reached.
pub async fn build_in_progress(app: &App) -> Result<Option<IndexGeneration>, Fault> {
    let all = app.store.read().await?.generations().all().await?;
    Ok(all.into_iter().find(|it| it.state == GenerationState::Building))
}

/// Cancels and returns the build in progress, if any.
///
/// # Errors
/// When a store fails. Can be retried.
pub async fn abandon(app: &App) -> Result<Option<IndexGeneration>, Fault> {
    let mut work = app.store.begin().await?;
    let all = work.generations().all().await?;
    let Some(building) = all.into_iter().find(|it| it.state == GenerationState::Building) else {
        return Ok(None);
    };
    let cancelled = building.retired(app.now());
    work.generations().update(&cancelled).await?;
    work.commit().await?;
    // It was never searched. If this fails, it is removed later like any retired generation.
    if let Err(fault) = app.collections.remove(&cancelled.collection).await {
        tracing::warn!(fault = %fault.report(), "the vector collection of the cancelled build will be removed later");
    }
    Ok(Some(cancelled))
}

/// The build to resume, or a new one. The model is called first, so that a failing model starts no build.
async fn begin(app: &App, plan: &Plan) -> Result<IndexGeneration, ReindexError> {
    app.active_generation().await?;
    let building = build_in_progress(app).await?;
    let model = match (&building, &plan.model) {
        (Some(building), Some(named)) if *named != building.model => {
            return Err(ReindexError::ModelMismatch { building: building.model.clone() });
        }
        (Some(building), _) => building.model.clone(),
        (None, Some(named)) => named.clone(),
        (None, None) => app.settings.embedding_model.clone(),
    };
    let dimensions = model_dimensions(&app.embedders.of_model(&model)?).await?;
    if let Some(building) = building {
        return match (building.dimensions, dimensions) {
            (Some(expected), Some(actual)) if expected != actual => {
                Err(ReindexError::DimensionMismatch { expected, actual })
            }
            _ => Ok(building),
        };
    }
    let id = app.new_id(GenerationId::generate);
    let new = IndexGeneration::building(id, &model, &app.settings.collection, app.now());
    let new = IndexGeneration { dimensions, ..new };
    let mut work = app.store.begin().await?;
    if !work.generations().insert(&new).await? {
        return Err(ReindexError::EndedElsewhere);
    }
    work.commit().await?;
    Ok(new)
}

/// The dimensions of a model's vectors, if it produces any.
async fn model_dimensions(embedder: &Arc<dyn Embedder>) -> Result<Option<u32>, Fault> {
    let embedding = embedder.embed_query("Is anybody there?").await?;
    Ok(embedding.dense.and_then(|dense| u32::try_from(dense.len()).ok()))
}
