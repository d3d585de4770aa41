//! The way in for the fuzz targets of `tests/fuzz`; only their builds have it.

use super::{
    answer::{AnswerDecoder, AnswerError, Progress},
    embeddings,
};
use docent_ports::{
    chat_model::ChatEvent,
    error::{Component, Fault},
};

/// The events of an answer to a conversation of `turn` messages that comes in these pieces, and what
/// ended it early.
pub fn chat_events<'b>(
    pieces: impl IntoIterator<Item = &'b [u8]>,
    turn: usize,
) -> (Vec<ChatEvent>, Option<Fault>) {
    let mut decoder = AnswerDecoder::new(turn);
    let read = pieces
        .into_iter()
        // The reader takes no more bytes once the back end has said that nothing follows.
        .try_for_each(|piece| if decoder.progress() < Progress::Done { decoder.push(piece) } else { Ok(()) })
        .and_then(|()| if decoder.progress() < Progress::Done { decoder.end() } else { decoder.finish() });
    let events = std::iter::from_fn(|| decoder.next_event()).collect();
    let fault = read.err().map(|error| match error {
        AnswerError::Fault(fault) => fault,
        AnswerError::Told(told) => told.into_fault(Component::ChatModel, None, std::iter::empty()),
    });
    (events, fault)
}

/// The vectors in an answer of an embeddings back end to `count` texts.
///
/// # Errors
/// When it is of no use.
pub fn vectors(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, Fault> {
    embeddings::vectors::read(body, count).map(|answer| answer.vectors)
}
