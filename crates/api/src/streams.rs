//! Resumable answers.
//!
//! A task writes each answer into a buffer of numbered events, from which readers stream. The buffer belongs to this process, is bounded
//! in bytes, and is removed `resume_grace` after its end. An answer without a reader for that time is stopped.

use crate::answer_events::{self, Included};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::web::Data;
use bytes::Bytes;
use docent_app::agent::{AnswerEvent, AnswerStream};
use docent_app::error::Error;
use docent_app::{quotes, scope};
use docent_domain::access::Actor;
use docent_domain::fault::report;
use docent_domain::id::{StreamId, UserId};
use docent_domain::retrieval::ScoredChunk;
use docent_http::context::Context;
use docent_http::{ApiError, State, sse};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use std::collections::{HashMap, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use utoipa::ToSchema;

/// Maximum bytes of buffered events of an answer. The oldest are dropped.
const BYTES_MAX: usize = 512 * 1024;
/// Maximum number of buffered answers.
const STREAMS_MAX: usize = 128;
/// Maximum number of buffered answers of an account.
const STREAMS_OF_ACCOUNT: usize = 8;

/// The buffered answers.
#[derive(Default)]
pub(crate) struct Streams(Mutex<HashMap<StreamId, Arc<BufferedStream>>>);

impl Streams {
    /// Returns an answer of this agent to this account.
    pub(crate) fn find(
        &self,
        id: StreamId,
        owner: UserId,
        agent: &str,
    ) -> Result<Arc<BufferedStream>, ApiError> {
        let found = lock(&self.0).get(&id).map(Arc::clone);
        found.filter(|stream| stream.owner == owner && stream.agent == agent).ok_or_else(gone)
    }

    /// Makes room for one more stream among those that match `counts`: removes the oldest one that ended if there are `max`.
    fn make_room(
        streams: &mut HashMap<StreamId, Arc<BufferedStream>>,
        max: usize,
        counts: impl Fn(&BufferedStream) -> bool,
    ) -> bool {
        if streams.values().filter(|stream| counts(stream)).count() < max {
            return true;
        }
        let ended = streams.iter().filter(|(_, stream)| counts(stream) && lock(&stream.buffer).is_over);
        let oldest = ended.map(|(id, _)| *id).min();
        oldest.is_some_and(|id| streams.remove(&id).is_some())
    }
}

/// 404: unknown, of another account, or removed.
pub(crate) fn gone() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "Stream not found")
}

/// Reserves a slot for an answer before it is requested.
pub(crate) fn reserve(
    context: &State,
    streams: Data<Streams>,
    owner: UserId,
    agent: &str,
) -> Result<Slot, ApiError> {
    let mut buffered = lock(&streams.0);
    if !Streams::make_room(&mut buffered, STREAMS_OF_ACCOUNT, |stream| stream.owner == owner) {
        return Err(ApiError::too_many(context.settings.resume_grace));
    }
    if !Streams::make_room(&mut buffered, STREAMS_MAX, |_| true) {
        let detail = "Too many resumable answers are in progress";
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, detail));
    }
    let stream = Arc::new(BufferedStream {
        id: context.app.new_id(StreamId::generate),
        owner,
        agent: agent.to_owned(),
        buffer: Mutex::default(),
        changed: watch::Sender::new(()),
        readers: watch::Sender::new(0),
        stop: CancellationToken::new(),
    });
    buffered.insert(stream.id, Arc::clone(&stream));
    drop(buffered);
    Ok(Slot { context: context.clone(), streams, stream })
}

/// Streams an answer and buffers it in this slot.
pub(crate) fn reply(
    context: State,
    actor: Actor,
    slot: Slot,
    answer: AnswerStream,
    included: Included,
) -> HttpResponse {
    let stream = Arc::clone(&slot.stream);
    // Registers the reader before the task checks for readers.
    let response = read(context.clone(), actor, stream, 0);
    context.runtime.spawn(buffer_answer(slot, answer, included).in_current_span());
    response
}

/// Streams the buffered and future events after event `seen`. Sources are sent with the texts that the actor can read by
/// then.
pub(crate) fn read(context: State, actor: Actor, stream: Arc<BufferedStream>, seen: u64) -> HttpResponse {
    let id = stream.id.to_string();
    let frames = frames(context.clone(), actor, stream, seen);
    sse::response().insert_header(("X-Stream-Id", id)).streaming(sse::stream(context, frames, None))
}

