//! Types shared by streamed and complete answers.

use super::tools::FunctionToolCall;
use chrono::{DateTime, Utc};
use docent_app::agent::{AnswerOutcome, EndReason, locate_citations};
use docent_domain::chat::ToolCall;
use docent_domain::retrieval::ScoredChunk;
use docent_http::BaseUrl;
use serde::Serialize;
use std::ops::Range;
use utoipa::ToSchema;

/// Header with the number of messages that the model did not receive. The format has no field for it.
pub(super) const LEFT_OUT: &str = "x-messages-left-out";

/// Fields that are the same in all chunks of an answer.
#[derive(Clone)]
pub(super) struct Completion {
    pub(super) id: String,
    pub(super) created: i64,
    pub(super) model: String,
    /// Whether the answer can call several functions.
    calls_in_parallel: bool,
}

impl Completion {
    pub(super) fn new(
        id: impl std::fmt::Display,
        at: DateTime<Utc>,
        model: String,
        calls_in_parallel: bool,
    ) -> Self {
        Self { id: format!("chatcmpl-{id}"), created: at.timestamp(), model, calls_in_parallel }
    }

    /// The calls of functions that the answer may have.
    pub(super) fn calls(&self, calls: Vec<ToolCall>) -> Vec<FunctionToolCall> {
        let max = if self.calls_in_parallel { usize::MAX } else { 1 };
        calls.into_iter().take(max).map(FunctionToolCall::from).collect()
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
    pub(super) fn of(outcome: &AnswerOutcome) -> Self {
        let (prompt_tokens, completion_tokens) = (outcome.tokens.prompt, outcome.tokens.completion);
        Self { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
    }
}

/// Why an answer ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FinishReason {
    /// The answer is complete, or one of the strings of `stop` would follow.
    Stop,
    /// `max_tokens`, the token limit of the model or the step limit of the agent cut the answer off.
    Length,
    /// A content filter of the model's server cut the answer off.
    ContentFilter,
    /// The model calls functions of the client.
    ToolCalls,
}

impl FinishReason {
    pub(super) fn of(outcome: &AnswerOutcome, has_calls: bool) -> Self {
        match outcome.reason {
            EndReason::Complete if has_calls => Self::ToolCalls,
            EndReason::Length | EndReason::Iterations => Self::Length,
            EndReason::ContentFilter => Self::ContentFilter,
            EndReason::Complete | EndReason::ReasoningOnly | EndReason::Empty | EndReason::Failed => {
                Self::Stop
            }
        }
    }
}

/// Author of a message: always the model.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AnswerRole {
    /// The model.
    Assistant,
}

/// A citation of a passage on which the answer is based.
///
/// Clients of the OpenAI API know only `url_citation`, and some of them refuse an answer with another type. The own fields are beside it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Annotation<'a> {
    /// Always `url_citation`.
    r#type: &'static str,
    /// Where the citation is in the text, and what it cites.
    url_citation: UrlCitation<'a>,
    /// The passage.
    file_citation: FileCitation<'a>,
}

/// Where a citation is in the text of an answer, and what it cites.
#[derive(Serialize, ToSchema)]
pub(crate) struct UrlCitation<'a> {
    /// Position of the first character of the citation in the text, counted from 0 in Unicode code points.
    start_index: usize,
    /// Position after its last character. Equal to `start_index`, at the end of the text, if the text has no citations.
    end_index: usize,
    /// The page of the web chat that shows the document at the cited page.
    #[schema(format = "uri")]
    url: String,
    /// Title of the document.
    title: &'a str,
}

/// A passage of a document.
#[derive(Serialize, ToSchema)]
pub(crate) struct FileCitation<'a> {
    /// ID of the document.
    #[schema(format = "uuid")]
    file_id: String,
    /// Title of the document.
    filename: &'a str,
    /// The cited page, counted from 1; the first of several, and of the passage if the text has no citations.
    #[schema(minimum = 1)]
    page: u32,
    /// Text.
    quote: &'a str,
    /// Relevance; comparable within one response only.
    score: f64,
    /// `true` if text of it was recognised on an image of a page. Otherwise missing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false, default = false)]
    recognized: bool,
    /// What the page is in a file that is not a PDF. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<&'a str>,
}

impl<'a> Annotation<'a> {
    fn new(cited: CitedPassage<'a>, base: &BaseUrl) -> Self {
        let label = cited.label();
        let CitedPassage { passage, page, range } = cited;
        let url_citation = UrlCitation {
            start_index: range.start,
            end_index: range.end,
            url: base.document(passage.document_id, page),
            title: &passage.title,
        };
        let file_citation = FileCitation {
            file_id: passage.document_id.to_string(),
            filename: &passage.title,
            page,
            quote: &passage.text,
            score: passage.score.into(),
            recognized: passage.recognized,
            label,
        };
        Self { r#type: "url_citation", url_citation, file_citation }
    }
}

/// A passage that an answer cites.
pub(super) struct CitedPassage<'a> {
    /// The passage.
    pub(super) passage: &'a ScoredChunk,
    /// The cited page.
    pub(super) page: u32,
    /// Where the citation is in the text, in Unicode code points.
    pub(super) range: Range<usize>,
}

impl<'a> CitedPassage<'a> {
    /// What the cited page is in a file that is not a PDF. The label of a passage belongs to its first page.
    pub(super) fn label(&self) -> Option<&'a str> {
        self.passage.label.as_deref().filter(|_| self.page == self.passage.span.start.page)
    }
}

/// The citations in the text of an answer. A text without any, such as that of an agent without a system prompt, has all sources at its
/// end, unless the model says that they do not contain the answer.
pub(super) fn cited_passages<'a>(
    text: &str,
    sources: &'a [ScoredChunk],
    outcome: Option<AnswerOutcome>,
) -> Vec<CitedPassage<'a>> {
    let cited = located_citations(text, sources);
    if cited.is_empty() && !outcome.is_some_and(|outcome| outcome.is_declined) {
        let end = text.chars().count();
        let whole = |passage: &'a ScoredChunk| CitedPassage {
            passage,
            page: passage.span.start.page,
            range: end..end,
        };
        return sources.iter().map(whole).collect();
    }
    cited
}

/// The passages that a text cites.
pub(super) fn located_citations<'a>(text: &str, sources: &'a [ScoredChunk]) -> Vec<CitedPassage<'a>> {
    let cited = locate_citations(text, sources).into_iter();
    cited.map(|found| CitedPassage { passage: found.passage, page: found.page, range: found.range }).collect()
}

/// The citations of an answer as annotations.
pub(super) fn annotations<'a>(
    text: &str,
    sources: &'a [ScoredChunk],
    outcome: Option<AnswerOutcome>,
    base: &BaseUrl,
) -> Vec<Annotation<'a>> {
    cited_passages(text, sources, outcome).into_iter().map(|cited| Annotation::new(cited, base)).collect()
}
