//! Answers that a client may come back to.
//!
//! Each is followed by a task, whether somebody reads it or not, into a buffer of numbered events; readers take
//! them from there. The buffer is this process's alone, bounded in bytes, and gone a while after its end. When
//! nobody has read for that long, the answer is stopped.

use crate::answer_events;
use actix_web::{HttpResponse, http::StatusCode, web::Data};
use bytes::Bytes;
use docent_app::agent::Answer;
use docent_domain::id::{StreamId, UserId};
use docent_http::{
    context::{Context, State},
    error::ApiError,
    sse,
};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use std::{
    collections::{HashMap, VecDeque},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use utoipa::ToSchema;

/// Bytes of events that are kept of an answer; the oldest are dropped beyond.
const BYTES_MAX: usize = 512 * 1024;
/// Answers that are kept at once.
const STREAMS_MAX: usize = 128;
/// Of those, one account's.
const STREAMS_OF_ACCOUNT: usize = 8;

/// The answers that are kept.
#[derive(Default)]
pub(crate) struct Streams(Mutex<HashMap<StreamId, Arc<Kept>>>);

impl Streams {
    /// An account's answer of this agent.
    pub(crate) fn find(&self, id: StreamId, owner: UserId, agent: &str) -> Result<Arc<Kept>, ApiError> {
        let found = lock(&self.0).get(&id).map(Arc::clone);
        found.filter(|kept| kept.owner == owner && kept.agent == agent).ok_or_else(gone)
    }

    /// Makes room for one more, among those that `counts`, by forgetting the earliest that is over.
    fn make_room(
        kept: &mut HashMap<StreamId, Arc<Kept>>,
        most: usize,
        counts: impl Fn(&Kept) -> bool,
    ) -> bool {
        if kept.values().filter(|stream| counts(stream)).count() < most {
            return true;
        }
        let over = kept.iter().filter(|(_, stream)| counts(stream) && lock(&stream.buffer).is_over);
        let earliest = over.map(|(id, _)| *id).min();
        earliest.is_some_and(|id| kept.remove(&id).is_some())
    }
}

/// 404: never was, is another account's, or is no longer kept.
pub(crate) fn gone() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "Stream not found")
}

/// Takes a place for an answer that is about to be asked for.
pub(crate) fn reserve(
    context: &State,
    streams: Data<Streams>,
    owner: UserId,
    agent: &str,
) -> Result<Place, ApiError> {
    let mut kept = lock(&streams.0);
    if !Streams::make_room(&mut kept, STREAMS_OF_ACCOUNT, |stream| stream.owner == owner) {
        return Err(ApiError::too_many(context.settings.resume_grace));
    }
    if !Streams::make_room(&mut kept, STREAMS_MAX, |_| true) {
        let detail = "Too many resumable answers are under way";
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, detail));
    }
    let stream = Arc::new(Kept {
        id: context.app.new_id(StreamId::generate),
        owner,
        agent: agent.to_owned(),
        buffer: Mutex::default(),
        changed: watch::Sender::new(()),
        readers: watch::Sender::new(0),
        stop: CancellationToken::new(),
    });
    kept.insert(stream.id, Arc::clone(&stream));
    drop(kept);
    Ok(Place { context: context.clone(), streams, stream })
}

/// Streams an answer that is kept in this place.
pub(crate) fn reply(context: State, place: Place, answer: Answer, include_sources: bool) -> HttpResponse {
    let stream = Arc::clone(&place.stream);
    // Counted as a reader before anybody looks for one.
    let response = read(context.clone(), stream, 0);
    context.runtime.spawn(follow(place, answer, include_sources).in_current_span());
    response
}

/// Streams what is kept and what is still to come, from behind an event on.
pub(crate) fn read(context: State, stream: Arc<Kept>, seen: u64) -> HttpResponse {
    let id = stream.id.to_string();
    sse::response().insert_header(("X-Stream-Id", id)).streaming(sse::stream(
        context,
        frames(stream, seen),
        None,
    ))
}

/// A place among the answers that are kept; forgotten with this value.
pub(crate) struct Place {
    context: State,
    streams: Data<Streams>,
    stream: Arc<Kept>,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.streams.0).remove(&self.stream.id);
        self.stream.change(|buffer| buffer.is_over = true);
    }
}

/// How an answer ended that can be resumed.
#[derive(Serialize, ToSchema)]
pub(crate) struct StreamEnd {
    /// Why.
    reason: EndReason,
}

/// Why an answer ended.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum EndReason {
    /// It is whole.
    Complete,
    /// It was stopped.
    Stopped,
}

/// An answer that is kept.
pub(crate) struct Kept {
    id: StreamId,
    owner: UserId,
    agent: String,
    buffer: Mutex<Buffer>,
    /// Told of each change of the buffer.
    changed: watch::Sender<()>,
    /// How many read at the moment.
    readers: watch::Sender<usize>,
    stop: CancellationToken,
}

impl Kept {
    /// Stops the model, if it has not ended yet.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// What comes behind an event.
    pub(crate) fn after(&self, seen: u64) -> Next {
        lock(&self.buffer).after(seen)
    }

    fn change(&self, change: impl FnOnce(&mut Buffer)) {
        change(&mut lock(&self.buffer));
        self.changed.send_replace(());
    }

