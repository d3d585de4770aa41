//! Answers as server-sent events.
//!
//! Each piece of text is `data: <JSON string>` and an empty line. Nothing else is sent, but for `event: sources`
//! where the client asked for it, `event: error` where the answer broke off, and comments while it is idle.

use crate::{context::State, error::sentence};
use actix_web::{HttpResponse, HttpResponseBuilder, http::header};
use bytes::Bytes;
use docent_app::{
    agent::{Answer, AnswerEvent},
    error::Fault,
};
use docent_domain::retrieval::ScoredChunk;
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;

/// Why an answer is cut off when its time is over.
pub(crate) const STOPPING: &str = "The service is stopping";
/// A comment, so that proxies keep an idle stream open.
pub(crate) const PING: &[u8] = b": ping\n\n";

/// Streams an answer. When the client goes away the stream is dropped, and the answer with it.
pub(crate) fn reply(context: State, answer: Answer, include_sources: bool) -> HttpResponse {
    response().streaming(events(context, answer, include_sources))
}

/// The head of a stream of events.
pub(crate) fn response() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header(("X-Accel-Buffering", "no"));
    response
}

fn events(
    context: State,
    answer: Answer,
    include_sources: bool,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let open = context.metrics().map(|metrics| metrics.http.stream_began());
    stream::unfold(Some((answer, open)), move |state| {
        let context = context.clone();
        async move {
            let (mut answer, open) = state?;
            loop {
                let event = tokio::select! {
                    biased;
                    event = answer.next() => event?,
                    () = context.cut.cancelled() => {
                        return Some((Ok(broken_off(STOPPING)), None));
                    }
                    () = context.app.clock.sleep(context.settings.ping_interval) => {
                        return Some((Ok(Bytes::from_static(PING)), Some((answer, open))));
                    }
                };
                if let Some(frame) = of_event(&event, include_sources) {
                    return Some((Ok(frame), Some((answer, open))));
                }
            }
        }
    })
}

/// What a client is told of an event, if anything.
pub(crate) fn of_event(event: &Result<AnswerEvent, Fault>, include_sources: bool) -> Option<Bytes> {
    match event {
        Ok(AnswerEvent::Text(text)) => Some(frame(None, text)),
        Ok(AnswerEvent::Sources(chunks)) if include_sources => {
            let results: Vec<_> = chunks.iter().map(Source::from).collect();
            Some(frame(Some("sources"), &json!({ "results": results })))
        }
        Ok(AnswerEvent::Sources(_)) => None,
        Err(fault) => Some(broken_off(&sentence(&fault.public()))),
    }
}

/// The last event of an answer that broke off.
pub(crate) fn broken_off(detail: &str) -> Bytes {
    frame(Some("error"), &json!({ "detail": detail }))
}

/// One event. JSON has no raw line breaks, so its data is always one line.
pub(crate) fn frame(event: Option<&str>, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    match event {
        Some(event) => format!("event: {event}\ndata: {data}\n\n").into(),
        None => format!("data: {data}\n\n").into(),
    }
}

/// A passage that an answer stands on, or that a search found.
#[derive(Serialize)]
pub(crate) struct Source<'a> {
    chunk_id: String,
    document_id: String,
    title: &'a str,
    page_start: u32,
    page_end: u32,
    score: f32,
    text: &'a str,
}

impl<'a> From<&'a ScoredChunk> for Source<'a> {
    fn from(chunk: &'a ScoredChunk) -> Self {
        Self {
            chunk_id: chunk.id.to_string(),
            document_id: chunk.document_id.to_string(),
            title: &chunk.title,
            page_start: chunk.span.start.page,
            page_end: chunk.span.end.page,
            score: chunk.score,
            text: &chunk.text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line_of_json() {
        assert_eq!(frame(None, &"a\n\"b\"\u{2028}é"), "data: \"a\\n\\\"b\\\"\u{2028}é\"\n\n");
        assert_eq!(
            frame(Some("error"), &json!({"detail": "x"})),
            "event: error\ndata: {\"detail\":\"x\"}\n\n"
        );
    }
}
