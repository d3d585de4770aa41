//! Answers one request: the agent loop and the stream of its events.

mod fallback;
mod output;
mod reasoning;
mod tools;

use super::citations::CitationFilter;
use super::events::{
    AnswerEnd, AnswerEvent, AnswerMetadata, AnswerOutcome, AnswerStream, EndReason, EventQueue,
    answer_panicked,
};
use super::history::Input;
use super::recording::Transcript;
use super::registry::Agent;
use super::request::AgentRequest;
use super::text_limits::TextEnd;
use super::{history, tool};
use crate::error::Result;
use crate::limits::{self, AnswerSlot};
use crate::metering::{self, Meter, Payer};
use crate::settings::SearchMode;
use crate::{App, conversations, scope, spans};
use chrono::{DateTime, Utc};
use docent_domain::access::{Chat, Grant};
use docent_domain::chat::{FinishReason, Message, ToolCall};
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind};
use docent_domain::id::MessageId;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest};
use futures::StreamExt;
use output::ModelOutput;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::sync::oneshot;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tracing::{Instrument, Span};

/// Sends a request to an agent. Returns after the first text or reasoning, or the end of an answer without any, so that an
/// earlier fault is an error here and not a broken stream.
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
        scope::select(&scope::load(app, &request.actor).await?, &request.selection)?;
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
    let transcript = transcript(&agent, &request);
    let author = Author { agent, model: Arc::clone(&app.model) };
    let asked = RequestInProgress {
        request: AgentRequest { actor: request.actor.via_agent(&grant), ..request },
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
        author,
        messages,
        left_out,
        events: events.clone(),
        progress: Progress { transcript, ..Progress::default() },
        reasoning: 0,
        is_recorded: false,
    };
    // Log lines get their fields from the outer span.
    let generation = generation.run().instrument(span).in_current_span();
    let stream = AnswerStream::new(generation, events, Arc::clone(&app.recorder), message, left_out);
    Ok(stream.begin().await?)
}

fn transcript(agent: &Agent, request: &AgentRequest) -> Transcript {
    // Passages have numbers only in the list that follows a system prompt.
    let citations = agent.system_prompt.as_ref().map(|_| CitationFilter::default());
    Transcript::new(citations, request.limits.clone())
}

/// Who writes an answer.
#[derive(Clone)]
struct Author {
    agent: Arc<Agent>,
    model: Arc<dyn ChatModel>,
}

impl Author {
    /// Whether the model can be called with tools, as far as is known.
    fn knows_tools(&self, app: &App) -> bool {
        self.model.reads_records() || app.process.model_knows_tools()
    }
}

/// A request that is being answered.
struct RequestInProgress {
    app: Arc<App>,
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
    Complete(EndReason),
    Failed(Fault),
    /// The client disconnected.
    Interrupted,
}

impl RequestInProgress {
    /// Who decides that documents are searched.
    fn search_mode(&self) -> SearchMode {
        self.request.search.unwrap_or(self.app.settings.agent_search)
    }

