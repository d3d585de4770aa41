//! Streamed answers.

use super::completion::{Annotation, AnswerRole, Completion, FinishReason, LEFT_OUT, Usage, annotations};
use super::errors;
use super::tools::FunctionToolCall;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use bytes::Bytes;
use docent_app::agent::{AnswerEvent, AnswerOutcome, AnswerStream};
use docent_http::{ApiError, BaseUrl, State, sse};
use futures::future::ready;
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use utoipa::ToSchema;

/// One event of a streamed answer.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents the frames that `sse::frame` writes")]
pub(crate) struct CompletionStreamEvent {
    /// A `ChatCompletionChunk` as JSON on one line. The last event is `[DONE]`, or an `OpenAiProblem` if the answer failed.
    data: String,
}

/// A chunk of an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChatCompletionChunk<'a> {
    /// ID of the answer, the same in all chunks.
    #[schema(pattern = "^chatcmpl-")]
    id: &'a str,
    /// Always `chat.completion.chunk`.
    object: &'static str,
    /// Creation time in seconds since 1970.
    created: i64,
    /// Name of the agent.
    model: &'a str,
    /// New content; empty in the chunk with the usage.
    #[schema(max_items = 1)]
    choices: &'a [ChunkChoice<'a>],
    /// With `include_usage`: the token usage in the last chunk, `null` before.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Option<Usage>>,
}

/// New content of an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChunkChoice<'a> {
    /// Always 0.
    index: u32,
    /// The content.
    delta: Delta<'a>,
    /// Always null.
    #[schema(required)]
    logprobs: Option<bool>,
    /// Why the answer ended, in the last chunk.
    #[schema(required)]
    finish_reason: Option<FinishReason>,
}

/// Content of a chunk.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct Delta<'a> {
    /// Role, in the first chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<AnswerRole>,
    /// The next text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content: Option<&'a str>,
    /// Citations of the answer, sent before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    annotations: Option<Vec<Annotation<'a>>>,
    /// Calls of functions of the client, each whole, after the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    tool_calls: Vec<FunctionCallDelta>,
}

/// A call of a function of the client.
#[derive(Serialize, ToSchema)]
pub(crate) struct FunctionCallDelta {
    /// Its position among the calls of the answer.
    index: usize,
    /// The call.
    #[serde(flatten)]
    call: FunctionToolCall,
}

const DONE: &[u8] = b"data: [DONE]\n\n";

/// Streams an answer. When the client disconnects the stream is dropped, and the answer with it.
pub(super) fn reply(
    context: State,
    completion: Completion,
    answer: AnswerStream,
    includes_usage: bool,
    base: BaseUrl,
) -> HttpResponse {
    let stopping = error_chunk(&ApiError::new(StatusCode::SERVICE_UNAVAILABLE, sse::STOPPING));
    let left_out = answer.left_out();
    let frames =
        frames(Chunks { completion, includes_usage, base, text: String::new(), has_calls: false }, answer);
    let mut response = sse::response();
    response.insert_header((LEFT_OUT, left_out));
    response.streaming(sse::stream(context, frames, Some(stopping)))
}

fn frames(chunks: Chunks, answer: AnswerStream) -> impl Stream<Item = Bytes> {
    let role = Delta { role: Some(AnswerRole::Assistant), content: Some(""), ..Delta::default() };
    let first = stream::once(ready(chunks.delta(role)));
    let rest = stream::unfold((chunks, Some(answer)), |(mut chunks, answer)| async move {
        let mut answer = answer?;
        let (frames, answer) = match answer.next().await {
            Some(Ok(event)) => (Vec::from_iter(chunks.of(event, answer.outcome())), Some(answer)),
            Some(Err(fault)) => (vec![error_chunk(&ApiError::of_fault(&fault))], None),
            None => (chunks.end(&answer.outcome().unwrap_or_else(AnswerOutcome::unknown)), None),
        };
        Some((stream::iter(frames), (chunks, answer)))
    });
    first.chain(rest.flatten())
}

/// The last chunk of an answer that failed.
fn error_chunk(error: &ApiError) -> Bytes {
    sse::frame(None, &errors::of(error))
}

/// The chunks of one answer.
struct Chunks {
    completion: Completion,
    includes_usage: bool,
    base: BaseUrl,
    /// The text so far.
    text: String,
    /// Whether the model calls functions of the client.
    has_calls: bool,
}

impl Chunks {
    fn of(&mut self, event: AnswerEvent, outcome: Option<AnswerOutcome>) -> Option<Bytes> {
        match event {
            AnswerEvent::Text(text) => {
                self.text.push_str(&text);
                Some(self.delta(Delta { content: Some(&text), ..Delta::default() }))
            }
            AnswerEvent::FunctionCalls(calls) => {
                let calls = self.completion.calls(calls).into_iter().enumerate();
                let tool_calls: Vec<_> =
                    calls.map(|(index, call)| FunctionCallDelta { index, call }).collect();
                self.has_calls = true;
                Some(self.delta(Delta { tool_calls, ..Delta::default() }))
            }
            // The answer with the outputs of the functions has the sources.
            AnswerEvent::Sources(_) if self.has_calls => None,
            AnswerEvent::Metadata(_) | AnswerEvent::Reasoning(_) | AnswerEvent::Found(_) => None,
            AnswerEvent::Sources(sources) => {
                let annotations = annotations(&self.text, &sources, outcome, &self.base);
                let delta = Delta { annotations: Some(annotations), ..Delta::default() };
                (delta.annotations.as_ref().is_some_and(|all| !all.is_empty())).then(|| self.delta(delta))
            }
        }
    }

    fn delta(&self, delta: Delta<'_>) -> Bytes {
        self.choice(delta, None)
    }

    fn choice(&self, delta: Delta<'_>, finish_reason: Option<FinishReason>) -> Bytes {
        self.chunk(&[ChunkChoice { index: 0, delta, logprobs: None, finish_reason }], None)
    }

    fn chunk(&self, choices: &[ChunkChoice<'_>], usage: Option<Usage>) -> Bytes {
        let Completion { id, created, model, .. } = &self.completion;
        let usage = self.includes_usage.then_some(usage);
        let object = "chat.completion.chunk";
        sse::frame(None, &ChatCompletionChunk { id, object, created: *created, model, choices, usage })
    }

    /// The last chunks: the finish reason, the usage if requested, and the end marker.
    fn end(&self, outcome: &AnswerOutcome) -> Vec<Bytes> {
        let finish = self.choice(Delta::default(), Some(FinishReason::of(outcome, self.has_calls)));
        let usage = self.includes_usage.then(|| self.chunk(&[], Some(Usage::of(outcome))));
        [finish].into_iter().chain(usage).chain([Bytes::from_static(DONE)]).collect()
    }
}
