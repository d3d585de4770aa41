//! The events of an answer.

use crate::recorder::Recorder;
use docent_domain::chat::ToolCall;
use docent_domain::fallback::FallbackCause;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::MessageId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;
use futures::future::{BoxFuture, poll_fn};
use futures::{FutureExt, Stream};
use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

/// An event of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerEvent {
    /// The next piece of text; never empty.
    Text(String),
    /// The next piece of what the model wrote for itself, if the request includes it; never empty.
    Reasoning(String),
    /// How the answer is made.
    Metadata(AnswerMetadata),
    /// What a search found, if the request includes it. Follows all [`AnswerMetadata::Searched`] of searches that were made at once,
    /// in their order.
    Found(FoundPassages),
    /// The model calls functions of the client; never empty. Nothing but the sources follows.
    FunctionCalls(Vec<ToolCall>),
    /// The passages that were found, in the order found and without duplicates. The last event.
    Sources(Vec<ScoredChunk>),
}

/// The passages that one search found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPassages {
    /// The query.
    pub query: String,
    /// The passages, best first, with scores from 0 to 1.
    pub passages: Vec<(f64, ScoredChunk)>,
    /// Whether the search failed.
    pub is_failed: bool,
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
    /// The answer asks which of several things is meant.
    Choices {
        /// Texts of which the user can send one as the next message.
        choices: Vec<String>,
    },
    /// Citations of passages that were not found were removed from the text.
    CitationsRemoved {
        /// Number of citations.
        count: u64,
    },
    /// The answer is from the model alone: it did not search the documents.
    NotSearched,
    /// The answer quotes documents, since the model could not answer. What the stream had before it, the model made.
    Fallback {
        /// Why the model could not answer.
        cause: FallbackCause,
    },
    /// The answer is incomplete, or there is none.
    Incomplete {
        /// Why.
        reason: EndReason,
    },
}

/// Why the model's answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// It is complete.
    Complete,
    /// The model reached its token limit.
    Length,
    /// A content filter of the model's server cut it.
    ContentFilter,
    /// The model still called tools at the iteration cap.
    Iterations,
    /// The model wrote only reasoning.
    ReasoningOnly,
    /// The model wrote nothing.
    Empty,
    /// A component failed.
    Failed,
}

impl EndReason {
    /// A sentence about an answer without text, for clients.
    const fn sentence(self) -> &'static str {
        match self {
            Self::Complete | Self::Empty | Self::Failed => "The chat model returned no answer",
            Self::Length => "The chat model returned no answer: it reached its token limit",
            Self::ContentFilter => "The chat model returned no answer: its content filter stopped it",
            Self::Iterations => "The chat model returned no answer: it searched until the limit of its calls",
            Self::ReasoningOnly => "The chat model returned no answer, only its reasoning",
        }
    }
}

impl From<AnswerMetadata> for AnswerEvent {
    fn from(metadata: AnswerMetadata) -> Self {
        Self::Metadata(metadata)
    }
}

/// Token usage and end of a finished answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerOutcome {
    /// Tokens used by all model calls.
    pub tokens: TokenUsage,
    /// Why the answer ended.
    pub reason: EndReason,
    /// Whether the answer has text besides white space.
    pub has_text: bool,
    /// Whether the model declined to answer because the documents do not contain the answer.
    pub is_declined: bool,
}

impl AnswerOutcome {
    /// The outcome when the answer's task panicked after the last event.
    pub fn unknown() -> Self {
        let (tokens, reason) = (TokenUsage::default(), EndReason::Complete);
        Self { tokens, reason, has_text: true, is_declined: false }
    }

    /// Why there is no text, as a sentence for clients. `None` if there is text.
    pub fn missing_answer(&self) -> Option<&'static str> {
        (!self.has_text).then(|| self.reason.sentence())
    }
}

/// Events that were generated and not sent yet.
#[derive(Clone, Default)]
pub(super) struct EventQueue(Arc<Mutex<VecDeque<AnswerEvent>>>);

