//! Scripted chat model.

use async_trait::async_trait;
use docent_domain::chat::{FinishReason, ToolCall};
use docent_domain::fault::{Component, Fault, FaultCause, FaultKind, Result};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest, ChatStream, OptionalPart};
use futures::{StreamExt, stream};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// One answer of a [`ScriptedChatModel`]: its steps in order.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    refusal: Option<Fault>,
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Event(ChatEvent),
    Fault(FaultKind),
    Stall,
}

impl Turn {
    /// Creates an empty answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an answer that streams `text` word by word and stops.
    pub fn saying(text: &str) -> Self {
        text.split_inclusive(' ').fold(Self::new(), Self::text).stop()
    }

    /// Creates an answer that says that the documents do not contain what was asked for.
    pub fn declining(text: &str) -> Self {
        let end = ChatEvent::Finished { reason: FinishReason::Declined, usage: None };
        Self::new().text(text).step(Step::Event(end))
    }

    /// Creates an answer with one search tool call.
    pub fn searching(query: &str) -> Self {
        let query = query.replace('\\', "\\\\").replace('"', "\\\"");
        Self::new().tool_call("call-1", "search_docs", &format!("{{\"query\":\"{query}\"}}")).finished(None)
    }

    /// Fails the call before the stream starts. An unavailable model is overloaded, as its server would say.
    pub fn refused(kind: FaultKind) -> Self {
        match kind {
            FaultKind::Unavailable => Self::refused_because(kind, FaultCause::Overloaded),
            _ => Self::failing(fault(kind)),
        }
    }

    /// Fails the call as a closed port does, which gives no cause.
    pub fn unreachable() -> Self {
        Self::failing(fault(FaultKind::Unavailable))
    }

    /// Fails the call before the stream starts, with a known cause.
    pub fn refused_because(kind: FaultKind, cause: FaultCause) -> Self {
        Self::failing(fault(kind).with_known_cause(cause))
    }

    /// Fails the call with this fault before the stream starts.
    pub fn failing(fault: Fault) -> Self {
        Self { refusal: Some(fault), steps: Vec::new() }
    }

    /// Adds a piece of text.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.step(Step::Event(ChatEvent::Text(text.to_owned())))
    }

    /// Adds a piece of reasoning.
    #[must_use]
    pub fn reasoning(self, text: &str) -> Self {
        self.step(Step::Event(ChatEvent::Reasoning(text.to_owned())))
    }

    /// Ends the answer with this reason.
    #[must_use]
    pub fn ending(self, reason: FinishReason) -> Self {
        self.step(Step::Event(ChatEvent::Finished { reason, usage: None }))
    }

    /// Adds a tool call; `arguments` is sent unchanged, even if invalid.
    #[must_use]
    pub fn tool_call(self, id: &str, name: &str, arguments: &str) -> Self {
        let call = ToolCall { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_owned() };
        self.step(Step::Event(ChatEvent::ToolCall(call)))
    }

    /// Ends the answer with this usage and the finish reason that follows from its steps.
    #[must_use]
    pub fn finished(self, usage: Option<TokenUsage>) -> Self {
        let calls = self.steps.iter().any(|step| matches!(step, Step::Event(ChatEvent::ToolCall(_))));
        let reason = if calls { FinishReason::ToolCalls } else { FinishReason::Stop };
        self.step(Step::Event(ChatEvent::Finished { reason, usage }))
    }

    /// Ends the answer without usage.
    #[must_use]
    pub fn stop(self) -> Self {
        self.finished(None)
    }

    /// Ends the answer with a fault.
    #[must_use]
    pub fn fault(self, kind: FaultKind) -> Self {
        self.step(Step::Fault(kind))
    }

    /// Stalls the answer forever.
    #[must_use]
    pub fn stall(self) -> Self {
        self.step(Step::Stall)
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// Plays one [`Turn`] per call. Without a turn left, calls fail with `Internal` unless a default turn is set.
#[derive(Debug, Default)]
pub struct ScriptedChatModel {
    turns: Mutex<VecDeque<Turn>>,
    rest: Option<Turn>,
    requests: Mutex<Vec<ChatRequest>>,
    models: Mutex<Option<Vec<String>>>,
    context: Mutex<Option<u64>>,
    refused: Mutex<Vec<OptionalPart>>,
    cut_short: Arc<AtomicUsize>,
}

impl ScriptedChatModel {
    /// Creates a model that plays these turns.
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: Mutex::new(turns.into_iter().collect()), ..Self::default() }
    }

    /// Creates a model that plays the same turn for every call.
    pub fn always(turn: Turn) -> Self {
        Self { rest: Some(turn), ..Self::default() }
    }

    /// Makes it a model of a back end that offers these models.
    pub fn offer(&self, models: &[&str]) {
        *self.models.lock().unwrap() = Some(models.iter().map(ToString::to_string).collect());
    }

    /// Makes it say this context length.
    pub fn set_context_length(&self, length: u64) {
        *self.context.lock().unwrap() = Some(length);
    }

    /// Makes it a model whose back end has refused a part of requests.
    pub fn refuse(&self, part: OptionalPart) {
        self.refused.lock().unwrap().push(part);
    }

    /// Whether it is a model of a back end that offers models.
    pub fn has_offers(&self) -> bool {
        self.models.lock().unwrap().is_some()
    }

    /// Adds a turn.
    pub fn push(&self, turn: Turn) {
        self.turns.lock().unwrap().push_back(turn);
    }

    /// Returns the requests so far, in order.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Number of answers dropped before their last step.
    pub fn cut_short(&self) -> usize {
        self.cut_short.load(Ordering::SeqCst)
    }

    /// Whether every turn has been played.
    pub fn is_done(&self) -> bool {
        self.turns.lock().unwrap().is_empty()
    }
}

