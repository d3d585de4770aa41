//! Server-sent events: framing and sending.

use crate::context::State;
use crate::metrics::http::GaugeGuard;
use actix_web::http::header;
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use futures::{FutureExt, Stream};
use serde::Serialize;
use serde_json::json;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Detail of the last event when the service stops.
pub const STOPPING: &str = "The service is stopping";
/// A comment that keeps an idle connection open through proxies.
const PING: &[u8] = b": ping\n\n";
/// Size in bytes of most frames: those of a token.
const FRAME: usize = 64;

/// Starts a response with the headers of an event stream.
pub fn response() -> HttpResponseBuilder {
    let mut response = HttpResponse::Ok();
    response
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        // Answers quote documents, so browsers must not store them.
        .insert_header((header::CACHE_CONTROL, "no-store"))
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
    let stop = stopping.map(|last| context.cut.clone().cancelled_owned().map(|()| last).boxed());
    Frames {
        frames: Box::pin(frames),
        stop,
        pause: pause(&context, context.settings.ping_interval),
        last_at: context.app.now(),
        is_over: false,
        _open: context.metrics().map(|metrics| metrics.http.stream_began()),
        context,
    }
}

/// The frames of a response, and the comments between them.
struct Frames<F> {
    context: State,
    frames: Pin<Box<F>>,
    /// The last frame of a stopping service.
    stop: Option<BoxFuture<'static, Bytes>>,
    /// Ends when a comment is due, unless there were frames meanwhile: a timer for each frame would cost as much as the frame.
    pause: BoxFuture<'static, ()>,
    /// Time of the last frame or comment.
    last_at: DateTime<Utc>,
    is_over: bool,
    _open: Option<GaugeGuard>,
}

fn pause(context: &State, duration: Duration) -> BoxFuture<'static, ()> {
    let app = Arc::clone(&context.app);
    async move { app.sleep(duration).await }.boxed()
}

impl<F: Stream<Item = Bytes>> Stream for Frames<F> {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, polling: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        if let Poll::Ready(frame) = self.frames.as_mut().poll_next(polling) {
            self.is_over = frame.is_none();
            self.last_at = self.context.app.now();
            return Poll::Ready(frame.map(Ok));
        }
        if let Some(stop) = &mut self.stop
            && let Poll::Ready(last) = stop.as_mut().poll(polling)
        {
            self.is_over = true;
            return Poll::Ready(Some(Ok(last)));
        }
        loop {
            ready!(self.pause.as_mut().poll(polling));
            let (now, interval) = (self.context.app.now(), self.context.settings.ping_interval);
            let silent = (now - self.last_at).to_std().unwrap_or_default();
            let left = interval.saturating_sub(silent);
            if left.is_zero() {
                self.last_at = now;
                self.pause = pause(&self.context, interval);
                return Poll::Ready(Some(Ok(Bytes::from_static(PING))));
            }
            self.pause = pause(&self.context, left);
        }
    }
}

/// Encodes the last event of a failed stream.
pub fn error_event(detail: &str) -> Bytes {
    frame(Some("error"), &json!({ "detail": detail }))
}

/// Encodes an event. JSON has no raw line breaks, so the data is always one line.
pub fn frame(event: Option<&str>, data: &impl Serialize) -> Bytes {
    let mut frame = Vec::with_capacity(FRAME);
    if let Some(event) = event {
        frame.extend_from_slice(b"event: ");
        frame.extend_from_slice(event.as_bytes());
        frame.push(b'\n');
    }
    frame.extend_from_slice(b"data: ");
    let start = frame.len();
    if serde_json::to_writer(&mut frame, data).is_err() {
        frame.truncate(start);
        frame.extend_from_slice(b"null");
    }
    frame.extend_from_slice(b"\n\n");
    frame.into()
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
