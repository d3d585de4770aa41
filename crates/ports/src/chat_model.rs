//! Chat models.

use async_trait::async_trait;
use docent_domain::chat::{FinishReason, FunctionSpec, Message, Sampling, ToolCall, ToolSpec};
use docent_domain::explanation::UnitRatings;
use docent_domain::fault::{Fault, Result};
use docent_domain::retrieval::ScoredChunk;
use docent_domain::spelling::Correction;
use docent_domain::usage::TokenUsage;
use futures_core::Stream;
use std::pin::Pin;

/// A request to a chat model.
#[derive(Clone, Debug, Default)]
pub struct ChatRequest {
    /// Messages of the conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model can call.
    pub tools: Vec<ToolSpec>,
    /// Functions of the client that the model can call. A model that reads records calls none.
    pub functions: Vec<FunctionSpec>,
    /// How the model chooses among likely tokens. A model that reads records ignores it.
    pub sampling: Sampling,
    /// A PNG that the last message is about, for models that see pictures. A model that reads records ignores it.
    pub picture: Option<Vec<u8>>,
    /// Maximum number of tokens of the answer, with its reasoning. `None` for the limit of the back end. Not
    /// every back end keeps it.
    pub max_tokens: Option<u32>,
}

/// A part of requests that some back ends refuse, and that is left out or replaced for these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionalPart {
    /// The request for the token usage.
    Usage,
    /// System messages after the first message. All are sent as one message at the beginning.
    LaterSystemMessages,
    /// Streaming. The answer arrives at once.
    Streaming,
    /// [`ChatRequest::max_tokens`].
    MaxTokens,
}

/// An event of a model's answer stream.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// A piece of text; never empty.
    Text(String),
    /// A piece of what the model wrote for itself before its answer; never empty. It is not part of the
    /// answer.
    Reasoning(String),
    /// Texts of which the user can send one as the next message, since the answer asks which is meant; never empty.
    Choices(Vec<String>),
    /// A complete tool call.
    ToolCall(ToolCall),
    /// End of the answer. Always the last event.
    Finished {
        /// Why the model stopped.
        reason: FinishReason,
        /// Token usage; `None` if the back end does not report it.
        usage: Option<TokenUsage>,
    },
}

/// The stream of a model's answer. Dropping it stops the model. The stream ends after [`ChatEvent::Finished`] or
/// the first error; anything else is a bug in the adapter.
pub type ChatStream = Pin<Box<dyn Stream<Item = Result<ChatEvent, Fault>> + Send>>;

/// A chat model that can call tools.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Starts an answer. Faults before the first event are returned as `Err`, later ones in the stream.
    async fn stream(&self, request: ChatRequest) -> Result<ChatStream>;

    /// Name of the model, for records.
    fn model(&self) -> &str;

    /// Whether it can use tools about the records of documents, besides the search: it has no language model that would
    /// find the answer in passages.
    fn reads_records(&self) -> bool {
        false
    }

    /// How it rates the parts of passages that a search for the question found, after these corrections. `None` for a language
    /// model, which gives no reasons that could be checked.
    async fn rate(
        &self,
        _question: &str,
        _passages: &[ScoredChunk],
        _corrections: &[Correction],
    ) -> Option<UnitRatings> {
        None
    }

    /// Address of the back end, without credentials; `None` for a model that is part of the service.
    fn address(&self) -> Option<String> {
        None
    }

    /// Names of the models that the back end offers. Empty without a back end. Can be repeated.
    async fn models(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    /// Number of tokens of question and answer that the back end has room for; `None` if it does not say. Can
    /// be repeated.
    async fn context_length(&self) -> Option<u64> {
        None
    }

    /// The parts of requests that the back end has refused so far.
    fn refused_parts(&self) -> Vec<OptionalPart> {
        Vec::new()
    }
}