fn fault(kind: FaultKind) -> Fault {
    Fault::new(Component::ChatModel, kind, "a scripted fault")
}

/// The remaining steps of an answer; counts as dropped if any are left.
struct Remainder {
    steps: VecDeque<Step>,
    cut_short: Arc<AtomicUsize>,
}

impl Drop for Remainder {
    fn drop(&mut self) {
        if !self.steps.is_empty() {
            self.cut_short.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[async_trait]
impl ChatModel for ScriptedChatModel {
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream> {
        self.requests.lock().unwrap().push(request);
        let turn = self.turns.lock().unwrap().pop_front().or_else(|| self.rest.clone());
        let turn = turn.ok_or_else(|| {
            Fault::new(Component::ChatModel, FaultKind::Internal, "the script has no turn left")
        })?;
        if let Some(fault) = turn.refusal {
            return Err(fault);
        }
        let remainder = Remainder { steps: turn.steps.into(), cut_short: Arc::clone(&self.cut_short) };
        let steps = stream::unfold(remainder, |mut remainder| async {
            // A stall stays in the remainder, so that dropping a stalled answer is counted.
            if matches!(remainder.steps.front(), Some(Step::Stall)) {
                return std::future::pending().await;
            }
            let event = match remainder.steps.pop_front()? {
                Step::Event(event) => Ok(event),
                // As the adapter of model servers reports it.
                Step::Fault(FaultKind::Unavailable) => {
                    Err(fault(FaultKind::Unavailable).with_known_cause(FaultCause::Interrupted))
                }
                Step::Fault(kind) => Err(fault(kind)),
                Step::Stall => return None,
            };
            Some((event, remainder))
        });
        Ok(steps.boxed())
    }

    fn model(&self) -> &'static str {
        "scripted"
    }

    fn address(&self) -> Option<String> {
        self.models.lock().unwrap().as_ref().map(|_| "http://127.0.0.1:1/v1".to_owned())
    }

    async fn models(&self) -> Result<Vec<String>> {
        Ok(self.models.lock().unwrap().clone().unwrap_or_default())
    }

    async fn context_length(&self) -> Option<u64> {
        *self.context.lock().unwrap()
    }

    fn refused_parts(&self) -> Vec<OptionalPart> {
        self.refused.lock().unwrap().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chat::Message;
    use futures::FutureExt;

    fn request(text: &str) -> ChatRequest {
        ChatRequest { messages: vec![Message::User(text.to_owned())], ..ChatRequest::default() }
    }

    #[tokio::test]
    async fn turns_are_played_in_order_and_requests_kept() {
        let usage = TokenUsage { prompt: 3, completion: 1 };
        let model = ScriptedChatModel::new([
            Turn::refused(FaultKind::RateLimited),
            Turn::new().text("a").fault(FaultKind::Timeout),
            Turn::new().text("b").finished(Some(usage)),
        ]);
        assert!(model.stream(request("1")).await.is_err());
        let events: Vec<_> = model.stream(request("2")).await.unwrap().collect().await;
        assert_eq!(events[0].as_ref().unwrap(), &ChatEvent::Text("a".to_owned()));
        assert_eq!(events[1].as_ref().unwrap_err().kind(), FaultKind::Timeout);
        let events: Vec<_> = model.stream(request("3")).await.unwrap().collect().await;
        assert!(matches!(events[1], Ok(ChatEvent::Finished { usage: Some(found), .. }) if found == usage));
        assert!(model.is_done() && model.requests().len() == 3 && model.cut_short() == 0);
        assert!(model.stream(request("4")).await.is_err());
    }

    #[tokio::test]
    async fn a_stall_waits_until_the_answer_is_dropped() {
        let model = ScriptedChatModel::new([Turn::new().text("a").stall(), Turn::saying("one two")]);
        let mut stalled = model.stream(request("1")).await.unwrap();
        assert!(stalled.next().await.is_some());
        assert!(stalled.next().now_or_never().is_none());
        drop(stalled);
        assert_eq!(model.cut_short(), 1);
        let mut stream = model.stream(request("2")).await.unwrap();
        assert!(stream.next().await.is_some());
        drop(stream);
        assert_eq!(model.cut_short(), 2);
    }
}