/// A slot among the buffered answers. Dropping it removes the stream.
pub(crate) struct Slot {
    context: State,
    streams: Data<Streams>,
    stream: Arc<BufferedStream>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        lock(&self.streams.0).remove(&self.stream.id);
        self.stream.change(|buffer| buffer.is_over = true);
    }
}

/// End of a resumable answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct StreamEnd {
    /// Reason.
    reason: EndReason,
}

/// Reason of the end of an answer.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum EndReason {
    /// The answer is complete.
    Complete,
    /// The answer was stopped.
    Stopped,
}

/// A buffered answer.
pub(crate) struct BufferedStream {
    id: StreamId,
    owner: UserId,
    agent: String,
    buffer: Mutex<Buffer>,
    /// Notifies readers of changes of the buffer.
    changed: watch::Sender<()>,
    /// Number of current readers.
    readers: watch::Sender<usize>,
    stop: CancellationToken,
}

impl BufferedStream {
    /// Stops the model, unless it already ended.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Returns what follows event `seen`.
    pub(crate) fn after(&self, seen: u64) -> Next {
        lock(&self.buffer).after(seen)
    }

    fn change(&self, change: impl FnOnce(&mut Buffer)) {
        change(&mut lock(&self.buffer));
        self.changed.send_replace(());
    }

    /// Waits until there was no reader for `resume_grace`.
    async fn abandoned(&self, context: &Context) {
        let mut readers = self.readers.subscribe();
        loop {
            let _ = readers.wait_for(|count| *count == 0).await.map(drop);
            let has_reader = async { readers.wait_for(|count| *count > 0).await.map(drop) };
            tokio::select! {
                () = context.app.sleep(context.settings.resume_grace) => return,
                _ = has_reader => {}
            }
        }
    }
}

/// What follows an event.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// An event.
    Event(Event),
    /// Nothing yet.
    Later,
    /// The end of the stream.
    Over,
    /// An event that was dropped.
    Gone,
    /// The given event does not exist.
    Unknown,
}

/// A buffered event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// A frame.
    Frame(Bytes),
    /// The sources, which are encoded for each reader, and the size of their frame.
    Sources(Arc<[ScoredChunk]>, usize),
}

impl Event {
    fn bytes(&self) -> usize {
        match self {
            Self::Frame(frame) => frame.len(),
            Self::Sources(_, bytes) => *bytes,
        }
    }
}

/// The last events of an answer, numbered from 1.
#[derive(Default)]
struct Buffer {
    events: VecDeque<Event>,
    bytes: usize,
    /// Number of dropped events.
    dropped: u64,
    is_over: bool,
}

impl Buffer {
    fn push(&mut self, event: Event) {
        self.bytes += event.bytes();
        self.events.push_back(event);
        while self.bytes > BYTES_MAX && self.events.len() > 1 {
            self.bytes -= self.events.pop_front().map_or(0, |event| event.bytes());
            self.dropped += 1;
        }
    }

    fn after(&self, seen: u64) -> Next {
        let Some(index) = seen.checked_sub(self.dropped) else { return Next::Gone };
        match usize::try_from(index).ok().filter(|index| *index <= self.events.len()) {
            None => Next::Unknown,
            Some(index) => match self.events.get(index) {
                Some(event) => Next::Event(event.clone()),
                None if self.is_over => Next::Over,
                None => Next::Later,
            },
        }
    }
}

/// Writes an answer into its buffer and removes the buffer after `resume_grace`.
async fn buffer_answer(slot: Slot, mut answer: AnswerStream, included: Included) {
    let (stream, context) = (&*slot.stream, &slot.context);
    let end = |reason| sse::frame(Some("end"), &StreamEnd { reason });
    let mut abandoned = pin!(stream.abandoned(context));
    let last = loop {
        let event = tokio::select! {
            biased;
            () = stream.stop.cancelled() => break Some(end(EndReason::Stopped)),
            () = context.cut.cancelled() => break Some(sse::error_event(sse::STOPPING)),
            () = &mut abandoned => {
                tracing::debug!("resumable answer had no reader; stopped the model");
                return;
            }
            event = answer.next() => event,
        };
        let Some(event) = event else {
            break Some(answer_events::missing_answer(&answer).unwrap_or_else(|| end(EndReason::Complete)));
        };
        let is_failed = event.is_err();
        if let Some(frame) = answer_events::of_event(&event, included) {
            let event = match event {
                Ok(AnswerEvent::Sources(passages)) => Event::Sources(passages.into(), frame.len()),
                Ok(
                    AnswerEvent::Text(_)
                    | AnswerEvent::Metadata(_)
                    | AnswerEvent::Reasoning(_)
                    | AnswerEvent::Found(_)
                    | AnswerEvent::FunctionCalls(_),
                )
                | Err(_) => Event::Frame(frame),
            };
            stream.change(|buffer| buffer.push(event));
        }
        if is_failed {
            break None;
        }
    };
    drop(answer);
    stream.change(|buffer| {
        if let Some(last) = last {
            buffer.push(Event::Frame(last));
        }
        buffer.is_over = true;
    });
    tokio::select! {
        () = context.app.sleep(context.settings.resume_grace) => {}
        () = context.cut.cancelled() => {}
    }
}

