//! The events of an agent's answer.
//!
//! Each piece of text is `data: <JSON string>`. Besides, there are `event: metadata`, `event: reasoning` and
//! `event: sources` if the client requested them, and `event: error` if the answer failed after its first event.

use actix_web::HttpResponse;
use bytes::Bytes;
use docent_app::agent::{self, AnswerEvent, AnswerMetadata, AnswerStream};
use docent_domain::fallback;
use docent_domain::fault::Fault;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_http::error::sentence;
use docent_http::{State, sse};
use futures::future::ready;
use futures::{StreamExt, stream};
use serde::Serialize;
use std::collections::HashSet;
use std::ops::Not;
use utoipa::ToSchema;

/// What a client requested besides the text of an answer.
#[derive(Clone, Copy)]
pub(crate) struct Included {
    /// The sources.
    pub(crate) sources: bool,
    /// How the answer is made.
    pub(crate) metadata: bool,
}

/// Streams an answer. When the client disconnects the stream is dropped, and the answer with it.
pub(crate) fn reply(context: State, answer: AnswerStream, included: Included) -> HttpResponse {
    let frames = stream::unfold(Some(answer), move |answer| async move {
        let mut answer = answer?;
        match answer.next().await {
            Some(event) => Some((of_event(&event, included), event.is_ok().then_some(answer))),
            None => Some((missing_answer(&answer), None)),
        }
    });
    let frames = frames.filter_map(ready);
    sse::response().streaming(sse::stream(context, frames, Some(sse::error_event(sse::STOPPING))))
}

/// Encodes an event of an answer, unless the client did not request it.
pub(crate) fn of_event(event: &Result<AnswerEvent, Fault>, included: Included) -> Option<Bytes> {
    match event {
        Ok(AnswerEvent::Text(text)) => Some(sse::frame(None, text)),
        // Only generated for clients that requested it.
        Ok(AnswerEvent::Reasoning(text)) => Some(sse::frame(Some("reasoning"), text)),
        Ok(AnswerEvent::Metadata(metadata)) if included.metadata => {
            Some(sse::frame(Some("metadata"), &Metadata::from(metadata)))
        }
        Ok(AnswerEvent::Sources(chunks)) if included.sources => {
            Some(sse::frame(Some("sources"), &Sources::from(chunks.as_slice())))
        }
        Ok(
            AnswerEvent::Metadata(_)
            | AnswerEvent::Sources(_)
            | AnswerEvent::Found(_)
            | AnswerEvent::FunctionCalls(_),
        ) => None,
        Err(fault) => Some(sse::error_event(&sentence(&fault.public_message()))),
    }
}

/// The last event of an answer that ended without text.
pub(crate) fn missing_answer(answer: &AnswerStream) -> Option<Bytes> {
    Some(sse::error_event(answer.outcome()?.missing_answer()?))
}

/// Encodes the sources of an earlier answer, whose texts were removed if their documents are among `withheld`.
pub(crate) fn sources(chunks: &[ScoredChunk], withheld: &HashSet<DocumentId>) -> Bytes {
    let results = chunks.iter().map(|chunk| Source::of(chunk, withheld)).collect();
    sse::frame(Some("sources"), &Sources { results })
}

