//! Entry points for the fuzz targets in `tests/fuzz`; compiled in fuzzing builds only.

use super::completion::{CompletionDecoder, Progress};
use super::dialect::OutputReader;
use super::embeddings;
use super::fault::CallError;
use docent_domain::fault::{Component, Fault};
use docent_ports::chat_model::ChatEvent;

/// Decodes a response to a conversation of `turn` messages that arrives in `pieces`; returns its events and the
/// fault that ended it early, if any.
pub fn chat_events<'b>(
    pieces: impl IntoIterator<Item = &'b [u8]>,
    turn: usize,
) -> (Vec<ChatEvent>, Option<Fault>) {
    let mut decoder = CompletionDecoder::new(turn, OutputReader::new(["search_docs".to_owned()], false));
    let read = pieces
        .into_iter()
        // The reader stops reading after `[DONE]`.
        .try_for_each(|piece| if decoder.progress() < Progress::Done { decoder.push(piece) } else { Ok(()) })
        .and_then(|()| if decoder.progress() < Progress::Done { decoder.end() } else { decoder.finish() });
    let events = std::iter::from_fn(|| decoder.next_event()).collect();
    let fault = read.err().map(|error| match error {
        CallError::Fault(fault) => fault,
        CallError::Backend(error) => error.into_fault(Component::ChatModel, None, std::iter::empty()),
    });
    (events, fault)
}

/// Reads the vectors of an embeddings response to `count` texts.
///
/// # Errors
/// If the response is invalid.
pub fn vectors(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, Fault> {
    embeddings::vectors::read(body, count).map(|response| response.vectors)
}
