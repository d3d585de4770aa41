//! The events of a streamed response.

use bytes::Bytes;
use docent_http::sse;
use serde_json::Value;
use std::mem;
use utoipa::ToSchema;

/// One event of a streamed response.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents the frames that `Events` writes")]
pub(crate) struct ResponseStreamEvent {
    /// Name of the event, also in the line `event: `, such as `response.output_text.delta`. The last event is `response.completed`,
    /// `response.incomplete` or `response.failed`, with the whole response.
    r#type: String,
    /// Number of the event, starting at 0.
    sequence_number: u64,
    /// Position of the item in the output, of events about an item.
    output_index: Option<u64>,
    /// ID of the item, of events about an item in progress.
    item_id: Option<String>,
}

/// Events that were not sent yet.
#[derive(Default)]
pub(super) struct Events {
    is_streamed: bool,
    frames: Vec<Bytes>,
    /// Number of the next event.
    next: u64,
}

impl Events {
    pub(super) fn new(is_streamed: bool) -> Self {
        Self { is_streamed, ..Self::default() }
    }

    /// Whether there is a reader of the events.
    pub(super) const fn is_streamed(&self) -> bool {
        self.is_streamed
    }

    /// Adds an event with these fields.
    pub(super) fn push(&mut self, name: &'static str, mut fields: Value) {
        if !self.is_streamed {
            return;
        }
        if let Some(fields) = fields.as_object_mut() {
            fields.insert("type".to_owned(), name.into());
            fields.insert("sequence_number".to_owned(), self.next.into());
        }
        self.next += 1;
        self.frames.push(sse::frame(Some(name), &fields));
    }

    /// Removes and returns the events.
    pub(super) fn take(&mut self) -> Vec<Bytes> {
        mem::take(&mut self.frames)
    }
}