    /// Records what was generated. Answers `ended` when a follow-up question would find it in the history.
    async fn record(
        self: Arc<Self>,
        author: Author,
        progress: Progress,
        ending: Ending,
        ended: Option<oneshot::Sender<AnswerEnd>>,
    ) {
        let Self { app, request, message, at, span, .. } = &*self;
        let Author { agent, model } = author;
        let Progress { meter, mut transcript, output, .. } = progress;
        let tokens = meter.total().await;
        transcript.is_complete = matches!(ending, Ending::Complete(_));
        let removed = transcript.removed_citations();
        if removed > 0 {
            tracing::info!(removed, "citations of passages that were not found were removed");
            app.recorder.citations_removed(&agent.name, removed);
        }
        let has_text = transcript.has_text();
        let (last, reason) = match ending {
            Ending::Complete(reason) => (Some(Ok(AnswerEvent::Sources(transcript.sources.clone()))), reason),
            Ending::Failed(fault) => {
                tracing::warn!(fault = %fault.report(), "the answer was interrupted");
                spans::fail(span, fault.kind().code());
                (Some(Err(fault)), EndReason::Failed)
            }
            Ending::Interrupted => {
                tracing::debug!("the client disconnected; the model was stopped");
                (None, EndReason::Failed)
            }
        };
        transcript.is_declined = transcript.is_complete && output.is_declined;
        transcript.record(app, request, *at, *message, agent.name.clone(), tokens).await;
        if let (Some(last), Some(ended)) = (last, ended) {
            let outcome = AnswerOutcome { tokens, reason, has_text, is_declined: output.is_declined };
            // Fails only if the client has disconnected.
            let _ = ended.send(AnswerEnd { last, outcome });
        }
        metering::record(
            app,
            Payer::of(&request.actor),
            request.conversation,
            agent.name.clone(),
            &*model,
            tokens,
            span,
        )
        .await;
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
    /// Whether any tool was run.
    has_used_tools: bool,
}

impl Progress {
    /// Ends a model call. Returns the text that was held back.
    fn end_call(&mut self) -> String {
        let Self { meter, transcript, conversation, output, .. } = self;
        if mem::take(&mut output.is_open) {
            meter.add(output.usage, conversation, &output.text, &output.calls);
        }
        transcript.end_text()
    }
}

/// The generation of one answer. Dropping it stops the model; what was generated until then is recorded.
struct Generation {
    asked: Arc<RequestInProgress>,
    author: Author,
    /// The messages of the first model call, without the agent's system prompt.
    messages: Vec<Message>,
    /// Number of the client's messages that the model does not receive.
    left_out: usize,
    events: EventQueue,
    progress: Progress,
    /// Size of the reasoning that was sent, in bytes.
    reasoning: usize,
    is_recorded: bool,
}

impl Drop for Generation {
    fn drop(&mut self) {
        self.record(Ending::Interrupted, None);
    }
}

impl Generation {
    async fn run(mut self) -> AnswerEnd {
        let result = match self.answer().await {
            Err(fault) => self.fall_back(fault).await,
            result => result,
        };
        let held = self.progress.transcript.end_answer();
        self.send_text(held);
        let ending = match (result, self.progress.transcript.limited_by()) {
            (Ok(_), Some(TextEnd::Tokens)) => Ending::Complete(EndReason::Length),
            (Ok(_), Some(_)) => Ending::Complete(EndReason::Complete),
            (Ok(reason), None) => Ending::Complete(reason),
            (Err(fault), _) => Ending::Failed(fault),
        };
        let removed = self.progress.transcript.removed_citations();
        if removed > 0 {
            self.events.push(AnswerMetadata::CitationsRemoved { count: removed }.into());
        }
        let has_text = self.progress.transcript.has_text();
        let app = &self.asked.app;
        let has_searched = self.progress.has_used_tools;
        let Author { agent, model } = &self.author;
        if has_text && !model.reads_records() && agent.has_search() {
            if !has_searched {
                self.events.push(AnswerMetadata::NotSearched.into());
            }
            if self.asked.search_mode() == SearchMode::Model && app.process.model_knows_tools() {
                app.process.searches.add(has_searched);
            }
        }
        match &ending {
            Ending::Complete(EndReason::Complete) | Ending::Interrupted => {}
            Ending::Complete(reason) => {
                let reason = *reason;
                tracing::warn!(?reason, has_text, "the model did not complete its answer");
                self.events.push(AnswerMetadata::Incomplete { reason }.into());
            }
            Ending::Failed(_) => {
                self.events.push(AnswerMetadata::Incomplete { reason: EndReason::Failed }.into())
            }
        }
        let (ended, end) = oneshot::channel();
        self.record(ending, Some(ended));
        end.await
            .unwrap_or_else(|_| AnswerEnd { last: Err(answer_panicked()), outcome: AnswerOutcome::unknown() })
    }

    /// Records the answer in a task of its own, which a client that disconnects does not stop.
    fn record(&mut self, ending: Ending, ended: Option<oneshot::Sender<AnswerEnd>>) {
        if mem::replace(&mut self.is_recorded, true) {
            return;
        }
        // Of an interrupted call.
        self.progress.end_call();
        let progress = mem::take(&mut self.progress);
        let record = Arc::clone(&self.asked).record(self.author.clone(), progress, ending, ended);
        self.asked.app.spawn(record.instrument(self.asked.span.clone()).in_current_span());
    }

