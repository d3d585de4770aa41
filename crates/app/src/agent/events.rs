//! The events of an answer.

use crate::recorder::Recorder;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::MessageId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;
use futures::Stream;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::{mpsc, oneshot};

/// An event of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerEvent {
    /// The next piece of text; never empty.
    Text(String),
    /// How the answer is made.
    Metadata(AnswerMetadata),
    /// The passages that were found, in the order found and without duplicates. The last event.
    Sources(Vec<ScoredChunk>),
}

/// How an answer is made, beside its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerMetadata {
    /// The oldest messages of the client exceed the token budget, and the model does not receive them.
    HistoryShortened {
        /// Number of messages.
        left_out: usize,
    },
    /// The model searches the documents.
    Searched {
        /// The query, cut if it is long.
        query: String,
    },
    /// Citations of passages that were not found were removed from the text.
    CitationsRemoved {
        /// Number of citations.
        count: u64,
    },
}

impl From<AnswerMetadata> for AnswerEvent {
    fn from(metadata: AnswerMetadata) -> Self {
        Self::Metadata(metadata)
    }
}

/// Token usage and end of a finished answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Tokens used by all model calls.
    pub tokens: TokenUsage,
    /// Whether the model's token limit or the iteration cap cut the answer short.
    pub is_truncated: bool,
    /// Whether the model declined to answer because the documents do not contain the answer.
    pub is_declined: bool,
}

impl Outcome {
    /// The outcome when the answer's task panicked after the last event.
    pub fn unknown() -> Self {
        Self { tokens: TokenUsage::default(), is_truncated: false, is_declined: false }
    }
}

/// A streamed answer. Dropping it stops the model; the tokens used until then are still metered.
///
/// The stream ends after [`AnswerEvent::Sources`] or the first error.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct AnswerStream {
    /// Metadata before the first text, and the event after it.
    pub(super) first: VecDeque<AnswerEvent>,
    pub(super) rest: mpsc::Receiver<Result<AnswerEvent, Fault>>,
    pub(super) is_over: bool,
    pub(super) left_out: usize,
    pub(super) recorder: Arc<dyn Recorder>,
    pub(super) outcome: oneshot::Receiver<Outcome>,
    pub(super) message: Option<MessageId>,
}

impl AnswerStream {
    /// ID of the message that the answer is recorded as, if it belongs to a conversation.
    pub const fn message(&self) -> Option<MessageId> {
        self.message
    }

    /// Number of the client's messages that the model did not receive, because they exceed the token budget.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// Waits for the outcome after the end of the stream; none if the answer's task panicked.
    pub async fn outcome(self) -> Option<Outcome> {
        self.outcome.await.ok()
    }
}

impl Stream for AnswerStream {
    type Item = Result<AnswerEvent, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let event = match self.first.pop_front() {
            Some(event) => Ok(event),
            // The task always sends a last event, unless it panics.
            None => ready!(self.rest.poll_recv(context)).unwrap_or_else(|| Err(task_panicked())),
        };
        if let Err(fault) = &event {
            self.recorder.fault(fault.component(), fault.kind());
        }
        self.is_over = matches!(event, Err(_) | Ok(AnswerEvent::Sources(_)));
        Poll::Ready(Some(event))
    }
}

pub(super) fn task_panicked() -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "the answer's task panicked")
}
