//! Answers one request: the agent loop and the stream of its events.

use super::metering::Meter;
use super::recording::Transcript;
use super::registry::Agent;
use super::request::AgentRequest;
use super::{history, metering, prompt, tool};
use crate::error::Result;
use crate::limits::{self, AnswerSlot};
use crate::recorder::Recorder;
use crate::{App, conversations, scope, spans};
use docent_domain::access::{Chat, Grant};
use docent_domain::chat::{FinishReason, Message, ToolCall, ToolOutput};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::MessageId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatRequest};
use futures::{Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::{mpsc, oneshot};
use tracing::{Instrument, Span};

/// Events buffered for a slow client. When the buffer is full, the model's stream is not read either.
const BUFFER: usize = 32;
/// Maximum number of tool calls that are run for one model call; the others get an error message.
const MAX_CALLS: usize = 16;

/// An event of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerEvent {
    /// The next piece of text; never empty.
    Text(String),
    /// The passages that were found, in the order found and without duplicates. The last event.
    Sources(Vec<ScoredChunk>),
}

/// Token usage and completeness of a finished answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Tokens used by all model calls.
    pub tokens: TokenUsage,
    /// Whether the model's token limit or the iteration cap cut the answer short.
    pub is_truncated: bool,
}

impl Outcome {
    /// The outcome when the answer's task panicked after the last event.
    pub fn unknown() -> Self {
        Self { tokens: TokenUsage::default(), is_truncated: false }
    }
}

/// A streamed answer. Dropping it stops the model; the tokens used until then are still metered.
///
/// The stream ends after [`AnswerEvent::Sources`] or the first error.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct AnswerStream {
    first: Option<AnswerEvent>,
    rest: mpsc::Receiver<Result<AnswerEvent, Fault>>,
    is_over: bool,
    recorder: Arc<dyn Recorder>,
    outcome: oneshot::Receiver<Outcome>,
    message: Option<MessageId>,
}