/// One event of an answer.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents the frames that `sse::frame` writes")]
pub(crate) struct AnswerStreamEvent {
    /// Name of the event. Default: `message`, as in the specification of server-sent events.
    event: Option<EventName>,
    /// Number of the event, starting at 1, if the answer is resumable.
    #[schema(pattern = "^[1-9][0-9]*$", nullable = false)]
    id: Option<String>,
    /// JSON on one line. Its schema depends on the name of the event.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// Name of an event.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "documents the names in the frames that `sse::frame` writes")]
pub(crate) enum EventName {
    /// The next text of the answer, as a string.
    Message,
    /// How the answer is made, as an `AnswerMetadata` object.
    Metadata,
    /// The next text that the model wrote for itself, as a string. No part of the answer.
    Reasoning,
    /// Passages on which the answer is based, as a `Sources` object.
    Sources,
    /// Why the answer failed, as a `Problem` object.
    Error,
    /// End of a resumable answer, as a `StreamEnd` object.
    End,
}

/// How an answer is made.
#[derive(Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schema(as = AnswerMetadata)]
pub(crate) enum Metadata<'a> {
    /// The oldest messages were left out because they exceed `history_tokens`.
    HistoryShortened {
        /// Number of messages.
        left_out: usize,
    },
    /// The model searches.
    Searched {
        /// What it searches for, cut after 200 characters.
        query: &'a str,
    },
    /// The answer asks which of several things is meant, such as which document.
    Choices {
        /// Texts of which the client can send one as the next message.
        choices: &'a [String],
    },
    /// Citations of passages that were not found were removed from the text.
    CitationsRemoved {
        /// Number of citations.
        count: u64,
    },
    /// The model answered without a search of the documents.
    NotSearched,
    /// The answer consists of quotes from the documents, since the model could not answer. It replaces reasoning and metadata before it.
    Fallback {
        /// Why the model could not answer.
        cause: FallbackCause,
    },
    /// The answer is incomplete, or there is none.
    Incomplete {
        /// Why.
        reason: IncompleteReason,
    },
}

/// Why the chat model could not answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(rename_all = "snake_case")]
pub(crate) enum FallbackCause {
    /// Its server cannot be reached.
    Unreachable,
    /// It did not answer in time.
    Timeout,
    /// It has too many requests or too little memory.
    Overloaded,
    /// Its server is loading it.
    Loading,
    /// The account at its server has no quota left.
    QuotaExceeded,
    /// Its server refuses requests, for example because of the name of the model or the API key.
    Rejected,
    /// The question, the conversation and the passages are longer than its context.
    ContextLength,
    /// Its server reported an error or broke off its response.
    Failed,
}

impl From<fallback::FallbackCause> for FallbackCause {
    fn from(cause: fallback::FallbackCause) -> Self {
        match cause {
            fallback::FallbackCause::Unreachable => Self::Unreachable,
            fallback::FallbackCause::Timeout => Self::Timeout,
            fallback::FallbackCause::Overloaded => Self::Overloaded,
            fallback::FallbackCause::Loading => Self::Loading,
            fallback::FallbackCause::QuotaExceeded => Self::QuotaExceeded,
            fallback::FallbackCause::Rejected => Self::Rejected,
            fallback::FallbackCause::ContextLength => Self::ContextLength,
            fallback::FallbackCause::Failed => Self::Failed,
        }
    }
}

/// Why an answer is incomplete.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(rename_all = "snake_case")]
pub(crate) enum IncompleteReason {
    /// The model reached its token limit.
    Length,
    /// A content filter of the model's server stopped it.
    ContentFilter,
    /// The model called tools until the limit of model calls.
    Iterations,
    /// The model wrote only reasoning.
    ReasoningOnly,
    /// The model wrote nothing.
    Empty,
    /// It failed; `event: error` has the cause.
    Error,
}

impl From<agent::EndReason> for IncompleteReason {
    fn from(reason: agent::EndReason) -> Self {
        match reason {
            agent::EndReason::Length => Self::Length,
            agent::EndReason::ContentFilter => Self::ContentFilter,
            agent::EndReason::Iterations => Self::Iterations,
            agent::EndReason::ReasoningOnly => Self::ReasoningOnly,
            agent::EndReason::Complete | agent::EndReason::Empty => Self::Empty,
            agent::EndReason::Failed => Self::Error,
        }
    }
}

impl<'a> From<&'a AnswerMetadata> for Metadata<'a> {
    fn from(metadata: &'a AnswerMetadata) -> Self {
        match metadata {
            AnswerMetadata::HistoryShortened { left_out } => Self::HistoryShortened { left_out: *left_out },
            AnswerMetadata::Searched { query } => Self::Searched { query },
            AnswerMetadata::Choices { choices } => Self::Choices { choices },
            AnswerMetadata::CitationsRemoved { count } => Self::CitationsRemoved { count: *count },
            AnswerMetadata::NotSearched => Self::NotSearched,
            AnswerMetadata::Fallback { cause } => Self::Fallback { cause: (*cause).into() },
            AnswerMetadata::Incomplete { reason } => Self::Incomplete { reason: (*reason).into() },
        }
    }
}