/// A reader of a buffered answer.
struct Reader {
    stream: Arc<BufferedStream>,
    changed: watch::Receiver<()>,
    seen: u64,
}

impl Reader {
    fn new(stream: Arc<BufferedStream>, seen: u64) -> Self {
        stream.readers.send_modify(|count| *count += 1);
        Self { changed: stream.changed.subscribe(), stream, seen }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.stream.readers.send_modify(|count| *count -= 1);
    }
}

/// The frames of a buffered answer after event `seen`, as they come.
fn frames(context: State, actor: Actor, stream: Arc<BufferedStream>, seen: u64) -> impl Stream<Item = Bytes> {
    let start = Some((Reader::new(stream, seen), context, actor));
    stream::unfold(start, |state| async move {
        let (mut reader, context, actor) = state?;
        loop {
            match reader.stream.after(reader.seen) {
                Next::Event(event) => {
                    reader.seen += 1;
                    let frame = match event {
                        Event::Frame(frame) => frame,
                        Event::Sources(passages, _) => match sources(&context, &actor, &passages).await {
                            Ok(frame) => frame,
                            Err(error) => {
                                tracing::warn!(error = %report(&error), "the sources of an answer could not be read");
                                return Some((sse::error_event("The sources cannot be read"), None));
                            }
                        },
                    };
                    let frame = [format!("id: {}\n", reader.seen).as_bytes(), &frame].concat().into();
                    return Some((frame, Some((reader, context, actor))));
                }
                Next::Gone => {
                    return Some((
                        sse::error_event("The answer was faster than the client; events were dropped"),
                        None,
                    ));
                }
                Next::Over | Next::Unknown => return None,
                Next::Later => drop(reader.changed.changed().await),
            }
        }
    })
}

/// Encodes the sources of an answer, with the texts that the actor can read now.
async fn sources(context: &State, actor: &Actor, passages: &[ScoredChunk]) -> Result<Bytes, Error> {
    let scope = scope::load(&context.app, actor).await?;
    let mut passages = passages.to_vec();
    let withheld = quotes::withhold(&context.app, &scope, passages.iter_mut().collect()).await?;
    Ok(answer_events::sources(&passages, &withheld))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_returns_the_next_numbered_event() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.after(0), Next::Later);
        let event = |text: &'static [u8]| Event::Frame(text.into());
        buffer.push(event(b"data: 1\n\n"));
        buffer.push(event(b"data: 2\n\n"));
        assert_eq!(buffer.after(0), Next::Event(event(b"data: 1\n\n")));
        assert_eq!(buffer.after(1), Next::Event(event(b"data: 2\n\n")));
        assert_eq!((buffer.after(2), buffer.after(3)), (Next::Later, Next::Unknown));
        buffer.is_over = true;
        assert_eq!((buffer.after(2), buffer.after(u64::MAX)), (Next::Over, Next::Unknown));
    }

    #[test]
    fn buffer_over_the_limit_drops_the_oldest_events() {
        let mut buffer = Buffer::default();
        let event = |bytes: usize| Event::Frame(vec![b'x'; bytes].into());
        (0..4).for_each(|_| buffer.push(event(BYTES_MAX / 3 + 1)));
        assert_eq!((buffer.after(0), buffer.after(1)), (Next::Gone, Next::Gone));
        assert!(matches!(buffer.after(2), Next::Event(_)) && buffer.after(4) == Next::Later);
        assert!(buffer.bytes <= BYTES_MAX);
        buffer.push(event(2 * BYTES_MAX));
        assert!(matches!(buffer.after(4), Next::Event(_)), "the latest event is never dropped");
    }
}
