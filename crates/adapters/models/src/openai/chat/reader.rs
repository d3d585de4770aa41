//! Reads a chat response from its connection with timeouts.

use crate::openai::completion::{CompletionDecoder, Progress, ResponseMetadata};
use crate::openai::dialect::OutputReader;
use crate::openai::fault::{self, CallError};
use bytes::Bytes;
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind, Result};
use docent_ports::chat_model::ChatEvent;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

/// How long to wait for usage after the finish reason.
const USAGE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for the end of the body after `[DONE]`, so that the connection can be reused.
const BODY_END_TIMEOUT: Duration = Duration::from_millis(100);
/// Maximum number of pieces read between `[DONE]` and the end of the body.
const MAX_TRAILING_PIECES: usize = 4;

/// The longest waits for the back end. Neither runs while the caller handles events.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadLimits {
    /// For the next output.
    pub(super) output: Duration,
    /// For the whole response, whatever it contains: a model can stream its reasoning for ever.
    pub(super) response: Duration,
}

/// Reads the events of one response. Dropping it closes the connection, unless the body was read to its end.
pub(super) struct CompletionReader {
    body: Option<BoxStream<'static, Result<Bytes>>>,
    decoder: CompletionDecoder,
    limits: ReadLimits,
    /// When the current wait for output or usage times out.
    deadline: Option<Instant>,
    timer: Timer,
    /// The error that ended the response; returned after the events before it.
    error: Option<CallError>,
}

impl CompletionReader {
    /// Creates a reader of a successful response to a conversation of `turn` messages.
    pub(super) fn new(response: Response, turn: usize, output: OutputReader, limits: ReadLimits) -> Self {
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_page = content_type.is_some_and(|value| value.trim_start().starts_with("text/html"));
        let body = if is_page {
            let message = "the response is an HTML page; check the base URL";
            stream::iter([Err(Fault::new(Component::ChatModel, FaultKind::InvalidResponse, message))]).boxed()
        } else {
            let fault = |error| {
                let fault = fault::transport_fault(Component::ChatModel, error);
                match fault.kind() {
                    FaultKind::Unavailable => fault.with_known_cause(FaultCause::Interrupted),
                    _ => fault,
                }
            };
            response.bytes_stream().map(move |bytes| bytes.map_err(fault)).boxed()
        };
        Self::from_bytes(body, turn, output, limits)
    }

    /// Creates a reader of any byte stream.
    pub(super) fn from_bytes(
        body: BoxStream<'static, Result<Bytes>>,
        turn: usize,
        output: OutputReader,
        limits: ReadLimits,
    ) -> Self {
        let decoder = CompletionDecoder::new(turn, output);
        Self { body: Some(body), decoder, limits, deadline: None, timer: Timer::default(), error: None }
    }

