//! Answering one question: the loop, and the stream that comes out of it.

use super::{history, metering, metering::Meter, prompt, recording::Transcript, registry::Agent, tool};
use crate::{App, conversations, error::Result, recorder::Recorder, spans};
use docent_domain::{
    access::{Actor, Chat, Grant},
    chat::{FinishReason, Message, ToolCall, ToolOutput},
    fault::{Component, Fault, FaultKind},
    id::ConversationId,
    retrieval::ScoredChunk,
    usage::TokenUsage,
};
use docent_ports::chat_model::{ChatEvent, ChatRequest};
use futures::{Stream, StreamExt};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};
use tokio::sync::{mpsc, oneshot};
use tracing::{Instrument, Span};

/// Events that wait for a slow reader; then the model waits too.
const BUFFER: usize = 32;
/// Tool calls of one turn that are run; a model that asks for more is told so.
const MAX_CALLS: usize = 16;

/// What an agent is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// Who asks.
    pub actor: Actor,
    /// What was sent: instructions, earlier turns if the client keeps them, and the question last.
    pub messages: Vec<Message>,
    /// The conversation that it is written down in, if any. Earlier turns of that are read by the model too, where
    /// `messages` has none.
    pub conversation: Option<ConversationId>,
}

impl Question {
    /// What is asked.
    pub(super) fn words(&self) -> &str {
        match self.messages.last() {
            Some(Message::User(text)) => text,
            _ => "",
        }
    }
}

/// What an answer is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerEvent {
    /// The next piece of text; never empty.
    Text(String),
    /// The passages that were found on the way, best first, each once. The last event.
    Sources(Vec<ScoredChunk>),
}

/// How an answer came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What it cost, over all model calls.
    pub tokens: TokenUsage,
    /// Whether something ended it before all was said: the model's limit of tokens, or the iteration cap.
    pub is_cut: bool,
}

impl Outcome {
    /// That of an answer whose task died after its last event.
    pub fn unknown() -> Self {
        Self { tokens: TokenUsage::default(), is_cut: false }
    }
}

/// An answer as it comes. Dropping it stops the model; what had been said by then is still metered.
///
/// It ends after [`AnswerEvent::Sources`] or the first error.
#[allow(missing_debug_implementations, reason = "ports have no debug form")]
pub struct Answer {
    first: Option<AnswerEvent>,
    rest: mpsc::Receiver<Result<AnswerEvent, Fault>>,
    is_over: bool,
    recorder: Arc<dyn Recorder>,
    outcome: oneshot::Receiver<Outcome>,
}

impl Answer {
    /// How it ended, once the stream is over. Nobody knows when its task died.
    pub async fn outcome(self) -> Option<Outcome> {
        self.outcome.await.ok()
    }
}

impl Stream for Answer {
    type Item = Result<AnswerEvent, Fault>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let event = match self.first.take() {
            Some(event) => Ok(event),
            // The task always sends a last event, unless it died.
            None => ready!(self.rest.poll_recv(context)).unwrap_or_else(|| Err(died())),
        };
        if let Err(fault) = &event {
            self.recorder.fault(fault.component(), fault.kind());
        }
        self.is_over = matches!(event, Err(_) | Ok(AnswerEvent::Sources(_)));
        Poll::Ready(Some(event))
    }
}

fn died() -> Fault {
    Fault::new(Component::Service, FaultKind::Internal, "the answer's task died")
}

/// Asks an agent. Returns with the first event at hand, so that a fault before it is
/// an error here and not a broken stream.
///
/// A question that belongs to a conversation is written down there with its answer, however far that gets.
///
/// # Errors
/// [`Error::NotFound`] for a conversation of somebody else, or the fault of the model or,
/// where there is a conversation, of the database.
pub async fn ask(
    app: &Arc<App>,
    grant: Grant<Chat>,
    agent: Arc<Agent>,
    question: Question,
) -> Result<Answer> {
    if let Some(conversation) = question.conversation {
        conversations::open(app, &grant, conversation, question.words()).await?;
    }
    let messages = history::with_record(app, &question).await?;
    let question = Question { actor: question.actor.via_agent(&grant), ..question };
    let (events, mut rest) = mpsc::channel(BUFFER);
    let (ended, outcome) = oneshot::channel();
    let span = spans::invoke_agent(&agent.name, app.model.model(), question.conversation);
    let turn = Turn { app: Arc::clone(app), agent, question, messages, events, ended, span: span.clone() };
    // The outer span is the one that log lines are marked with.
    app.process.tasks.spawn(turn.run().instrument(span).in_current_span());
    let first = rest.recv().await.unwrap_or_else(|| Err(died()))?;
    Ok(Answer { first: Some(first), rest, is_over: false, recorder: Arc::clone(&app.recorder), outcome })
}

/// The reader has gone away.
struct Gone;

enum Stop {
    Gone,
    Fault(Fault),
}

