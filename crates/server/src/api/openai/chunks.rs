//! An answer piece by piece.

use super::{Completion, Usage, annotations, errors, finish_reason};
use crate::{context::State, error::Refusal, sse};
use actix_web::{HttpResponse, http::StatusCode};
use bytes::Bytes;
use docent_app::{
    agent::{Answer, AnswerEvent, Outcome},
    error::{Error, Fault},
};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use std::{collections::VecDeque, convert::Infallible};

const DONE: &[u8] = b"data: [DONE]\n\n";

/// Streams an answer. When the client goes away the stream is dropped, and the answer with it.
pub(super) fn reply(
    context: State,
    completion: Completion,
    answer: Answer,
    includes_usage: bool,
) -> HttpResponse {
    let mut chunks = Chunks { completion, includes_usage, ready: VecDeque::new() };
    chunks.delta(json!({ "role": "assistant", "content": "" }));
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
                        chunks.broken_off(&Refusal::new(StatusCode::SERVICE_UNAVAILABLE, sse::STOPPING));
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
            Ok(AnswerEvent::Text(text)) => self.delta(json!({ "content": text })),
            Ok(AnswerEvent::Sources(sources)) if sources.is_empty() => {}
            Ok(AnswerEvent::Sources(sources)) => self.delta(json!({ "annotations": annotations(&sources) })),
            Err(fault) => self.broken_off(&Refusal::from(Error::from(fault))),
        }
    }

    fn delta(&mut self, delta: Value) {
        self.choice(delta, None);
    }

    fn choice(&mut self, delta: Value, finish_reason: Option<&str>) {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        self.chunk(json!([choice]), None);
    }

    fn chunk(&mut self, choices: Value, usage: Option<Usage>) {
        let Completion { id, created, model } = &self.completion;
        let mut chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": created, "model": model, "choices": choices,
        });
        if self.includes_usage {
            chunk["usage"] = json!(usage);
        }
        self.ready.push_back(sse::frame(None, &chunk));
    }

    /// The last pieces: why it ended, what it cost if that was asked for, and that this is all.
    fn end(&mut self, outcome: &Outcome) {
        self.choice(json!({}), Some(finish_reason(outcome)));
        if self.includes_usage {
            self.chunk(json!([]), Some(Usage::of(outcome)));
        }
        self.ready.push_back(Bytes::from_static(DONE));
    }

    /// The last piece of an answer that broke off.
    fn broken_off(&mut self, refusal: &Refusal) {
        self.ready.push_back(sse::frame(None, &errors::of(refusal)));
    }
}