    /// Runs the agent loop; returns why the answer ended.
    async fn answer(&mut self) -> Result<EndReason, Fault> {
        let agent = Arc::clone(&self.author.agent);
        let prompt = agent.system_prompt.clone().map(Message::System);
        let messages = match self.asked.request.quotes_as_fallback {
            // They may be needed once more.
            true => self.messages.clone(),
            false => mem::take(&mut self.messages),
        };
        self.progress.conversation = prompt.into_iter().chain(messages).collect();
        if self.left_out > 0 {
            self.events.push(AnswerMetadata::HistoryShortened { left_out: self.left_out }.into());
        }
        let knows_tools = self.author.knows_tools(&self.asked.app);
        let sent = self.progress.conversation.len();
        if knows_tools && !self.asked.request.earlier_searches.is_empty() {
            self.repeat_searches().await?;
        } else if self.asked.search_mode() == SearchMode::First || !knows_tools {
            self.search_first(knows_tools).await?;
        }
        for iteration in 1..=agent.max_iterations {
            // The last call must answer with what was found.
            let is_last = iteration == agent.max_iterations && iteration > 1;
            match self.call_model_once(!is_last).await {
                Err(fault)
                    // A server may have refused the client's functions only, and the answer cannot do without them.
                    if iteration == 1
                        && knows_tools
                        && self.asked.request.functions.is_empty()
                        && fault.known_cause() == Some(FaultCause::ToolsUnsupported) =>
                {
                    // The model receives the passages with the question instead.
                    self.progress.conversation.truncate(sent);
                    self.search_first(false).await?;
                    self.call_model_once(false).await?;
                    self.remember_refusal_of_tools(&fault);
                }
                result => result?,
            }
            if self.progress.transcript.limited_by().is_some() {
                return Ok(self.end_reason());
            }
            let has_calls = !self.progress.output.calls.is_empty();
            match (is_last, has_calls) {
                (false, true) => {
                    let ModelOutput { text, calls, .. } = mem::take(&mut self.progress.output);
                    let request = &self.asked.request;
                    let (functions, calls): (Vec<_>, Vec<_>) =
                        calls.into_iter().partition(|call| request.has_function(&call.name));
                    if calls.is_empty() {
                        self.events.push(AnswerEvent::FunctionCalls(functions));
                        return Ok(EndReason::Complete);
                    }
                    // With calls of both kinds, the model calls the functions again once it has the outputs of the tools.
                    self.use_tools(text, calls).await?;
                }
                // Calls are no answer, nor is their absence.
                (true, true) => break,
                (true, false) if self.end_reason() == EndReason::Empty => break,
                (_, false) => return Ok(self.end_reason()),
            }
        }
        tracing::warn!(agent = %agent.name, "the iteration cap was reached");
        Ok(EndReason::Iterations)
    }

    /// Why the answer ended, after the last model call.
    fn end_reason(&self) -> EndReason {
        let Progress { output, transcript, .. } = &self.progress;
        match output.reason {
            Some(FinishReason::Length) => EndReason::Length,
            Some(FinishReason::ContentFilter) => EndReason::ContentFilter,
            _ if transcript.has_text() => EndReason::Complete,
            _ if output.has_reasoning => EndReason::ReasoningOnly,
            _ => EndReason::Empty,
        }
    }

    /// Records that the model's server refused tools and answered without them: it is called without tools
    /// from then on.
    fn remember_refusal_of_tools(&self, fault: &Fault) {
        if !self.asked.app.process.refuses_tools.swap(true, Ordering::Relaxed) {
            tracing::warn!(fault = %fault.report(), "the chat model does not support tools; documents are searched before each answer");
        }
    }

    /// Calls the model once, and counts its tokens.
    async fn call_model_once(&mut self, with_tools: bool) -> Result<(), Fault> {
        self.progress.output = ModelOutput { is_open: true, ..ModelOutput::default() };
        let result = self.call_model(with_tools).await;
        // A model that failed before its first output used no tokens, as far as is known.
        self.progress.output.is_open &= result.is_ok() || self.progress.output.has_any();
        let held = self.progress.end_call();
        self.send_text(held);
        result
    }

    /// Calls the model once and forwards its text to the client.
    async fn call_model(&mut self, with_tools: bool) -> Result<(), Fault> {
        let Author { agent, model } = &self.author;
        let AgentRequest { functions, sampling, .. } = &self.asked.request;
        let (tools, functions) = match with_tools && self.author.knows_tools(&self.asked.app) {
            true => (agent.tools.iter().map(|tool| tool.spec()).collect(), functions.clone()),
            false => (Vec::new(), Vec::new()),
        };
        let messages = self.progress.conversation.clone();
        let request =
            ChatRequest { messages, tools, functions, sampling: *sampling, ..ChatRequest::default() };
        let mut stream = model.stream(request).await?;
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
                ChatEvent::Reasoning(text) => self.send_reasoning(&text),
                ChatEvent::Choices(choices) => {
                    self.events.push(AnswerMetadata::Choices { choices }.into());
                }
                ChatEvent::ToolCall(ToolCall { id, name, arguments }) => {
                    let arguments = tool::normalized(arguments);
                    output.calls.push(ToolCall { id, name, arguments });
                }
                ChatEvent::Finished { reason, usage } => {
                    output.usage = usage;
                    output.is_declined = reason == FinishReason::Declined;
                    output.reason = Some(reason);
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
