//! An answer piece by piece.

use super::{
    completion::{Annotation, AnswerRole, Completion, FinishReason, Usage, annotations},
    errors,
};
use crate::sse;
use actix_web::{HttpResponse, http::StatusCode};
use bytes::Bytes;
use docent_app::{
    agent::{Answer, AnswerEvent, Outcome},
    error::{Error, Fault},
};
use docent_http::{context::State, error::ApiError};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use std::{collections::VecDeque, convert::Infallible};
use utoipa::ToSchema;

/// One event of an answer that is streamed.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what `sse::frame` writes")]
pub(crate) struct CompletionStreamEvent {
    /// A `ChatCompletionChunk` as JSON on one line; as the last one `[DONE]`, or an `OpenAiProblem` when the answer breaks off.
    data: String,
}

/// A piece of an answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChatCompletionChunk<'a> {
    /// The answer's id, the same in all pieces.
    #[schema(pattern = "^chatcmpl-")]
    id: &'a str,
    /// Always `chat.completion.chunk`.
    object: &'static str,
    /// When the answer was begun, in seconds since 1970.
    created: i64,
    /// The agent's name.
    model: &'a str,
    /// What goes on; nothing in the piece that says what the answer cost.
    #[schema(max_items = 1)]
    choices: &'a [ChunkChoice<'a>],
    /// With `include_usage`: what the answer cost, in the last piece, and null before.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Option<Usage>>,
}

/// How an answer goes on.
#[derive(Serialize, ToSchema)]
pub(crate) struct ChunkChoice<'a> {
    /// Always 0.
    index: u32,
    /// What is new.
    delta: Delta<'a>,
    /// Always null.
    #[schema(required)]
    logprobs: Option<bool>,
    /// Why it ended, in the last piece.
    #[schema(required)]
    finish_reason: Option<FinishReason>,
}

/// What is new in a piece of an answer.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct Delta<'a> {
    /// In the first piece.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    role: Option<AnswerRole>,
    /// The next words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    content: Option<&'a str>,
    /// The passages that the answer stands on, before its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    annotations: Option<Vec<Annotation<'a>>>,
}

const DONE: &[u8] = b"data: [DONE]\n\n";

/// Streams an answer. When the client goes away the stream is dropped, and the answer with it.
pub(super) fn reply(
    context: State,
    completion: Completion,
    answer: Answer,
    includes_usage: bool,
) -> HttpResponse {
    let mut chunks = Chunks { completion, includes_usage, ready: VecDeque::new() };
    chunks.delta(Delta { role: Some(AnswerRole::Assistant), content: Some(""), annotations: None });
    sse::response().streaming(events(context, chunks, answer))
}

fn events(context: State, chunks: Chunks, answer: Answer) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let open = context.metrics().map(|metrics| metrics.http.stream_began());
    stream::unfold((chunks, Some(answer), open), move |(mut chunks, mut answer, open)| {
        let context = context.clone();
        async move {
            loop {
                if let Some(chunk) = chunks.ready.pop_front() {
                    return Some((Ok(chunk), (chunks, answer, open)));
                }
                let event = tokio::select! {
                    biased;
                    event = answer.as_mut()?.next() => event,
                    () = context.cut.cancelled() => {
                        chunks.broken_off(&ApiError::new(StatusCode::SERVICE_UNAVAILABLE, sse::STOPPING));
                        answer = None;
                        continue;
                    }
                    () = context.app.clock.sleep(context.settings.ping_interval) => {
                        return Some((Ok(Bytes::from_static(sse::PING)), (chunks, answer, open)));
                    }
                };
                match event {
                    Some(event) => {
                        if event.is_err() {
                            answer = None;
                        }
                        chunks.add(event);
                    }
                    None => {
                        let outcome = answer.take()?.outcome().await;
                        chunks.end(&outcome.unwrap_or_else(Outcome::unknown));
                    }
                }
            }
        }
    })
}

/// The pieces of one answer.
struct Chunks {
    completion: Completion,
    includes_usage: bool,
    /// What is to be sent.
    ready: VecDeque<Bytes>,
}

impl Chunks {
    fn add(&mut self, event: Result<AnswerEvent, Fault>) {
        match event {
            Ok(AnswerEvent::Text(text)) => self.delta(Delta { content: Some(&text), ..Delta::default() }),
            Ok(AnswerEvent::Sources(sources)) if sources.is_empty() => {}
            Ok(AnswerEvent::Sources(sources)) => {
                self.delta(Delta { annotations: Some(annotations(&sources)), ..Delta::default() });
            }
            Err(fault) => self.broken_off(&ApiError::from(Error::from(fault))),
        }
    }

    fn delta(&mut self, delta: Delta<'_>) {
        self.choice(delta, None);
    }

    fn choice(&mut self, delta: Delta<'_>, finish_reason: Option<FinishReason>) {
        self.chunk(&[ChunkChoice { index: 0, delta, logprobs: None, finish_reason }], None);
    }

    fn chunk(&mut self, choices: &[ChunkChoice<'_>], usage: Option<Usage>) {
        let Completion { id, created, model } = &self.completion;
        let usage = self.includes_usage.then_some(usage);
        let object = "chat.completion.chunk";
        let chunk = ChatCompletionChunk { id, object, created: *created, model, choices, usage };
        self.ready.push_back(sse::frame(None, &chunk));
    }

    /// The last pieces: why it ended, what it cost if that was asked for, and that this is all.
    fn end(&mut self, outcome: &Outcome) {
        self.choice(Delta::default(), Some(FinishReason::of(outcome)));
        if self.includes_usage {
            self.chunk(&[], Some(Usage::of(outcome)));
        }
        self.ready.push_back(Bytes::from_static(DONE));
    }

    /// The last piece of an answer that broke off.
    fn broken_off(&mut self, refusal: &ApiError) {
        self.ready.push_back(sse::frame(None, &errors::of(refusal)));
    }
}
