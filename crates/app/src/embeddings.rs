//! Embeds texts for clients with their own vector index.

use crate::error::Result;
use crate::tokens::Counter;
use crate::{App, limits, usage};
use docent_domain::access::{Actor, Chat, Grant};
use docent_domain::chat::AgentName;
use docent_domain::embedding_model::{EmbeddingModel, Prefixes};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::UsageId;
use docent_domain::retrieval::Passages;
use docent_domain::usage::{TokenUsage, UsageRecord};
use std::sync::Arc;

/// The agent name of embeddings in the usage records.
const LEDGER_NAME: &str = "embeddings";

/// The result of embedding texts.
#[derive(Debug)]
pub enum EmbeddingOutcome {
    /// The vectors of the texts.
    Vectors(Vectors),
    /// The requested model is not the embedding model of the active index.
    UnknownModel,
    /// The embedding model of the active index does not produce vectors.
    NoVectors,
}

/// Vectors of unit length, one for each text.
#[derive(Debug)]
pub struct Vectors {
    /// In the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// The number of tokens of the texts.
    pub tokens: u64,
}

/// Name of the embedding model of the active index; none if it does not produce vectors, or if this process is not configured for it.
///
/// # Errors
/// When the database cannot be reached.
pub async fn model(app: &App) -> Result<Option<String>> {
    let generation = app.active_generation().await?;
    let embedder = app.embedders.of_model(&generation.model).ok();
    let embedder = embedder.filter(|embedder| embedder.makes_vectors());
    // Clients name it without its prefixes.
    Ok(embedder.map(|embedder| dense_name(&EmbeddingModel::parse(embedder.model()).name).to_owned()))
}

/// Embeds texts with the embedding model of the active index, which must be `model`, and records the usage.
///
/// # Errors
/// When the embedder or the database fails.
pub async fn embed(
    app: &App,
    grant: &Grant<Chat>,
    actor: &Actor,
    model: &str,
    texts: &[String],
) -> Result<EmbeddingOutcome> {
    limits::check_tokens(app, grant).await?;
    let active = app.active_index().await?;
    // Clients put the prefixes before their texts themselves: only they know which ones are queries.
    let embedder = match EmbeddingModel::parse(&active.generation.model) {
        EmbeddingModel { prefixes, .. } if prefixes == Prefixes::default() => Arc::clone(active.embedder()?),
        EmbeddingModel { name, .. } => app.embedders.of_model(&name)?,
    };
    if !embedder.makes_vectors() {
        return Ok(EmbeddingOutcome::NoVectors);
    }
    if !is_named(embedder.model(), model) {
        return Ok(EmbeddingOutcome::UnknownModel);
    }
    let chunks: Vec<(u32, &str)> = texts.iter().map(|text| (1, text.as_str())).collect();
    let passages = Passages { title: "", lead: "", chunks: &chunks, headings: &[] };
    let embeddings = embedder.embed_passages(passages).await?;
    let vectors: Option<Vec<_>> = embeddings.into_iter().map(|embedding| embedding.dense).collect();
    let vectors = vectors.filter(|vectors| vectors.len() == texts.len()).ok_or_else(|| {
        Fault::new(Component::Embedder, FaultKind::InvalidResponse, "an embedding without its dense part")
    })?;
    let tokens = count(texts.to_vec()).await;
    if let Ok(agent) = AgentName::parse(LEDGER_NAME) {
        let cost = TokenUsage { prompt: tokens, completion: 0 };
        app.recorder.tokens_used(&agent, model, cost);
        let record = UsageRecord {
            id: app.new_id(UsageId::generate),
            user: grant.user(),
            api_key: actor.api_key(),
            conversation: None,
            agent,
            model: model.to_owned(),
            tokens: cost,
            at: app.now(),
        };
        usage::record(app, &record).await?;
    }
    Ok(EmbeddingOutcome::Vectors(Vectors { vectors, tokens }))
}

/// The name of the dense part of an embedder. That of the sparse part before it has no plus sign.
fn dense_name(embedder: &str) -> &str {
    embedder.split_once('+').map_or(embedder, |(_, dense)| dense)
}

/// Whether `name` names this embedder: by its full name, or by the name of its dense part.
fn is_named(embedder: &str, name: &str) -> bool {
    let before = embedder.strip_suffix(name).filter(|_| !name.is_empty());
    before.is_some_and(|before| before.is_empty() || before.ends_with('+'))
}

/// Counts tokens off the async threads, because counting is CPU-bound. Zero if counting panics: the vectors exist.
async fn count(texts: Vec<String>) -> u64 {
    let count = move || {
        let counter = Counter::default();
        texts.iter().map(|text| counter.count(text) as u64).sum()
    };
    tokio::task::spawn_blocking(count).await.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_matches_by_full_name_or_dense_part() {
        for (name, is_match) in
            [("a-1+b/c", true), ("b/c", true), ("c", false), ("", false), ("a-1", false), ("x+b/c", false)]
        {
            assert_eq!(is_named("a-1+b/c", name), is_match, "{name}");
        }
    }

    #[test]
    fn dense_part_names_the_embedder() {
        for (embedder, name) in [("a-1+b/c", "b/c"), ("a-1+b+c", "b+c"), ("b", "b")] {
            assert_eq!(dense_name(embedder), name);
            assert!(is_named(embedder, name), "{name}");
        }
    }
}
