//! One call of a chat model that writes a text, without tools.

use docent_domain::chat::FinishReason;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::usage::TokenUsage;
use docent_ports::chat_model::{ChatEvent, ChatModel, ChatRequest};
use futures::StreamExt;
use tokio::time::Instant;

/// What the model wrote.
#[derive(Debug, Default)]
pub(crate) struct ModelText {
    /// The text; after a fault, what came before it.
    pub(crate) text: String,
    /// The usage that the back end reported.
    pub(crate) usage: Option<TokenUsage>,
    /// Whether the model stopped at its token limit or at that of the caller.
    pub(crate) is_cut: bool,
}

/// Asks the model. Reading stops after `max_bytes` of text, because some models do not end. The text is returned even if
/// the call failed, so that its tokens can be counted. Cancel-safe: dropping the future stops the model.
pub(crate) async fn ask(
    model: &dyn ChatModel,
    request: ChatRequest,
    max_bytes: usize,
    until: Instant,
) -> (ModelText, Result<()>) {
    let mut written = ModelText::default();
    let read = async {
        let mut stream = model.stream(request).await?;
        while let Some(event) = stream.next().await {
            match event? {
                ChatEvent::Text(text) => written.text.push_str(&text),
                ChatEvent::Reasoning(_) | ChatEvent::ToolCall(_) | ChatEvent::Choices(_) => {}
                ChatEvent::Finished { reason, usage } => {
                    written.usage = usage;
                    if reason == FinishReason::Length {
                        written.is_cut = true;
                        tracing::warn!("the model stopped at its token limit");
                    }
                    break;
                }
            }
            if written.text.len() > max_bytes {
                written.is_cut = true;
                break;
            }
        }
        Ok(())
    };
    let ended = tokio::time::timeout_at(until, read).await;
    let late = |_| Err(Fault::new(Component::ChatModel, FaultKind::Timeout, "the answer took too long"));
    let ended = ended.unwrap_or_else(late);
    (written, ended)
}
