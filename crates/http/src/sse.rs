//! Server-sent events: framing and sending.

use crate::context::State;
use actix_web::http::header;
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use futures::{FutureExt, Stream, StreamExt, future, stream};
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;

/// Detail of the last event when the service stops.
pub const STOPPING: &str = "The service is stopping";
/// A comment that keeps an idle connection open through proxies.
const PING: &[u8] = b": ping\n\n";

/// Starts a response with the headers of an event stream.
pub fn response() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header(("X-Accel-Buffering", "no"));
    response
}

/// Sends frames, and a comment if there was none within the ping interval. When the service stops, `stopping` is the
/// last frame; without it, the frames are sent to their end.
pub fn stream(
    context: State,
    frames: impl Stream<Item = Bytes>,
    stopping: Option<Bytes>,
) -> impl Stream<Item = Result<Bytes, Infallible>> {
    let open = context.metrics().map(|metrics| metrics.http.stream_began());
    stream::unfold(Some((Box::pin(frames), open)), move |state| {
        let (context, stopping) = (context.clone(), stopping.clone());
        async move {
            let (mut frames, open) = state?;
            let stop = async {
                match stopping {
                    Some(last) => context.cut.cancelled().map(|()| last).await,
                    None => future::pending().await,
                }
            };
            tokio::select! {
                biased;
                frame = frames.next() => Some((Ok(frame?), Some((frames, open)))),
                last = stop => Some((Ok(last), None)),
                () = context.app.sleep(context.settings.ping_interval) => {
                    Some((Ok(Bytes::from_static(PING)), Some((frames, open))))
                }
            }
        }
    })
}

/// Encodes the last event of a failed stream.
pub fn error_event(detail: &str) -> Bytes {
    frame(Some("error"), &json!({ "detail": detail }))
}

/// Encodes an event. JSON has no raw line breaks, so the data is always one line.
pub fn frame(event: Option<&str>, data: &impl Serialize) -> Bytes {
    let data = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
    match event {
        Some(event) => format!("event: {event}\ndata: {data}\n\n").into(),
        None => format!("data: {data}\n\n").into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_data_is_one_line_of_json() {
        assert_eq!(frame(None, &"a\n\"b\"\u{2028}é"), "data: \"a\\n\\\"b\\\"\u{2028}é\"\n\n");
        assert_eq!(
            frame(Some("error"), &json!({"detail": "x"})),
            "event: error\ndata: {\"detail\":\"x\"}\n\n"
        );
    }
}
