//! Answers as server-sent events.
//!
//! Each piece of text is `data: <JSON string>` and an empty line. Nothing else is sent, but for `event: sources`
//! where the client asked for it, `event: error` where the answer broke off, and comments while it is idle.

use actix_web::{HttpResponse, HttpResponseBuilder, http::header};
use bytes::Bytes;
use docent_app::{
    agent::{Answer, AnswerEvent},
    error::Fault,
};
use docent_domain::retrieval::ScoredChunk;
use docent_http::{context::State, error::sentence};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;
use utoipa::ToSchema;

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
        Err(fault) => Some(broken_off(&sentence(&fault.public_message()))),
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

/// One event of an answer, by its fields.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what `frame` writes")]
pub(crate) struct AnswerStreamEvent {
    /// `message` where the stream names none, as in the specification of server-sent events.
    event: Option<EventName>,
    /// Its number, from 1 on, where the answer can be resumed.
    #[schema(pattern = "^[1-9][0-9]*$", nullable = false)]
    id: Option<String>,
    /// JSON on one line, by the event's name.
    #[schema(content_media_type = "application/json")]
    data: String,
}

/// What an event is.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "says which names `frame` gets")]
pub(crate) enum EventName {
    /// The next piece of the answer, as a string.
    Message,
    /// The passages that it stands on, as a `Sources` object.
    Sources,
    /// Why it breaks off, as a `Problem` object.
    Error,
    /// That it is over, as a `StreamEnd` object, where it can be resumed.
    End,
}

/// Passages, best first. Clients may have come to rely on the order of the fields, and on all digits of a score.
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

/// A passage that an answer stands on, or that a search found.
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
    /// The passage's id.
    #[schema(format = "uuid")]
    chunk_id: String,
    /// The id of the document that it stands in.
    #[schema(format = "uuid")]
    document_id: String,
    /// The page that it ends on.
    #[schema(minimum = 1)]
    page_end: u32,
    /// The page that it begins on, counted from 1.
    #[schema(minimum = 1)]
    page_start: u32,
    /// How well it fits; compares within one answer only.
    score: f64,
    /// What it says.
    text: &'a str,
    /// The document's title.
    title: &'a str,
}

impl<'a> From<&'a ScoredChunk> for Source<'a> {
    fn from(chunk: &'a ScoredChunk) -> Self {
        Self {
            chunk_id: chunk.id.to_string(),
            document_id: chunk.document_id.to_string(),
            title: &chunk.title,
            page_start: chunk.span.start.page,
            page_end: chunk.span.end.page,
            score: chunk.score.into(),
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

    #[test]
    fn passages_are_sent_byte_for_byte_as_ever() {
        let source = Source {
            chunk_id: "c".to_owned(),
            document_id: "d".to_owned(),
            page_end: 2,
            page_start: 1,
            score: 0.1_f32.into(),
            text: "words",
            title: "T.pdf",
        };
        let sent = r#"{"results":[{"chunk_id":"c","document_id":"d","page_end":2,"page_start":1,"score":0.10000000149011612,"text":"words","title":"T.pdf"}]}"#;
        assert_eq!(serde_json::to_string(&Sources { results: vec![source] }).unwrap(), sent);
    }
}
