//! Checks whether the embedding back end can be used.

use super::call::late;
use super::{CheckedStep, RecommendedSetting, Step, StepResult, advice};
use docent_domain::embedding_model::EmbeddingModel;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::retrieval::Passages;
use docent_ports::embedder::Embedder;
use std::time::Duration;
use tokio::time::{Instant, timeout};

const QUERY: &str = "When do the tours of the museum begin?";

/// Texts of a call that are tried at most.
const MAX_TEXTS: usize = 256;

/// What the embedder was seen to do.
struct Seen {
    dimensions: usize,
    /// Texts of a call that are accepted.
    batch: usize,
}

/// Embeds a question, and as many passages as one call may have.
pub async fn check(
    embedder: &dyn Embedder,
    batch: usize,
    limit: Duration,
) -> (CheckedStep, Option<RecommendedSetting>) {
    let batch = batch.min(MAX_TEXTS);
    let (step, began) = (Step::Embeddings, Instant::now());
    let late = |_| Err(late(Component::Embedder, "there are no vectors", began));
    let seen = match timeout(limit, embed(embedder, batch)).await.unwrap_or_else(late) {
        Ok(seen) => seen,
        Err(fault) => {
            let advice = match fault.status() {
                Some(400 | 413 | 422) => advice::EMBEDDINGS_REFUSED.to_owned(),
                _ => advice::for_fault(&fault, None, &[]),
            };
            return (CheckedStep::of_fault(step, StepResult::Failed, &fault, advice), None);
        }
    };
    let EmbeddingModel { name, prefixes } = EmbeddingModel::parse(embedder.model());
    let prefix = |prefix: &str| match prefix {
        "" => "nothing".to_owned(),
        prefix => format!("“{}”", prefix.replace('\n', "\\n")),
    };
    let message = format!(
        "{name} makes vectors of {} dimensions, {} texts per call. Before questions is {}, before passages {}.",
        seen.dimensions,
        seen.batch,
        prefix(&prefixes.query),
        prefix(&prefixes.document)
    );
    if seen.batch < batch {
        let smaller = RecommendedSetting::new("DOCENT_EMBEDDING_BATCH", seen.batch);
        return (CheckedStep::warning(step, message, advice::SMALL_BATCH), Some(smaller));
    }
    (CheckedStep::passed(step, message), None)
}

async fn embed(embedder: &dyn Embedder, batch: usize) -> Result<Seen> {
    let invalid =
        |message: &'static str| Fault::new(Component::Embedder, FaultKind::InvalidResponse, message);
    let query = embedder.embed_query(QUERY).await?.dense.ok_or_else(|| invalid("there is no vector"))?;
    let texts: Vec<String> = (1..=batch).map(|n| format!("Tour {n} begins in hall {n}.")).collect();
    let chunks: Vec<(u32, &str)> = texts.iter().map(|text| (1, text.as_str())).collect();
    let passages = Passages { title: "Tours", lead: "", chunks: &chunks, headings: &[] };
    let vectors = embedder.embed_passages(passages).await?;
    let dimensions = query.len();
    if vectors.iter().any(|vector| vector.dense.as_ref().map(Vec::len) != Some(dimensions)) {
        return Err(invalid("the vectors have different dimensions"));
    }
    Ok(Seen { dimensions, batch: embedder.batch_size(&texts).min(batch) })
}