impl AnswerStream {
    /// ID of the message that the answer is recorded as, if it belongs to a conversation.
    pub fn message(&self) -> Option<MessageId> {
        self.message
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
        let event = match self.first.take() {
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

fn task_panicked() -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "the answer's task panicked")
}

/// Sends a request to an agent. Returns after the first event, so that an earlier fault is an error here and not a
/// broken stream.
///
/// The question and its answer, even an incomplete one, are recorded in the request's conversation.
///
/// # Errors
/// [`Error::LimitReached`](crate::Error::LimitReached), [`Error::NotFound`](crate::Error::NotFound) for the conversation
/// of another account and for a selected collection outside the actor's scope, or a fault of the model or the database.
pub async fn ask(
    app: &Arc<App>,
    grant: Grant<Chat>,
    agent: Arc<Agent>,
    request: AgentRequest,
) -> Result<AnswerStream> {
    if request.selection.collections.is_some() {
        // Tools would report an unknown collection to the model only.
        scope::select(&scope::of(app, &request.actor).await?, &request.selection)?;
    }
    let slot = limits::start_answer(app, &grant).await?;
    if let Some(conversation) = request.conversation {
        let selection = (&request.selection).into();
        conversations::open(app, &grant, conversation, request.question(), selection).await?;
    }
    let messages = history::with_history(app, &request).await?;
    let request = AgentRequest { actor: request.actor.via_agent(&grant), ..request };
    let (events, mut rest) = mpsc::channel(BUFFER);
    let (ended, outcome) = oneshot::channel();
    let span = spans::invoke_agent(&agent.name, app.model.model(), request.conversation);
    let message = request.conversation.map(|_| app.new_id(MessageId::generate));
    let app = Arc::clone(app);
    let task = AnswerTask { app, agent, request, message, messages, events, ended, span: span.clone(), slot };
    // Log lines get their fields from the outer span.
    let (tasks, recorder) = (task.app.process.tasks.clone(), Arc::clone(&task.app.recorder));
    tasks.spawn(task.run().instrument(span).in_current_span());
    let first = rest.recv().await.unwrap_or_else(|| Err(task_panicked()))?;
    Ok(AnswerStream { first: Some(first), rest, is_over: false, recorder, outcome, message })
}

/// The client has disconnected.
struct Disconnected;

/// The reason why an answer ended early.
enum Stop {
    Disconnected,
    Fault(Fault),
}

impl From<Disconnected> for Stop {
    fn from(Disconnected: Disconnected) -> Self {
        Self::Disconnected
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The task that generates one answer.
struct AnswerTask {
    app: Arc<App>,
    agent: Arc<Agent>,
    request: AgentRequest,
    /// ID of the answer in its conversation.
    message: Option<MessageId>,
    /// The messages of the first model call, without the agent's system prompt.
    messages: Vec<Message>,
    events: mpsc::Sender<Result<AnswerEvent, Fault>>,
    ended: oneshot::Sender<Outcome>,
    span: Span,
    /// Counts the answer until its tokens are recorded.
    slot: AnswerSlot,
}

impl AnswerTask {
    async fn run(self) {
        let mut meter = Meter::default();
        let mut transcript = Transcript::begin(self.app.now());
        let result = self.answer(&mut meter, &mut transcript).await;
        let is_truncated = matches!(result, Ok(true));
        transcript.is_complete = result.is_ok();
        let last = match result {
            Ok(_) => Some(Ok(AnswerEvent::Sources(transcript.sources.clone()))),
            Err(Stop::Disconnected) => {
                tracing::debug!("the client disconnected; the model was stopped");
                None
            }
            Err(Stop::Fault(fault)) => {
                tracing::warn!(fault = %fault.report(), "the answer was interrupted");
                spans::fail(&self.span, fault.kind().code());
                Some(Err(fault))
            }
        };
        let Self { app, agent, request, message, events, ended, span, slot, .. } = self;
        let tokens = meter.total().await;
        // Recorded before the last event, so that a follow-up question finds this answer in the history.
        transcript.record(&app, &request, message, agent.name.clone(), tokens).await;
        // Sending fails only if the client has disconnected.
        if let Some(last) = last {
            let _ = events.send(last).await;
        }
        drop(events);
        let _ = ended.send(Outcome { tokens, is_truncated });
        metering::record(&app, &request, agent.name.clone(), tokens, &span).await;
        drop(slot);
    }

    /// Runs the agent loop; returns whether the answer was truncated.
    async fn answer(&self, meter: &mut Meter, transcript: &mut Transcript) -> Result<bool, Stop> {
        let prompt = self.agent.system_prompt.clone().map(Message::System);
        // Only appended to, so that the back end's prompt cache applies.
        let mut conversation: Vec<Message> =
            prompt.into_iter().chain(self.messages.iter().cloned()).collect();
        for _ in 0..self.agent.max_iterations {
            let mut output = ModelOutput::default();
            let result = self.call_model(&conversation, &mut output).await;
            transcript.text.push_str(&output.text);
            meter.add(output.usage, &conversation, &output.text, &output.calls);
            result?;
            if output.calls.is_empty() {
                transcript.is_declined = output.is_declined;
                return Ok(output.is_truncated);
            }
            let calls = output.calls.clone();
            conversation.push(Message::Assistant { content: output.text, tool_calls: output.calls });
            let outputs = self.run_tools(&calls).await?;
            let mut found = Vec::new();
            for output in &outputs {
                found.extend(transcript.add_output(output));
            }
            // Without a system prompt the model receives the tool outputs only.
            let provenance = self.agent.system_prompt.as_ref().and_then(|_| prompt::provenance(&found));
            conversation.extend(outputs.into_iter().map(Message::Tool).chain(provenance));
        }
        tracing::warn!(agent = %self.agent.name, "the iteration cap was reached");
        Ok(true)
    }

    /// Calls the model once and forwards its text to the client.
    async fn call_model(&self, messages: &[Message], output: &mut ModelOutput) -> Result<(), Stop> {
        let tools = self.agent.tools.iter().map(|tool| tool.spec()).collect();
        let request = ChatRequest { messages: messages.to_vec(), tools };
        let mut stream = self.until_disconnected(self.app.model.stream(request)).await??;
        while let Some(event) = self.until_disconnected(stream.next()).await? {
            match event? {
                ChatEvent::Text(text) => {
                    output.text.push_str(&text);
                    self.send(AnswerEvent::Text(text)).await?;
                }
                ChatEvent::ToolCall(call) => output.calls.push(call),
                ChatEvent::Finished { reason, usage } => {
                    output.usage = usage;
                    output.is_declined = reason == FinishReason::Declined;
                    if reason == FinishReason::Length {
                        tracing::warn!("the model stopped at its token limit");
                        output.is_truncated = true;
                    }
                    return Ok(());
                }
            }
        }
        Err(Fault::new(
            Component::ChatModel,
            FaultKind::InvalidResponse,
            "the stream ended without a finish reason",
        )
        .into())
    }

    async fn run_tools(&self, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, Disconnected> {
        let run = |(n, call)| async move {
            if n < MAX_CALLS {
                tool::run(&self.agent.tools, &self.app, &self.request, call).await
            } else {
                ToolOutput {
                    call_id: call.id.clone(),
                    content: format!("Error: at most {MAX_CALLS} tools can be used at once."),
                    passages: Vec::new(),
                    best_score: None,
                }
            }
        };
        self.until_disconnected(futures::future::join_all(calls.iter().enumerate().map(run))).await
    }

    async fn send(&self, event: AnswerEvent) -> Result<(), Disconnected> {
        self.events.send(Ok(event)).await.map_err(|_| Disconnected)
    }

    /// Waits for `work`, or until the client disconnects.
    async fn until_disconnected<T>(&self, work: impl Future<Output = T>) -> Result<T, Disconnected> {
        tokio::select! {
            done = work => Ok(done),
            () = self.events.closed() => Err(Disconnected),
        }
    }
}

/// The output of one model call.
#[derive(Default)]
struct ModelOutput {
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<TokenUsage>,
    is_truncated: bool,
    is_declined: bool,
}
