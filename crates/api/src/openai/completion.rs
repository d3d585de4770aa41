//! Types shared by streamed and complete answers.

use chrono::{DateTime, Utc};
use docent_app::agent::Outcome;
use docent_domain::retrieval::ScoredChunk;
use serde::Serialize;
use utoipa::ToSchema;

/// Header with the number of messages that the model did not receive. The format has no field for it.
pub(super) const LEFT_OUT: &str = "x-messages-left-out";

/// Fields that are the same in all chunks of an answer.
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

/// Tokens of all model calls for an answer.
#[derive(Clone, Copy, Serialize, ToSchema)]
#[schema(as = CompletionUsage)]
pub(crate) struct Usage {
    /// Input tokens.
    prompt_tokens: u64,
    /// Output tokens.
    completion_tokens: u64,
    /// Sum of both.
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
    /// The answer is complete.
    Stop,
    /// The token limit of the model or the step limit of the agent cut the answer off.
    Length,
}

impl FinishReason {
    pub(super) fn of(outcome: &Outcome) -> Self {
        if outcome.is_truncated { Self::Length } else { Self::Stop }
    }
}

/// Author of a message: always the model.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerRole {
    /// The model.
    Assistant,
}

/// A passage on which the answer is based.
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
    /// ID of the document.
    #[schema(format = "uuid")]
    file_id: String,
    /// Title of the document.
    filename: &'a str,
    /// First page of the passage, counted from 1.
    #[schema(minimum = 1)]
    page_start: u32,
    /// Last page.
    #[schema(minimum = 1)]
    page_end: u32,
    /// Text.
    quote: &'a str,
    /// Relevance; comparable within one response only.
    score: f64,
    /// `true` if text of it was recognised on an image of a page. Otherwise missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false, default = false)]
    recognized: bool,
    /// What the first page is in a file that is not a PDF. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<&'a str>,
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
            recognized: chunk.recognized,
            label: chunk.label.as_deref(),
        };
        Self { r#type: "file_citation", file_citation }
    }
}

/// Converts the sources of an answer.
pub(super) fn annotations(sources: &[ScoredChunk]) -> Vec<Annotation<'_>> {
    sources.iter().map(Annotation::from).collect()
}