impl EventQueue {
    pub(super) fn push(&self, event: AnswerEvent) {
        self.lock().push_back(event);
    }

    /// Removes the events that were not sent yet.
    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    fn pop(&self) -> Option<AnswerEvent> {
        self.lock().pop_front()
    }

    /// Whether there is an event of the answer itself.
    fn has_content(&self) -> bool {
        self.lock().iter().any(|event| !matches!(event, AnswerEvent::Metadata(_) | AnswerEvent::Found(_)))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<AnswerEvent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end of an answer.
pub(super) struct AnswerEnd {
    pub(super) last: Result<AnswerEvent, Fault>,
    pub(super) outcome: AnswerOutcome,
}

/// A streamed answer, which is generated as it is read: a slow client slows the model down. Dropping it stops the model; the
/// tokens used until then are still metered.
///
/// The stream ends after [`AnswerEvent::Sources`] or the first error.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct AnswerStream {
    /// None after its end.
    generation: Option<BoxFuture<'static, AnswerEnd>>,
    events: EventQueue,
    last: Option<Result<AnswerEvent, Fault>>,
    outcome: Option<AnswerOutcome>,
    recorder: Arc<dyn Recorder>,
    message: Option<MessageId>,
    left_out: usize,
}

impl AnswerStream {
    pub(super) fn new(
        generation: impl Future<Output = AnswerEnd> + Send + 'static,
        events: EventQueue,
        recorder: Arc<dyn Recorder>,
        message: Option<MessageId>,
        left_out: usize,
    ) -> Self {
        let panicked = |_| AnswerEnd { last: Err(answer_panicked()), outcome: AnswerOutcome::unknown() };
        let generation =
            AssertUnwindSafe(generation).catch_unwind().map(move |end| end.unwrap_or_else(panicked));
        let generation = Some(generation.boxed());
        Self { generation, events, last: None, outcome: None, recorder, message, left_out }
    }

    /// Waits for the first text or reasoning, or the end of an answer without any.
    ///
    /// # Errors
    /// A fault before that.
    pub(super) async fn begin(mut self) -> Result<Self, Fault> {
        poll_fn(|context| {
            if self.events.has_content() {
                return Poll::Ready(());
            }
            let ended = self.poll_end(context);
            if self.events.has_content() { Poll::Ready(()) } else { ended }
        })
        .await;
        match self.last {
            Some(Err(fault)) if !self.events.has_content() => Err(fault),
            last => Ok(Self { last, ..self }),
        }
    }

    /// ID of the message that the answer is recorded as, if it belongs to a conversation.
    pub const fn message(&self) -> Option<MessageId> {
        self.message
    }

    /// Number of the client's messages that the model did not receive, because they exceed the token budget.
    pub const fn left_out(&self) -> usize {
        self.left_out
    }

    /// The outcome, after the end of the stream.
    pub const fn outcome(&self) -> Option<AnswerOutcome> {
        self.outcome
    }

    /// Generates until the end, or as long as the model has output.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Some(generation) = &mut self.generation {
            let AnswerEnd { last, outcome } = ready!(generation.as_mut().poll(context));
            self.generation = None;
            (self.last, self.outcome) = (Some(last), Some(outcome));
        }
        Poll::Ready(())
    }
}

impl Stream for AnswerStream {
    type Item = Result<AnswerEvent, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(event) = self.events.pop() {
            return Poll::Ready(Some(Ok(event)));
        }
        let ended = self.poll_end(context);
        if let Some(event) = self.events.pop() {
            return Poll::Ready(Some(Ok(event)));
        }
        ready!(ended);
        let last = self.last.take();
        if let Some(Err(fault)) = &last {
            self.recorder.fault(fault.component(), fault.kind());
        }
        Poll::Ready(last)
    }
}

pub(super) fn answer_panicked() -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "the generation of the answer panicked")
}
