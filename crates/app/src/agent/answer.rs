//! Answers one request: the agent loop and the stream of its events.

use super::citations::CitationFilter;
use super::events::{
    AnswerEnd, AnswerEvent, AnswerMetadata, AnswerStream, EventQueue, Outcome, answer_panicked,
};
use super::history::Input;
use super::metering::Meter;
use super::recording::Transcript;
use super::registry::Agent;
use super::request::AgentRequest;
use super::text_limits::TextEnd;
use super::{history, metering, prompt, search_docs, tool};
use crate::error::Result;
use crate::limits::{self, AnswerSlot};
use crate::{App, conversations, scope, spans};
use chrono::{DateTime, Utc};
use docent_domain::access::{Chat, Grant};
use docent_domain::chat::{FinishReason, Message, ToolCall, ToolOutput};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::id::MessageId;
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatRequest};
use futures::StreamExt;
use std::mem;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::{Instrument, Span};

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
    request.limits.prepare().await;
    let message = request.conversation.map(|_| app.new_id(MessageId::generate));
    let span = spans::invoke_agent(&agent.name, app.model.model(), request.conversation);
    // Passages have numbers only in the list that follows a system prompt.
    let citations = agent.system_prompt.as_ref().map(|_| CitationFilter::default());
    let limits = request.limits.clone();
    let asked = Asked {
        request: AgentRequest { actor: request.actor.via_agent(&grant), ..request },
        agent,
        message,
        at: app.now(),
        span: span.clone(),
        _slot: slot,
        _running: app.process.tasks.token(),
        app: Arc::clone(app),
    };
    let events = EventQueue::default();
    let generation = Generation {
        asked: Arc::new(asked),
        messages,
        left_out,
        events: events.clone(),
        progress: Progress { transcript: Transcript::new(citations, limits), ..Progress::default() },
        is_recorded: false,
    };
    // Log lines get their fields from the outer span.
    let generation = generation.run().instrument(span).in_current_span();
    let stream = AnswerStream::new(generation, events, Arc::clone(&app.recorder), message, left_out);
    Ok(stream.begin().await?)
}

/// A request that is being answered.
struct Asked {
    app: Arc<App>,
    agent: Arc<Agent>,
    request: AgentRequest,
    /// ID of the answer in its conversation.
    message: Option<MessageId>,
    at: DateTime<Utc>,
    span: Span,
    /// Counts the answer until its tokens are recorded.
    _slot: AnswerSlot,
    /// A stopping process waits until the answer is recorded.
    _running: TaskTrackerToken,
}

/// How an answer ended.
enum Ending {
    Complete {
        is_truncated: bool,
    },
    Failed(Fault),
    /// The client disconnected.
    Interrupted,
}

impl Asked {
    /// Records what was generated. Answers `ended` when a follow-up question would find it in the history.
    async fn record(
        self: Arc<Self>,
        progress: Progress,
        ending: Ending,
        ended: Option<oneshot::Sender<AnswerEnd>>,
    ) {
        let Self { app, agent, request, message, at, span, .. } = &*self;
        let Progress { meter, mut transcript, output, .. } = progress;
        let tokens = meter.total().await;
        transcript.is_complete = matches!(ending, Ending::Complete { .. });
        let removed = transcript.removed_citations();
        if removed > 0 {
            tracing::info!(removed, "citations of passages that were not found were removed");
            app.recorder.citations_removed(&agent.name, removed);
        }
        let (last, is_truncated) = match ending {
            Ending::Complete { is_truncated } => {
                (Some(Ok(AnswerEvent::Sources(transcript.sources.clone()))), is_truncated)
            }
            Ending::Failed(fault) => {
                tracing::warn!(fault = %fault.report(), "the answer was interrupted");
                spans::fail(span, fault.kind().code());
                (Some(Err(fault)), false)
            }
            Ending::Interrupted => {
                tracing::debug!("the client disconnected; the model was stopped");
                (None, false)
            }
        };
        transcript.is_declined = transcript.is_complete && output.is_declined;
        transcript.record(app, request, *at, *message, agent.name.clone(), tokens).await;
        if let (Some(last), Some(ended)) = (last, ended) {
            let outcome = Outcome { tokens, is_truncated, is_declined: output.is_declined };
            // Fails only if the client has disconnected.
            let _ = ended.send(AnswerEnd { last, outcome });
        }
        metering::record(app, request, agent.name.clone(), tokens, span).await;
    }
}

/// What was generated so far.
#[derive(Default)]
struct Progress {
    meter: Meter,
    transcript: Transcript,
    /// The messages for the model. Only appended to, so that the back end's prompt cache applies.
    conversation: Vec<Message>,
    /// The output of the last model call.
    output: ModelOutput,
}

impl Progress {
    /// Ends a model call. Returns the text that was held back.
    fn end_call(&mut self) -> String {
        let Self { meter, transcript, conversation, output } = self;
        if mem::take(&mut output.is_open) {
            meter.add(output.usage, conversation, &output.text, &output.calls);
        }
        transcript.end_text()
    }
}

/// The generation of one answer. Dropping it stops the model; what was generated until then is recorded.
struct Generation {
    asked: Arc<Asked>,
    /// The messages of the first model call, without the agent's system prompt.
    messages: Vec<Message>,
    /// Number of the client's messages that the model does not receive.
    left_out: usize,
    events: EventQueue,
    progress: Progress,
    is_recorded: bool,
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.record(Ending::Interrupted, None);
    }
}

