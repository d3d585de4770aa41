//! What whole answers and streamed ones have in common.

use chrono::{DateTime, Utc};
use docent_app::agent::Outcome;
use docent_domain::retrieval::ScoredChunk;
use serde::Serialize;
use utoipa::ToSchema;

/// What all parts of one answer say of it.
#[derive(Clone)]
pub(super) struct Completion {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) model: String,
}

impl Completion {
    pub(super) fn new(id: impl std::fmt::Display, at: DateTime<Utc>, model: String) -> Self {
        Self { id: format!("chatcmpl-{id}"), created: at.timestamp(), model }
    }
}

/// What an answer cost, over all calls of the model.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[schema(as = CompletionUsage)]
pub(crate) struct Usage {
    /// Tokens that the model read.
    prompt_tokens: u64,
    /// Tokens that it wrote.
    completion_tokens: u64,
    /// Both together.
    total_tokens: u64,
}

impl Usage {
    pub(super) fn of(outcome: &Outcome) -> Self {
        let (prompt_tokens, completion_tokens) = (outcome.tokens.prompt, outcome.tokens.completion);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    }
}

/// Why an answer ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FinishReason {
    /// It is whole.
    Stop,
    /// The model's limit of tokens, or the agent's of steps, cut it.
    Length,
}

impl FinishReason {
    pub(super) fn of(outcome: &Outcome) -> Self {
        if outcome.is_cut { Self::Length } else { Self::Stop }
    }
}

/// Whose a message is: always the model's.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerRole {
    /// The model's.
    Assistant,
}

/// A passage that an answer stands on.
#[derive(Serialize, ToSchema)]
pub(crate) struct Annotation<'a> {
    /// Always `file_citation`.
    r#type: &'static str,
    /// The passage.
    file_citation: FileCitation<'a>,
}

/// A passage of a document.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileCitation<'a> {
    /// The document's id.
    #[schema(format = "uuid")]
    file_id: String,
    /// Its title.
    filename: &'a str,
    /// The page that the passage begins on, counted from 1.
    #[schema(minimum = 1)]
    page_start: u32,
    /// The page that it ends on.
    #[schema(minimum = 1)]
    page_end: u32,
    /// What it says.
    quote: &'a str,
    /// How well it fits; compares within one answer only.
    score: f64,
}

impl<'a> From<&'a ScoredChunk> for Annotation<'a> {
    fn from(chunk: &'a ScoredChunk) -> Self {
        let file_citation = FileCitation {
            file_id: chunk.document_id.to_string(),
            filename: &chunk.title,
            page_start: chunk.span.start.page,
            page_end: chunk.span.end.page,
            quote: &chunk.text,
            score: chunk.score.into(),
        };
        Self { r#type: "file_citation", file_citation }
    }
}

/// What an answer stands on.
pub(super) fn annotations(sources: &[ScoredChunk]) -> Vec<Annotation<'_>> {
    sources.iter().map(Annotation::from).collect()
}
