//! The calls of a check, which are limited in tokens, bytes and time.

use super::RecommendedSetting;
use docent_domain::chat::{FinishReason, ToolCall};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest};
use futures::StreamExt;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Maximum number of tokens of an answer, with its reasoning.
const MAX_TOKENS: u32 = 2048;
/// Reading stops after this many bytes of text or of reasoning: not every server keeps the limit of tokens.
const MAX_BYTES: usize = 16 * 1024;
/// Maximum number of characters of text of the model in a message.
const SHOWN_CHARS: usize = 100;
/// Timeouts are recommended in steps of this many seconds.
const TIMEOUT_STEP: u64 = 30;

/// Calls the model within the time that is left.
pub(super) struct Caller<'m> {
    pub(super) model: &'m dyn ChatModel,
    until: Instant,
    step: Duration,
    /// The longest wait for the first output.
    longest_wait: Duration,
}

/// The output of a model call.
#[derive(Default)]
pub(super) struct Output {
    pub(super) text: String,
    /// Number of pieces of text.
    pub(super) pieces: usize,
    pub(super) calls: Vec<ToolCall>,
    pub(super) usage: Option<TokenUsage>,
    /// Number of bytes of reasoning.
    reasoning: usize,
    /// Whether the model reached a limit before its end.
    is_cut: bool,
    first_output: Option<Duration>,
}

impl Output {
    /// Whether the model reached the limit while it wrote its reasoning.
    pub(super) fn is_reasoning_only(&self) -> bool {
        self.is_cut && self.text.trim().is_empty() && self.calls.is_empty()
    }

    fn has_no_room(&self) -> bool {
        self.text.len() > MAX_BYTES || self.reasoning > MAX_BYTES
    }
}

impl<'m> Caller<'m> {
    pub(super) fn new(model: &'m dyn ChatModel, timeout: Duration) -> Self {
        let until = Instant::now() + timeout;
        Self { model, until, step: timeout / 2, longest_wait: Duration::ZERO }
    }

    /// When a step that begins now must have ended.
    fn step_end(&self) -> Instant {
        self.until.min(Instant::now() + self.step)
    }

    /// Waits for a call as long as a step can take.
    pub(super) async fn in_time<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let began = Instant::now();
        let late = |_| Err(chat_is_late("it did not answer", began));
        timeout_at(self.step_end(), call).await.unwrap_or_else(late)
    }

    /// Calls the model and reads its answer as far as the limits allow.
    ///
    /// # Errors
    /// A fault of the model, or `Timeout` that says how far the model came.
    pub(super) async fn call(&mut self, request: ChatRequest) -> Result<Output> {
        let request = ChatRequest { max_tokens: Some(MAX_TOKENS), ..request };
        let (began, until) = (Instant::now(), self.step_end());
        let mut output = Output::default();
        let read = timeout_at(until, read(self.model, request, &mut output, began)).await;
        self.note_wait(output.first_output.unwrap_or_default());
        match read {
            Ok(read) => read?,
            Err(_) if !output.text.is_empty() => return Err(chat_is_late("its answer had no end", began)),
            Err(_) if output.reasoning > 0 => {
                return Err(chat_is_late("it was still writing its reasoning", began));
            }
            Err(_) => return Err(chat_is_late("it had written nothing", began)),
        }
        Ok(output)
    }

    /// Records how long the model took for its first output.
    pub(super) fn note_wait(&mut self, wait: Duration) {
        self.longest_wait = self.longest_wait.max(wait);
    }

    /// The timeout to set, if the model needs more than half of this one for its first output.
    pub(super) fn longer_than(&self, timeout: Duration) -> Option<RecommendedSetting> {
        let needed = self.longest_wait * 2;
        let seconds = needed.as_secs().div_ceil(TIMEOUT_STEP).max(1) * TIMEOUT_STEP;
        (needed > timeout).then(|| RecommendedSetting::new("DOCENT_LLM_TIMEOUT", format!("{seconds}s")))
    }
}

fn chat_is_late(state: &str, began: Instant) -> Fault {
    late(Component::ChatModel, state, began)
}

/// The fault of a component whose time is over.
pub(super) fn late(component: Component, state: &str, began: Instant) -> Fault {
    let message = format!("{state} after {} s", began.elapsed().as_secs());
    Fault::new(component, FaultKind::Timeout, message)
}

async fn read(
    model: &dyn ChatModel,
    request: ChatRequest,
    output: &mut Output,
    began: Instant,
) -> Result<()> {
    let mut stream = model.stream(request).await?;
    while let Some(event) = stream.next().await {
        let event = event?;
        output.first_output.get_or_insert_with(|| began.elapsed());
        match event {
            ChatEvent::Text(text) => {
                output.pieces += 1;
                output.text.push_str(&text);
            }
            ChatEvent::Reasoning(text) => output.reasoning += text.len(),
            ChatEvent::ToolCall(call) => output.calls.push(call),
            ChatEvent::Choices(_) => {}
            ChatEvent::Finished { reason, usage } => {
                output.usage = usage;
                output.is_cut = reason == FinishReason::Length;
                break;
            }
        }
        if output.has_no_room() {
            output.is_cut = true;
            break;
        }
    }
    Ok(())
}

/// The beginning of a text, on one line.
pub(super) fn shown(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
