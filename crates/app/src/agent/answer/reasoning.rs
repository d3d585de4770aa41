//! What the model writes for itself, for clients that ask for it.

use super::Generation;
use crate::agent::events::AnswerEvent;
use std::mem;

/// Maximum size of the reasoning of an answer in bytes. Some models do not end it, and the events of a resumable answer must
/// fit its buffer.
const SIZE_MAX: usize = 32 * 1024;

impl Generation {
    /// Sends a piece of reasoning to a client that asked for it, up to the maximum size. A blank line separates the
    /// reasoning of several model calls.
    pub(super) fn send_reasoning(&mut self, text: &str) {
        let is_first = !mem::replace(&mut self.progress.output.has_reasoning, true);
        if !self.asked.request.includes_reasoning {
            return;
        }
        let separator = if is_first && self.reasoning > 0 { "\n\n" } else { "" };
        let mut text = format!("{separator}{text}");
        text.truncate(text.floor_char_boundary(SIZE_MAX - self.reasoning));
        if !text.is_empty() {
            self.reasoning += text.len();
            self.events.push(AnswerEvent::Reasoning(text));
        }
    }
}