    /// Waits until nobody has read for the time that a client has to come back.
    async fn abandoned(&self, context: &Context) {
        let mut readers = self.readers.subscribe();
        loop {
            let _ = readers.wait_for(|count| *count == 0).await.map(drop);
            let somebody = async { readers.wait_for(|count| *count > 0).await.map(drop) };
            tokio::select! {
                () = context.app.sleep(context.settings.resume_grace) => return,
                _ = somebody => {}
            }
        }
    }
}

/// What comes behind an event.
#[derive(Debug, PartialEq)]
pub(crate) enum Next {
    /// This one.
    Event(Bytes),
    /// Nothing yet.
    Later,
    /// Nothing any more.
    Over,
    /// One that is no longer kept.
    Gone,
    /// There is no such event yet.
    Unknown,
}

/// The last events of an answer, numbered from 1 on.
#[derive(Default)]
struct Buffer {
    events: VecDeque<Bytes>,
    bytes: usize,
    /// Events that were dropped.
    dropped: u64,
    is_over: bool,
}

impl Buffer {
    fn push(&mut self, event: &[u8]) {
        let number = self.dropped + self.events.len() as u64 + 1;
        let event: Bytes = [format!("id: {number}\n").as_bytes(), event].concat().into();
        self.bytes += event.len();
        self.events.push_back(event);
        while self.bytes > BYTES_MAX && self.events.len() > 1 {
            self.bytes -= self.events.pop_front().map_or(0, |event| event.len());
            self.dropped += 1;
        }
    }

    fn after(&self, seen: u64) -> Next {
        let Some(place) = seen.checked_sub(self.dropped) else { return Next::Gone };
        match usize::try_from(place).ok().filter(|place| *place <= self.events.len()) {
            None => Next::Unknown,
            Some(place) => match self.events.get(place) {
                Some(event) => Next::Event(event.clone()),
                None if self.is_over => Next::Over,
                None => Next::Later,
            },
        }
    }
}

/// Writes an answer into its buffer, and keeps that for a while.
async fn follow(place: Place, mut answer: Answer, include_sources: bool) {
    let (stream, context) = (&*place.stream, &place.context);
    let end = |reason| sse::frame(Some("end"), &StreamEnd { reason });
    let mut abandoned = pin!(stream.abandoned(context));
    let last = loop {
        let event = tokio::select! {
            biased;
            () = stream.stop.cancelled() => break Some(end(EndReason::Stopped)),
            () = context.cut.cancelled() => break Some(sse::broken_off(sse::STOPPING)),
            () = &mut abandoned => {
                tracing::debug!("nobody came back for the answer; the model was stopped");
                return;
            }
            event = answer.next() => event,
        };
        let Some(event) = event else { break Some(end(EndReason::Complete)) };
        if let Some(event) = answer_events::of_event(&event, include_sources) {
            stream.change(|buffer| buffer.push(&event));
        }
        if event.is_err() {
            break None;
        }
    };
    drop(answer);
    stream.change(|buffer| {
        if let Some(last) = last {
            buffer.push(&last);
        }
        buffer.is_over = true;
    });
    tokio::select! {
        () = context.app.sleep(context.settings.resume_grace) => {}
        () = context.cut.cancelled() => {}
    }
}

/// Somebody who reads.
struct Reader {
    stream: Arc<Kept>,
    changed: watch::Receiver<()>,
    seen: u64,
}

impl Reader {
    fn new(stream: Arc<Kept>, seen: u64) -> Self {
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
fn frames(stream: Arc<Kept>, seen: u64) -> impl Stream<Item = Bytes> {
    stream::unfold(Some(Reader::new(stream, seen)), |reader| async move {
        let mut reader = reader?;
        loop {
            match reader.stream.after(reader.seen) {
                Next::Event(event) => {
                    reader.seen += 1;
                    return Some((event, Some(reader)));
                }
                Next::Gone => return Some((sse::broken_off("The answer went on too fast to be kept"), None)),
                Next::Over | Next::Unknown => return None,
                Next::Later => drop(reader.changed.changed().await),
            }
        }
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_numbered_and_found_by_the_one_before() {
        let mut buffer = Buffer::default();
        assert_eq!(buffer.after(0), Next::Later);
        buffer.push(b"data: 1\n\n");
        buffer.push(b"data: 2\n\n");
        assert_eq!(buffer.after(0), Next::Event("id: 1\ndata: 1\n\n".into()));
        assert_eq!(buffer.after(1), Next::Event("id: 2\ndata: 2\n\n".into()));
        assert_eq!((buffer.after(2), buffer.after(3)), (Next::Later, Next::Unknown));
        buffer.is_over = true;
        assert_eq!((buffer.after(2), buffer.after(u64::MAX)), (Next::Over, Next::Unknown));
    }

    #[test]
    fn the_oldest_events_are_dropped_when_there_are_too_many_bytes() {
        let mut buffer = Buffer::default();
        let event = vec![b'x'; BYTES_MAX / 3];
        (0..4).for_each(|_| buffer.push(&event));
        assert_eq!((buffer.after(0), buffer.after(1)), (Next::Gone, Next::Gone));
        assert!(matches!(buffer.after(2), Next::Event(_)) && buffer.after(4) == Next::Later);
        assert!(buffer.bytes <= BYTES_MAX);
        buffer.push(&vec![b'x'; 2 * BYTES_MAX]);
        assert!(matches!(buffer.after(4), Next::Event(_)), "the latest is always there");
    }
}