impl From<Gone> for Stop {
    fn from(Gone: Gone) -> Self {
        Self::Gone
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

struct Turn {
    app: Arc<App>,
    agent: Arc<Agent>,
    question: Question,
    /// What the model reads first, but for its instructions.
    messages: Vec<Message>,
    events: mpsc::Sender<Result<AnswerEvent, Fault>>,
    ended: oneshot::Sender<Outcome>,
    span: Span,
}

impl Turn {
    async fn run(self) {
        let mut meter = Meter::default();
        let mut transcript = Transcript::begin(self.app.now());
        let answered = self.answer(&mut meter, &mut transcript).await;
        let is_cut = matches!(answered, Ok(true));
        transcript.is_complete = answered.is_ok();
        let last = match answered {
            Ok(_) => Some(Ok(AnswerEvent::Sources(transcript.sources.clone()))),
            Err(Stop::Gone) => {
                tracing::debug!("the client went away; the model was stopped");
                None
            }
            Err(Stop::Fault(fault)) => {
                tracing::warn!(fault = %fault.report(), "the answer broke off");
                spans::fail(&self.span, fault.kind().code());
                Some(Err(fault))
            }
        };
        let Self { app, agent, question, events, ended, span, .. } = self;
        let tokens = meter.sum().await;
        // Before the end is told: whoever asks on after that finds this in the record.
        transcript.record(&app, &question, agent.name.clone(), tokens).await;
        if let Some(last) = last {
            // A reader that has gone away misses nothing it wanted.
            let _ = events.send(last).await;
        }
        drop(events);
        // Nobody may be waiting for it.
        let _ = ended.send(Outcome { tokens, is_cut });
        metering::record(&app, &question, agent.name.clone(), tokens, &span).await;
    }

    /// Says whether something cut the answer.
    async fn answer(&self, meter: &mut Meter, transcript: &mut Transcript) -> Result<bool, Stop> {
        let mut messages = self.messages.clone();
        for _ in 0..self.agent.max_iterations {
            let mut said = Said::default();
            let told = self.told(&messages);
            let heard = self.listen(&told, &mut said).await;
            transcript.text.push_str(&said.text);
            meter.add(said.usage, &told, &said.text, &said.calls);
            heard?;
            if said.calls.is_empty() {
                return Ok(said.is_cut);
            }
            let calls = said.calls.clone();
            messages.push(Message::Assistant { content: said.text, tool_calls: said.calls });
            for output in self.run_tools(&calls).await? {
                for passage in &output.passages {
                    transcript.add_source(passage);
                }
                messages.push(Message::Tool(output));
            }
        }
        tracing::warn!(agent = %self.agent.name, "the iteration cap was reached");
        Ok(true)
    }

    /// The conversation, after what the agent's model is told before it.
    fn told(&self, conversation: &[Message]) -> Vec<Message> {
        let prompt = self.agent.system_prompt.as_deref().map(|text| prompt::system(text, conversation));
        prompt.into_iter().chain(conversation.iter().cloned()).collect()
    }

    /// Calls the model once and passes its text on.
    async fn listen(&self, messages: &[Message], said: &mut Said) -> Result<(), Stop> {
        let tools = self.agent.tools.iter().map(|tool| tool.spec()).collect();
        let request = ChatRequest { messages: messages.to_vec(), tools };
        let mut stream = self.unless_gone(self.app.model.stream(request)).await??;
        while let Some(event) = self.unless_gone(stream.next()).await? {
            match event? {
                ChatEvent::Text(text) => {
                    said.text.push_str(&text);
                    self.send(AnswerEvent::Text(text)).await?;
                }
                ChatEvent::ToolCall(call) => said.calls.push(call),
                ChatEvent::Finished { reason, usage } => {
                    said.usage = usage;
                    if reason == FinishReason::Length {
                        tracing::warn!("the model stopped at its token limit");
                        said.is_cut = true;
                    }
                    return Ok(());
                }
            }
        }
        Err(Fault::new(Component::ChatModel, FaultKind::InvalidResponse, "the answer ended without its end")
            .into())
    }

    async fn run_tools(&self, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, Gone> {
        let run = |(n, call)| async move {
            if n < MAX_CALLS {
                tool::run(&self.agent.tools, &self.app, &self.question.actor, call).await
            } else {
                ToolOutput {
                    call_id: call.id.clone(),
                    content: format!("Error: at most {MAX_CALLS} tools can be used at once."),
                    passages: Vec::new(),
                }
            }
        };
        self.unless_gone(futures::future::join_all(calls.iter().enumerate().map(run))).await
    }

    async fn send(&self, event: AnswerEvent) -> Result<(), Gone> {
        self.events.send(Ok(event)).await.map_err(|_| Gone)
    }

    /// Waits for `work`, but not longer than somebody waits for the answer.
    async fn unless_gone<T>(&self, work: impl Future<Output = T>) -> Result<T, Gone> {
        tokio::select! {
            done = work => Ok(done),
            () = self.events.closed() => Err(Gone),
        }
    }
}

/// What the model said in one call.
#[derive(Default)]
struct Said {
    text: String,
    calls: Vec<ToolCall>,
    usage: Option<TokenUsage>,
    is_cut: bool,
}
