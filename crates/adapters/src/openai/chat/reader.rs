//! Reads a chat response from its connection with timeouts.

use crate::openai::{
    answer::{AnswerDecoder, AnswerError, Facts, Progress},
    fault,
};
use bytes::Bytes;
use docent_ports::{
    chat_model::ChatEvent,
    error::{Component, Fault, FaultKind, Result},
};
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use reqwest::{Response, header::CONTENT_TYPE};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// How long to wait for usage after the finish reason.
const MAX_WAIT_FOR_USAGE: Duration = Duration::from_secs(2);
/// After the last word the end of the body is waited for this long, so that the connection can be
/// used again.
const MAX_WAIT_FOR_END: Duration = Duration::from_millis(100);
/// Pieces of a body that may still come before its end.
const MAX_LAST_PIECES: usize = 4;

/// Reads the events of one response. Dropping it closes the connection, unless the body was read to its end.
pub(super) struct AnswerReader {
    body: Option<BoxStream<'static, Result<Bytes>>>,
    decoder: AnswerDecoder,
    /// The longest silence.
    limit: Duration,
    /// When the current wait for output or usage times out.
    deadline: Option<Instant>,
    /// The error that ended the response; returned after the events before it.
    error: Option<AnswerError>,
}

impl AnswerReader {
    /// Reads the body of a successful response to a conversation of `turn` messages.
    pub(super) fn new(response: Response, turn: usize, limit: Duration) -> Self {
        let content_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_page = content_type.is_some_and(|value| value.trim_start().starts_with("text/html"));
        let body = if is_page {
            let message = "the answer is a web page; check the base URL";
            stream::iter([Err(Fault::new(Component::ChatModel, FaultKind::InvalidResponse, message))]).boxed()
        } else {
            let broken = |error| fault::of_transport(Component::ChatModel, error);
            response.bytes_stream().map(move |bytes| bytes.map_err(broken)).boxed()
        };
        Self::of_bytes(body, turn, limit)
    }

    /// Creates a reader of any byte stream.
    pub(super) fn of_bytes(body: BoxStream<'static, Result<Bytes>>, turn: usize, limit: Duration) -> Self {
        let decoder = AnswerDecoder::new(turn);
        Self { body: Some(body), decoder, limit, deadline: None, error: None }
    }

    /// Returns the next event; `None` after the last one and after an error.
    pub(super) async fn next(&mut self) -> Option<Result<ChatEvent, AnswerError>> {
        loop {
            if let Some(event) = self.decoder.next_event() {
                return Some(Ok(event));
            }
            if let Some(error) = self.error.take() {
                return Some(Err(error));
            }
            let body = self.body.as_mut()?;
            let advanced = advance(body, &mut self.decoder, self.limit, &mut self.deadline).await;
            if advanced.is_err() || self.decoder.progress() == Progress::Closed {
                self.body = None;
            }
            self.error = advanced.err();
        }
    }

    /// The model and ID reported by the back end.
    pub(super) fn facts(&self) -> &Facts {
        self.decoder.facts()
    }
}

