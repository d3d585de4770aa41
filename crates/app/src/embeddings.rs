//! Vectors of texts, for clients that keep an index of their own.

use crate::{App, error::Result, tokens::Counter, usage};
use docent_domain::{
    access::{Actor, Chat, Grant},
    chat::AgentName,
    fault::{Component, Fault, FaultKind},
    id::UsageId,
    retrieval::Passages,
    usage::{TokenUsage, UsageRecord},
};

/// What stands in the usage ledger in the place of an agent.
const LEDGER_NAME: &str = "embeddings";

/// What became of a request for vectors.
#[derive(Debug)]
pub enum Embedded {
    /// They were made.
    Vectors(Vectors),
    /// The model that was named is not the one that serves.
    OtherModel,
    /// The model that serves makes none.
    NoVectors,
}

/// Vectors of unit length, one for each text.
#[derive(Debug)]
pub struct Vectors {
    /// In the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// What the texts have, counted here.
    pub tokens: u64,
}

/// The vectors of texts, by the model that serves, which `model` must name. What they cost is written down.
///
/// # Errors
/// When the embedder or the database does not work.
pub async fn embed(
    app: &App,
    grant: &Grant<Chat>,
    actor: &Actor,
    model: &str,
    texts: &[String],
) -> Result<Embedded> {
    let serving = app.serving().await?;
    let embedder = serving.embedder()?;
    if !embedder.makes_vectors() {
        return Ok(Embedded::NoVectors);
    }
    if !is_named(embedder.model(), model) {
        return Ok(Embedded::OtherModel);
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
    Ok(Embedded::Vectors(Vectors { vectors, tokens }))
}

/// Whether a name is that of an embedder: its whole name, or that of the part which makes vectors.
fn is_named(embedder: &str, name: &str) -> bool {
    let before = embedder.strip_suffix(name).filter(|_| !name.is_empty());
    before.is_some_and(|before| before.is_empty() || before.ends_with('+'))
}

/// Counting is work for the processor. Nothing, should it fail: the vectors are there.
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
    fn a_model_is_known_by_its_name_and_that_of_its_dense_part() {
        for (name, is_right) in
            [("a-1+b/c", true), ("b/c", true), ("c", false), ("", false), ("a-1", false), ("x+b/c", false)]
        {
            assert_eq!(is_named("a-1+b/c", name), is_right, "{name}");
        }
    }
}