/// Passages, best first. Clients may rely on the order of the fields and on all digits of a score.
#[derive(Serialize, ToSchema)]
pub(crate) struct Sources<'a> {
    /// The passages.
    results: Vec<Source<'a>>,
}

impl<'a> From<&'a [ScoredChunk]> for Sources<'a> {
    fn from(chunks: &'a [ScoredChunk]) -> Self {
        Self { results: chunks.iter().map(Source::from).collect() }
    }
}

/// A passage that a search found.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "chunk_id": "5b0c3f6e-1c52-5c0e-9d6f-2a7b8c9d0e1f",
    "document_id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "title": "Terms.pdf",
    "page_start": 3,
    "page_end": 4,
    "score": 12.5,
    "text": "The warranty lasts five years.",
}))]
pub(crate) struct Source<'a> {
    /// ID of the passage.
    #[schema(format = "uuid")]
    chunk_id: String,
    /// ID of the document.
    #[schema(format = "uuid")]
    document_id: String,
    /// Last page.
    #[schema(minimum = 1)]
    page_end: u32,
    /// First page, counted from 1.
    #[schema(minimum = 1)]
    page_start: u32,
    /// Relevance; comparable within one response only.
    score: f64,
    /// Text.
    text: &'a str,
    /// Title of the document.
    title: &'a str,
    /// `false` in an earlier answer, if the document was deleted or the account can no longer read it; `text` is empty then.
    /// Otherwise missing.
    #[serde(skip_serializing_if = "is_true")]
    #[schema(required = false, default = true)]
    available: bool,
    /// Version of the document, if it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, minimum = 2)]
    version: Option<u32>,
    /// `true` if text of it was recognised on an image of a page, so that it may contain errors. Otherwise missing.
    #[serde(skip_serializing_if = "Not::not")]
    #[schema(required = false, default = false)]
    recognized: bool,
    /// What the first page is in a file that is not a PDF: `Slide 3`, `Budget!A1:F40` or a heading. Otherwise missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    label: Option<&'a str>,
}

impl<'a> From<&'a ScoredChunk> for Source<'a> {
    fn from(chunk: &'a ScoredChunk) -> Self {
        Self {
            chunk_id: chunk.id.to_string(),
            document_id: chunk.document_id.to_string(),
            title: &chunk.title,
            version: Some(chunk.version).filter(|version| *version > 1),
            page_start: chunk.span.start.page,
            page_end: chunk.span.end.page,
            score: chunk.score.into(),
            text: &chunk.text,
            available: true,
            recognized: chunk.recognized,
            label: chunk.label.as_deref(),
        }
    }
}

impl<'a> Source<'a> {
    /// A passage of an earlier answer, whose text was removed if its document is among `withheld`.
    pub(crate) fn of(chunk: &'a ScoredChunk, withheld: &HashSet<DocumentId>) -> Self {
        Self { available: !withheld.contains(&chunk.document_id), ..Self::from(chunk) }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_true(value: &bool) -> bool {
    *value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(recognized: bool) -> Source<'static> {
        Source {
            chunk_id: "c".to_owned(),
            document_id: "d".to_owned(),
            page_end: 2,
            page_start: 1,
            score: 0.1_f32.into(),
            text: "words",
            title: "T.pdf",
            available: true,
            version: None,
            recognized,
            label: None,
        }
    }

    #[test]
    fn sources_serialization_is_stable() {
        let sent = r#"{"results":[{"chunk_id":"c","document_id":"d","page_end":2,"page_start":1,"score":0.10000000149011612,"text":"words","title":"T.pdf"}]}"#;
        assert_eq!(serde_json::to_string(&Sources { results: vec![source(false)] }).unwrap(), sent);
    }

    #[test]
    fn source_of_a_recognised_page_says_so() {
        let sent = serde_json::to_string(&source(true)).unwrap();
        assert!(sent.ends_with(r#","title":"T.pdf","recognized":true}"#), "{sent}");
    }
}