/// Reads the next bytes, or completes the response if no more are needed.
///
/// The timeout runs while no output arrives, even if other bytes do. It does not run while the caller handles events.
async fn advance(
    body: &mut BoxStream<'static, Result<Bytes>>,
    decoder: &mut AnswerDecoder,
    limit: Duration,
    deadline: &mut Option<Instant>,
) -> Result<(), AnswerError> {
    let read = match decoder.progress() {
        Progress::Open => {
            let until = deadline.get_or_insert_with(|| Instant::now() + limit);
            timeout_at(*until, body.next()).await
        }
        Progress::Stopped => {
            let until = deadline.get_or_insert_with(|| Instant::now() + limit.min(MAX_WAIT_FOR_USAGE));
            timeout_at(*until, body.next()).await
        }
        Progress::Done | Progress::Closed => {
            let rest = body.take(MAX_LAST_PIECES).take_while(|piece| std::future::ready(piece.is_ok()));
            // Whether it came or not, the answer is complete.
            let _ = timeout(MAX_WAIT_FOR_END, rest.count()).await;
            return decoder.finish();
        }
    };
    let is_open = decoder.progress() == Progress::Open;
    match read {
        Ok(Some(Ok(bytes))) => {
            let pushed = decoder.push(&bytes);
            if decoder.has_spoken() {
                *deadline = None;
            }
            pushed
        }
        Ok(None) => decoder.end(),
        // After the finish reason the response is complete, however the connection ends.
        Ok(Some(Err(_))) | Err(_) if !is_open => decoder.finish(),
        Ok(Some(Err(fault))) => Err(fault.into()),
        Err(_) => Err(Fault::new(Component::ChatModel, FaultKind::Timeout, "the answer stalled").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chat::FinishReason;
    use futures::channel::mpsc;

    const LIMIT: Duration = Duration::from_secs(60);
    const WORD: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    const EMPTY: &str = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"\"}}]}}]}\n\n";
    const THOUGHT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"\",\"reasoning\":\"hm\",\"reasoning_content\":\"hm\"}}]}\n\n";
    const CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"f\"}}]}}]}\n\n";
    const STOP: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":1}}\n\n";
    const DONE: &str = "data: [DONE]\n\n";

    /// A reader of pieces that arrive with the given pauses, on a connection that then stays open and silent.
    fn reader(pieces: &[(Duration, &'static str)]) -> (AnswerReader, mpsc::UnboundedSender<Result<Bytes>>) {
        let pieces = pieces.to_vec();
        let slow = stream::iter(pieces).then(|(pause, piece)| async move {
            tokio::time::sleep(pause).await;
            Ok(Bytes::from_static(piece.as_bytes()))
        });
        let (sender, silence) = mpsc::unbounded();
        (AnswerReader::of_bytes(slow.chain(silence).boxed(), 1, LIMIT), sender)
    }

    async fn read(reader: &mut AnswerReader) -> (Vec<ChatEvent>, Option<FaultKind>) {
        let mut events = Vec::new();
        while let Some(event) = reader.next().await {
            match event {
                Ok(event) => events.push(event),
                Err(AnswerError::Fault(fault)) => return (events, Some(fault.kind())),
                Err(AnswerError::Told(told)) => return (events, Some(told.kind)),
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
    async fn the_limit_is_for_the_next_word_and_not_for_the_whole_answer() {
        let patient = LIMIT - Duration::from_secs(1);
        let (mut reader, _open) =
            reader(&[(patient, WORD), (patient, THOUGHT), (patient, CALL), (patient, WORD), (patient, DONE)]);
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events.len(), fault), (4, None));
    }

    #[tokio::test(start_paused = true)]
    async fn comments_and_empty_pieces_are_silence() {
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
    async fn a_slow_listener_is_no_silence() {
        let (mut reader, _open) = reader(&[(LIMIT / 2, WORD), (LIMIT / 2, WORD), (LIMIT / 2, DONE)]);
        for _ in 0..2 {
            assert!(reader.next().await.is_some_and(|event| event.is_ok()));
            tokio::time::sleep(2 * LIMIT).await;
        }
        assert!(reader.next().await.is_some_and(|event| event.is_ok_and(|event| is_finished(&event, false))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_answer_is_given_up() {
        let begin = Instant::now();
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD)]);
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events, fault), (vec![word()], Some(FaultKind::Timeout)));
        assert_eq!(begin.elapsed(), LIMIT);
        assert!(open.is_closed(), "the connection is dropped");
        assert!(reader.next().await.is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn usage_is_waited_for_a_moment_only() {
        let late = MAX_WAIT_FOR_USAGE * 3 / 4;
        let (mut in_time, _open) = reader(&[(Duration::ZERO, STOP), (late, USAGE), (Duration::ZERO, DONE)]);
        let (events, fault) = read(&mut in_time).await;
        assert!(fault.is_none() && is_finished(&events[0], true), "{events:?}");

        // Comments do not extend the wait after the finish reason.
        let (mut too_late, _open) = reader(&[(Duration::ZERO, STOP), (late, ": ping\n"), (late, USAGE)]);
        let (events, fault) = read(&mut too_late).await;
        assert!(fault.is_none() && is_finished(&events[0], false), "{events:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_stays_open_after_the_mark_delays_nothing_for_long() {
        let begin = Instant::now();
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD), (Duration::ZERO, DONE)]);
        assert_eq!(read(&mut reader).await.0.len(), 2);
        assert_eq!(begin.elapsed(), MAX_WAIT_FOR_END);
        assert!(open.is_closed(), "the connection is dropped");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_breaks_after_the_last_word_breaks_nothing() {
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD), (Duration::ZERO, STOP)]);
        let fault = Fault::new(Component::ChatModel, FaultKind::Unavailable, "reset");
        open.unbounded_send(Err(fault)).unwrap();
        let (events, fault) = read(&mut reader).await;
        assert!(fault.is_none() && is_finished(&events[1], false), "{events:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_that_breaks_earlier_ends_the_answer_after_its_words() {
        let (mut reader, open) = reader(&[(Duration::ZERO, WORD)]);
        let fault = Fault::new(Component::ChatModel, FaultKind::Unavailable, "reset");
        open.unbounded_send(Err(fault)).unwrap();
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events, fault), (vec![word()], Some(FaultKind::Unavailable)));
    }

    #[tokio::test(start_paused = true)]
    async fn words_come_before_the_error_that_came_with_them() {
        let (mut reader, _open) = reader(&[(
            Duration::ZERO,
            "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"error\":{\"code\":429}}\n\n",
        )]);
        let (events, fault) = read(&mut reader).await;
        assert_eq!((events, fault), (vec![word()], Some(FaultKind::RateLimited)));
    }
}