impl Generation {
    async fn run(mut self) -> AnswerEnd {
        let result = self.answer().await;
        let held = self.progress.transcript.end_answer();
        self.send_text(held);
        let ending = match (result, self.progress.transcript.limited_by()) {
            (Ok(_), Some(end)) => Ending::Complete { is_truncated: end == TextEnd::Tokens },
            (Ok(is_truncated), None) => Ending::Complete { is_truncated },
            (Err(fault), _) => Ending::Failed(fault),
        };
        let removed = self.progress.transcript.removed_citations();
        if removed > 0 {
            self.events.push(AnswerMetadata::CitationsRemoved { count: removed }.into());
        }
        let (ended, end) = oneshot::channel();
        self.record(ending, Some(ended));
        end.await.unwrap_or_else(|_| AnswerEnd { last: Err(answer_panicked()), outcome: Outcome::unknown() })
    }

    /// Records the answer in a task of its own, which a client that disconnects does not stop.
    fn record(&mut self, ending: Ending, ended: Option<oneshot::Sender<AnswerEnd>>) {
        if mem::replace(&mut self.is_recorded, true) {
            return;
        }
        // Of an interrupted call.
        self.progress.end_call();
        let progress = mem::take(&mut self.progress);
        let record = Arc::clone(&self.asked).record(progress, ending, ended);
        self.asked.app.spawn(record.instrument(self.asked.span.clone()).in_current_span());
    }

    /// Runs the agent loop; returns whether the answer was truncated.
    async fn answer(&mut self) -> Result<bool, Fault> {
        let agent = Arc::clone(&self.asked.agent);
        let prompt = agent.system_prompt.clone().map(Message::System);
        self.progress.conversation = prompt.into_iter().chain(mem::take(&mut self.messages)).collect();
        if self.left_out > 0 {
            self.events.push(AnswerMetadata::HistoryShortened { left_out: self.left_out }.into());
        }
        for _ in 0..agent.max_iterations {
            self.progress.output = ModelOutput { is_open: true, ..ModelOutput::default() };
            let result = self.call_model().await;
            let held = self.progress.end_call();
            self.send_text(held);
            result?;
            let Progress { transcript, conversation, output, .. } = &mut self.progress;
            if output.calls.is_empty() || transcript.limited_by().is_some() {
                return Ok(output.is_truncated);
            }
            let ModelOutput { text, calls, .. } = mem::take(output);
            conversation.push(Message::Assistant { content: text, tool_calls: calls.clone() });
            for query in calls.iter().take(MAX_CALLS).filter_map(search_docs::query) {
                self.events.push(AnswerMetadata::Searched { query }.into());
            }
            let outputs = run_tools(&self.asked, calls).await?;
            let found: Vec<_> = outputs.iter().flat_map(|output| transcript.add_output(output)).collect();
            // Without a system prompt the model receives the tool outputs only.
            let provenance = agent.system_prompt.as_ref().and_then(|_| prompt::provenance(&found));
            conversation.extend(outputs.into_iter().map(Message::Tool).chain(provenance));
        }
        tracing::warn!(agent = %agent.name, "the iteration cap was reached");
        Ok(true)
    }

    /// Calls the model once and forwards its text to the client.
    async fn call_model(&mut self) -> Result<(), Fault> {
        let Asked { app, agent, .. } = &*self.asked;
        let tools = agent.tools.iter().map(|tool| tool.spec()).collect();
        let request = ChatRequest { messages: self.progress.conversation.clone(), tools };
        let mut stream = app.model.stream(request).await?;
        while let Some(event) = stream.next().await {
            let output = &mut self.progress.output;
            match event? {
                ChatEvent::Text(text) => {
                    output.text.push_str(&text);
                    let text = self.progress.transcript.add_text(text);
                    self.send_text(text);
                    if self.progress.transcript.limited_by().is_some() {
                        // The model is stopped, since the client receives no more text.
                        return Ok(());
                    }
                }
                ChatEvent::Reasoning(_) => {}
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
        let message = "the stream ended without a finish reason";
        Err(Fault::new(Component::ChatModel, FaultKind::InvalidResponse, message))
    }

    /// Sends text to the client, unless it is empty.
    fn send_text(&mut self, text: String) {
        if !text.is_empty() {
            self.events.push(AnswerEvent::Text(text));
        }
    }
}

/// Runs tools on the runtime of the process, to which their connections belong.
async fn run_tools(asked: &Arc<Asked>, calls: Vec<ToolCall>) -> Result<Vec<ToolOutput>, Fault> {
    let work = Arc::clone(asked);
    let run = async move {
        let run = |(n, call): (usize, ToolCall)| {
            let Asked { app, agent, request, .. } = &*work;
            async move {
                if n < MAX_CALLS {
                    tool::run(&agent.tools, app, request, &call).await
                } else {
                    let content = format!("Error: at most {MAX_CALLS} tools can be used at once.");
                    ToolOutput { call_id: call.id.clone(), content, ..ToolOutput::default() }
                }
            }
        };
        futures::future::join_all(calls.into_iter().enumerate().map(run)).await
    };
    let task = asked.app.spawn(run.in_current_span()).map(AbortOnDropHandle::new);
    task.ok_or_else(answer_panicked)?.await.map_err(|_| answer_panicked())
}

/// The output of one model call.
#[derive(Default)]
struct ModelOutput {
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<TokenUsage>,
    is_truncated: bool,
    is_declined: bool,
    /// Whether its tokens were not counted yet.
    is_open: bool,
}
