//! Answers one request: the agent loop and the stream of its events.

use super::citations::CitationFilter;
use super::events::{AnswerEvent, AnswerMetadata, AnswerStream, Outcome, task_panicked};
use super::history::Input;
use super::metering::Meter;
use super::recording::Transcript;
use super::registry::Agent;
use super::request::AgentRequest;
use super::{history, metering, prompt, search_docs, tool};
use crate::error::Result;
use crate::limits::{self, AnswerSlot};
use crate::{App, conversations, scope, spans};
use docent_domain::access::{Chat, Grant};
use docent_domain::chat::{FinishReason, Message, ToolCall, ToolOutput};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::MessageId;
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatRequest};
use futures::StreamExt;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tracing::{Instrument, Span};

/// Events buffered for a slow client. When the buffer is full, the model's stream is not read either.
const BUFFER: usize = 32;
/// Maximum number of tool calls that are run for one model call; the others get an error message.
const MAX_CALLS: usize = 16;

/// Sends a request to an agent. Returns after the first text or the end of an answer without text, so that an earlier fault
/// is an error here and not a broken stream.
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
        if let Some(answer) = request.replaces {
            conversations::check_replaced(app, &grant, conversation, answer).await?;
        }
        conversations::open(app, &grant, conversation, request.question(), selection).await?;
    }
    let Input { messages, left_out } = history::input(app, &request).await?;
    let request = AgentRequest { actor: request.actor.via_agent(&grant), ..request };
    let (events, mut rest) = mpsc::channel(BUFFER);
    let (ended, outcome) = oneshot::channel();
    let span = spans::invoke_agent(&agent.name, app.model.model(), request.conversation);
    let message = request.conversation.map(|_| app.new_id(MessageId::generate));
    let app = Arc::clone(app);
    let task = AnswerTask {
        app,
        agent,
        request,
        message,
        messages,
        left_out,
        events,
        ended,
        span: span.clone(),
        slot,
    };
    // Log lines get their fields from the outer span.
    let (tasks, recorder) = (task.app.process.tasks.clone(), Arc::clone(&task.app.recorder));
    tasks.spawn(task.run().instrument(span).in_current_span());
    let mut first = VecDeque::new();
    while first.back().is_none_or(|event| matches!(event, AnswerEvent::Metadata(_))) {
        first.push_back(rest.recv().await.unwrap_or_else(|| Err(task_panicked()))?);
    }
    Ok(AnswerStream { first, rest, is_over: false, left_out, recorder, outcome, message })
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
    /// Number of the client's messages that the model does not receive.
    left_out: usize,
    events: mpsc::Sender<Result<AnswerEvent, Fault>>,
    ended: oneshot::Sender<Outcome>,
    span: Span,
    /// Counts the answer until its tokens are recorded.
    slot: AnswerSlot,
}

impl AnswerTask {
    async fn run(self) {
        let mut meter = Meter::default();
        // Passages have numbers only in the list that follows a system prompt.
        let citations = self.agent.system_prompt.as_ref().map(|_| CitationFilter::default());
        let mut transcript = Transcript::begin(self.app.now(), citations);
        let result = self.answer(&mut meter, &mut transcript).await;
        let is_truncated = matches!(result, Ok(true));
        transcript.is_complete = result.is_ok();
        let removed = transcript.citations.as_ref().map_or(0, |citations| citations.removed);
        if removed > 0 {
            tracing::info!(removed, "citations of passages that were not found were removed");
            self.app.recorder.citations_removed(&self.agent.name, removed);
            // Fails only if the client has disconnected.
            let _ = self.send(AnswerMetadata::CitationsRemoved { count: removed }.into()).await;
        }
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
        let is_declined = transcript.is_declined;
        // Recorded before the last event, so that a follow-up question finds this answer in the history.
        transcript.record(&app, &request, message, agent.name.clone(), tokens).await;
        // Sending fails only if the client has disconnected.
        if let Some(last) = last {
            let _ = events.send(last).await;
        }
        drop(events);
        let _ = ended.send(Outcome { tokens, is_truncated, is_declined });
        metering::record(&app, &request, agent.name.clone(), tokens, &span).await;
        drop(slot);
    }

    /// Runs the agent loop; returns whether the answer was truncated.
    async fn answer(&self, meter: &mut Meter, transcript: &mut Transcript) -> Result<bool, Stop> {
        let prompt = self.agent.system_prompt.clone().map(Message::System);
        // Only appended to, so that the back end's prompt cache applies.
        let mut conversation: Vec<Message> =
            prompt.into_iter().chain(self.messages.iter().cloned()).collect();
        if self.left_out > 0 {
            self.send(AnswerMetadata::HistoryShortened { left_out: self.left_out }.into()).await?;
        }
        for _ in 0..self.agent.max_iterations {
            let mut output = ModelOutput::default();
            let result = self.call_model(&conversation, &mut output, transcript).await;
            let held = transcript.citations.as_mut().map(|filter| filter.finish(&transcript.sources));
            let sent = self.send_text(held.unwrap_or_default(), transcript).await;
            meter.add(output.usage, &conversation, &output.text, &output.calls);
            result?;
            sent?;
            if output.calls.is_empty() {
                transcript.is_declined = output.is_declined;
                return Ok(output.is_truncated);
            }
            let calls = output.calls.clone();
            conversation.push(Message::Assistant { content: output.text, tool_calls: output.calls });
            for query in calls.iter().take(MAX_CALLS).filter_map(search_docs::query) {
                self.send(AnswerMetadata::Searched { query }.into()).await?;
            }
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
    async fn call_model(
        &self,
        messages: &[Message],
        output: &mut ModelOutput,
        transcript: &mut Transcript,
    ) -> Result<(), Stop> {
        let tools = self.agent.tools.iter().map(|tool| tool.spec()).collect();
        let request = ChatRequest { messages: messages.to_vec(), tools };
        let mut stream = self.until_disconnected(self.app.model.stream(request)).await??;
        while let Some(event) = self.until_disconnected(stream.next()).await? {
            match event? {
                ChatEvent::Text(text) => {
                    output.text.push_str(&text);
                    let text = match &mut transcript.citations {
                        Some(citations) => citations.push(&text, &transcript.sources),
                        None => text,
                    };
                    self.send_text(text, transcript).await?;
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

    /// Sends text to the client, unless it is empty.
    async fn send_text(&self, text: String, transcript: &mut Transcript) -> Result<(), Disconnected> {
        if text.is_empty() {
            return Ok(());
        }
        transcript.text.push_str(&text);
        self.send(AnswerEvent::Text(text)).await
    }

    async fn run_tools(&self, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, Disconnected> {
        let run = |(n, call)| async move {
            if n < MAX_CALLS {
                tool::run(&self.agent.tools, &self.app, &self.request, call).await
            } else {
                ToolOutput {
                    call_id: call.id.clone(),
                    content: format!("Error: at most {MAX_CALLS} tools can be used at once."),
                    ..ToolOutput::default()
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
