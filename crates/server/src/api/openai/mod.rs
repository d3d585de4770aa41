//! The agents as clients of the OpenAI API know models: below `/v1`, in that API's wire format.
//!
//! What such a client sends and this service has no use for is ignored, as most of them send more than they need;
//! what would change the answer and cannot be done is refused.

pub(crate) mod chat;
mod chunks;
pub(crate) mod embeddings;
pub(crate) mod errors;
pub(crate) mod models;
mod request;
mod whole;

use chrono::{DateTime, Utc};
use docent_app::agent::Outcome;
use docent_domain::retrieval::ScoredChunk;
use serde::Serialize;
use serde_json::{Value, json};

/// What all parts of one answer say of it.
#[derive(Clone)]
struct Completion {
    id: String,
    created: i64,
    model: String,
}

impl Completion {
    fn new(id: impl std::fmt::Display, at: DateTime<Utc>, model: String) -> Self {
        Self { id: format!("chatcmpl-{id}"), created: at.timestamp(), model }
    }
}

/// What an answer cost.
#[derive(Clone, Copy, Serialize)]
struct Usage {
    prompt_tokens: u64,
    completion_tokens: u64,
    total_tokens: u64,
}

impl Usage {
    fn of(outcome: &Outcome) -> Self {
        let (prompt_tokens, completion_tokens) = (outcome.tokens.prompt, outcome.tokens.completion);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    }
}

/// Why an answer ended.
fn finish_reason(outcome: &Outcome) -> &'static str {
    if outcome.is_cut { "length" } else { "stop" }
}

/// What an answer stands on.
fn annotations(sources: &[ScoredChunk]) -> Vec<Value> {
    let annotation = |chunk: &ScoredChunk| {
        json!({
            "type": "file_citation",
            "file_citation": {
                "file_id": chunk.document_id.to_string(),
                "filename": chunk.title,
                "page_start": chunk.span.start.page,
                "page_end": chunk.span.end.page,
                "quote": chunk.text,
                "score": chunk.score,
            },
        })
    };
    sources.iter().map(annotation).collect()
}
