//! Chat models.

use crate::error::{Fault, Result};
use async_trait::async_trait;
use docent_domain::{
    chat::{FinishReason, Message, ToolCall, ToolSpec},
    usage::TokenUsage,
};
use futures_core::Stream;
use std::pin::Pin;

/// What a model is asked.
#[derive(Clone, Debug)]
pub struct ChatRequest {
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that it may ask for.
    pub tools: Vec<ToolSpec>,
}

/// What a model sends while it answers.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// The next piece of text; never empty.
    Text(String),
    /// A tool that it asks for, whole.
    ToolCall(ToolCall),
    /// The answer is complete. The last event.
    Finished {
        /// Why it stopped.
        reason: FinishReason,
        /// What it cost; `None` when the back end does not say.
        usage: Option<TokenUsage>,
    },
}

/// A model's answer as it comes. Dropping it stops the model. It ends after
/// [`ChatEvent::Finished`] or the first error; ending without either is a bug of the adapter.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatEvent, Fault>> + Send>>;

/// A model that answers conversations and may ask for tools.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Begins an answer. Faults known before the first event come as `Err`, later ones in the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream>;

    /// The model's name, for records.
    fn model(&self) -> &str;
}
