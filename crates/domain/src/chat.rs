//! Messages between people, models and tools.

use crate::{error::ValidationError, retrieval::ScoredChunk};
use std::fmt;

/// A message of a conversation, as a chat model sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// How the model is to behave.
    System(String),
    /// What a person said.
    User(String),
    /// What a model said, and the tools it asked for.
    Assistant {
        /// Its words; may be empty when it asks for tools.
        content: String,
        /// The tools it asked for, in order.
        tool_calls: Vec<ToolCall>,
    },
    /// What a tool gave back.
    Tool(ToolOutput),
}

/// A tool that a model asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// The model's id of the call; its answer carries it too.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: JSON, but nobody has checked that yet.
    pub arguments: String,
}

/// The answer to a [`ToolCall`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolOutput {
    /// The id of the call that it answers.
    pub call_id: String,
    /// What the model reads.
    pub content: String,
    /// The passages behind `content`, which no wire format has room for.
    pub passages: Vec<ScoredChunk>,
}

/// A tool as a model is told about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Its arguments as a JSON Schema.
    pub parameters: &'static str,
}

/// The name under which an agent is registered: 1 to 64 of `a-z`, `0-9`, `-`, `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentName(String);

impl AgentName {
    /// Parses a name.
    ///
    /// # Errors
    /// When it is empty, too long or holds other characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
        if text.is_empty() || text.len() > 64 || !text.chars().all(plain) {
            return Err(ValidationError::new("agent", "must be 1 to 64 of a-z, 0-9, '-' and '_'"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// It had said what it had to say.
    Stop,
    /// It waits for tools.
    ToolCalls,
    /// It reached its limit of tokens.
    Length,
    /// A content filter cut it off, or a reason of the back end's own.
    Other,
}