    /// Returns the next event; `None` after the last one and after an error.
    pub(super) async fn next(&mut self) -> Option<Result<ChatEvent, CallError>> {
        loop {
            if let Some(event) = self.decoder.next_event() {
                return Some(Ok(event));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            let body = self.body.as_mut()?;
            let advanced =
                advance(body, &mut self.decoder, &mut self.limits, &mut self.deadline, &mut self.timer).await;
            if advanced.is_err() || self.decoder.progress() == Progress::Closed {
                self.body = None;
            }
            self.error = advanced.err();
        }
    }

    /// Whether the response began with reasoning, whose beginning is part of the prompt; `None` if that is
    /// unknown.
    pub(super) fn began_in_reasoning(&self) -> Option<bool> {
        self.decoder.began_in_reasoning()
    }

    /// The model and ID reported by the back end.
    pub(super) fn metadata(&self) -> &ResponseMetadata {
        self.decoder.metadata()
    }
}

/// Reads the next bytes, or completes the response if no more are needed.
///
/// The timeout for output runs while none arrives, even if other bytes do. What remains of the time for the response is
/// left in `limits`.
async fn advance(
    body: &mut BoxStream<'static, Result<Bytes>>,
    decoder: &mut CompletionDecoder,
    limits: &mut ReadLimits,
    deadline: &mut Option<Instant>,
    timer: &mut Timer,
) -> Result<(), CallError> {
    let began = Instant::now();
    let read = match decoder.progress() {
        Progress::Open => {
            let until = *deadline.get_or_insert(began + limits.output);
            timer.limit(until.min(began + limits.response), body.next()).await
        }
        Progress::Stopped => {
            let until = deadline.get_or_insert(began + limits.output.min(USAGE_TIMEOUT));
            timer.limit(*until, body.next()).await
        }
        Progress::Done | Progress::Closed => {
            let rest = body.take(MAX_TRAILING_PIECES).take_while(|piece| std::future::ready(piece.is_ok()));
            // The response is complete even if the body does not end in time.
            let _ = timeout(BODY_END_TIMEOUT, rest.count()).await;
            return decoder.finish();
        }
    };
    limits.response = limits.response.saturating_sub(began.elapsed());
    let is_open = decoder.progress() == Progress::Open;
    match read {
        Ok(Some(Ok(bytes))) => {
            let pushed = decoder.push(&bytes);
            if decoder.take_has_output() {
                *deadline = None;
            }
            pushed
        }
        Ok(None) => decoder.end(),
        // After the finish reason the response is complete, however the connection ends.
        Ok(Some(Err(_))) | Err(_) if !is_open => decoder.finish(),
        Ok(Some(Err(fault))) => Err(fault.into()),
        Err(_) => {
            let message = match limits.response.is_zero() {
                true => "the response was not complete within its time limit",
                false => "no output within the timeout",
            };
            Err(Fault::new(Component::ChatModel, FaultKind::Timeout, message).into())
        }
    }
}

/// Limits waits that mostly end early: their deadlines share one entry of the runtime's timer, which is moved only when it fires or
/// fires too late.
#[derive(Default)]
struct Timer(Option<Pin<Box<Sleep>>>);

/// The deadline passed.
struct Elapsed;

impl Timer {
    async fn limit<T>(
        &mut self,
        until: Instant,
        mut work: impl Future<Output = T> + Unpin,
    ) -> Result<T, Elapsed> {
        poll_fn(|context| {
            if let Poll::Ready(done) = Pin::new(&mut work).poll(context) {
                return Poll::Ready(Ok(done));
            }
            let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(until)));
            if sleep.deadline() > until {
                sleep.as_mut().reset(until);
            }
            loop {
                ready!(sleep.as_mut().poll(context));
                if sleep.deadline() >= until {
                    return Poll::Ready(Err(Elapsed));
                }
                sleep.as_mut().reset(until);
            }
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chat::FinishReason;
    use futures::channel::mpsc;

    const LIMIT: Duration = Duration::from_secs(60);
    const LIMITS: ReadLimits = ReadLimits { output: LIMIT, response: Duration::from_secs(600) };
    const WORD: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    const EMPTY: &str = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\"}}]}}]}\n\n";
    const THOUGHT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"\",\"reasoning\":\"hm\",\"reasoning_content\":\"hm\"}}]}\n\n";
    const CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\"}}]}}]}\n\n";
    const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n";
    const DONE: &str = "data: [DONE]\n\n";

    fn output() -> OutputReader {
        OutputReader::new([], false)
    }

    /// A reader of pieces that arrive with the given pauses, on a connection that then stays open and silent.
    fn reader(
        pieces: &[(Duration, &'static str)],
    ) -> (CompletionReader, mpsc::UnboundedSender<Result<Bytes>>) {
        let pieces = pieces.to_vec();
        let slow = stream::iter(pieces).then(|(pause, piece)| async move {
            tokio::time::sleep(pause).await;
            Ok(Bytes::from_static(piece.as_bytes()))
        });
        let (sender, silence) = mpsc::unbounded();
        (CompletionReader::from_bytes(slow.chain(silence).boxed(), 1, output(), LIMITS), sender)
    }

    async fn read(reader: &mut CompletionReader) -> (Vec<ChatEvent>, Option<FaultKind>) {
        let mut events = Vec::new();
        while let Some(event) = reader.next().await {
            match event {
                Ok(event) => events.push(event),
                Err(CallError::Fault(fault)) => return (events, Some(fault.kind())),
                Err(CallError::Backend(error)) => return (events, Some(error.kind)),
            }
        }
        (events, None)
    }

    fn word() -> ChatEvent {
        ChatEvent::Text("a".to_owned())
    }

    fn is_finished(event: &ChatEvent, with_usage: bool) -> bool {
        matches!(event, ChatEvent::Finished { reason: FinishReason::Stop, usage } if usage.is_some() == with_usage)
    }

    #[tokio::test(start_paused = true)]
    async fn timeout_applies_to_each_output_not_to_the_whole_response() {
        let pause = LIMIT - Duration::from_secs(1);
        let (mut reader, _open) =
            reader(&[(pause, WORD), (pause, THOUGHT), (pause, CALL), (pause, WORD), (pause, DONE)]);
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events.len(), fault), (5, None));
    }

    #[tokio::test(start_paused = true)]
    async fn endless_reasoning_or_text_ends_after_the_time_for_the_response() {
        // No output arrives at the very moment of the end.
        let pause = LIMIT / 2 + Duration::from_secs(1);
        for endless in [THOUGHT, WORD] {
            let begin = Instant::now();
            let (mut reader, open) = reader(&vec![(pause, endless); 1000]);
            let (events, fault) = read(&mut reader).await;
            assert_eq!((events.len(), fault), (19, Some(FaultKind::Timeout)));
            assert_eq!(begin.elapsed(), LIMITS.response);
            assert!(open.is_closed(), "the connection is dropped");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_consumer_does_not_use_up_the_time_for_the_response() {
        let (mut reader, _open) = reader(&[(LIMIT / 2, WORD), (LIMIT / 2, WORD), (LIMIT / 2, DONE)]);
        assert!(reader.next().await.is_some_and(|event| event.is_ok()));
        tokio::time::sleep(2 * LIMITS.response).await;
        assert_eq!(read(&mut reader).await.1, None);
    }

    // Invariant: An answer ends with its last token, an error or a disconnect; empty chunks from the model do
    // not keep it open.
    #[tokio::test(start_paused = true)]
    async fn comments_and_empty_deltas_do_not_reset_the_timeout() {
        let often = LIMIT / 4;
        let ping = (often, ": ping\n\n");
        for empty in [": ping\n\n", EMPTY, "data: {\"choices\":[]}\n\n", "event: ping\ndata: {}\n\n"] {
            let begin = Instant::now();
            let (mut reader, open) =
                reader(&[(often, WORD), (often, empty), ping, (often, empty), ping, ping]);
            let (events, fault) = read(&mut reader).await;
            assert_eq!((events, fault), (vec![word()], Some(FaultKind::Timeout)), "{empty}");
            assert_eq!(begin.elapsed(), often + LIMIT);
            assert!(open.is_closed(), "the connection is dropped");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_consumer_does_not_trigger_the_timeout() {
        let (mut reader, _open) = reader(&[(LIMIT / 2, WORD), (LIMIT / 2, WORD), (LIMIT / 2, DONE)]);
        for _ in 0..2 {
            assert!(reader.next().await.is_some_and(|event| event.is_ok()));
            tokio::time::sleep(2 * LIMIT).await;
        }
        assert!(reader.next().await.is_some_and(|event| event.is_ok_and(|event| is_finished(&event, false))));
    }

    #[tokio::test(start_paused = true)]
    async fn silent_response_times_out() {
        let begin = Instant::now();
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD)]);
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events, fault), (vec![word()], Some(FaultKind::Timeout)));
        assert_eq!(begin.elapsed(), LIMIT);
        assert!(open.is_closed(), "the connection is dropped");
        assert!(reader.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn wait_for_usage_is_short() {
        let late = USAGE_TIMEOUT * 3 / 4;
        let (mut in_time, _open) = reader(&[(Duration::ZERO, STOP), (late, USAGE), (Duration::ZERO, DONE)]);
        let (events, fault) = read(&mut in_time).await;
        assert!(fault.is_none() && is_finished(&events[0], true), "{events:?}");

        // Comments do not extend the wait after the finish reason.
        let (mut too_late, _open) = reader(&[(Duration::ZERO, STOP), (late, ": ping\n"), (late, USAGE)]);
        let (events, fault) = read(&mut too_late).await;
        assert!(fault.is_none() && is_finished(&events[0], false), "{events:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn open_connection_after_done_delays_the_end_briefly() {
        let begin = Instant::now();
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD), (Duration::ZERO, DONE)]);
        assert_eq!(read(&mut reader).await.0.len(), 2);
        assert_eq!(begin.elapsed(), BODY_END_TIMEOUT);
        assert!(open.is_closed(), "the connection is dropped");
    }

    #[tokio::test(start_paused = true)]
    async fn connection_error_after_finish_reason_is_ignored() {
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD), (Duration::ZERO, STOP)]);
        let fault = Fault::new(Component::ChatModel, FaultKind::Unavailable, "reset");
        open.unbounded_send(Err(fault)).unwrap();
        let (events, fault) = read(&mut reader).await;
        assert!(fault.is_none() && is_finished(&events[1], false), "{events:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn connection_error_before_finish_reason_follows_received_text() {
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD)]);
        let fault = Fault::new(Component::ChatModel, FaultKind::Unavailable, "reset");
        open.unbounded_send(Err(fault)).unwrap();
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events, fault), (vec![word()], Some(FaultKind::Unavailable)));
    }

    #[tokio::test(start_paused = true)]
    async fn text_in_the_same_piece_precedes_the_error() {
        let (mut reader, _open) = reader(&[(
            Duration::ZERO,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"code\":429}}\n\n",
        )]);
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events, fault), (vec![word()], Some(FaultKind::RateLimited)));
    }
}
