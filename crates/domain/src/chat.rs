//! Chat messages, tools and agent names.

use crate::error::ValidationError;
use crate::retrieval::ScoredChunk;
use crate::spelling::Correction;
use std::fmt;

/// A message sent to a chat model.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// System prompt.
    System(String),
    /// Message from the user.
    User(String),
    /// Message from the model, with its tool calls.
    Assistant {
        /// Text; may be empty if there are tool calls.
        content: String,
        /// Tool calls in order.
        tool_calls: Vec<ToolCall>,
    },
    /// Output of a tool.
    Tool(ToolOutput),
}

impl Message {
    /// The text of the message.
    pub fn content(&self) -> &str {
        match self {
            Self::System(text) | Self::User(text) | Self::Assistant { content: text, .. } => text,
            Self::Tool(output) => &output.content,
        }
    }
}

/// A tool call requested by a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolCall {
    /// ID of the call, given by the model and repeated in the output.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Arguments as unvalidated JSON text.
    pub arguments: String,
}

/// The output of a [`ToolCall`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// ID of the call.
    pub call_id: String,
    /// Text for the model.
    pub content: String,
    /// Whether the call failed; `content` says why.
    pub is_error: bool,
    /// Passages that `content` is based on; not sent to the model.
    pub passages: Vec<ScoredChunk>,
    /// Score of the best passage, if scores of different searches are comparable.
    pub best_score: Option<f32>,
    /// Scores of the passages from 0 to 1, if they are of one search.
    pub scores: Vec<f64>,
    /// Words of the search that were read as others, as `content` says.
    pub corrections: Vec<Correction>,
}

/// The description of a tool for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// Name of the tool.
    pub name: &'static str,
    /// Description of what the tool does.
    pub description: &'static str,
    /// JSON Schema of the arguments.
    pub parameters: &'static str,
}

/// A function of a client, which the client runs if the model calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionSpec {
    /// Name of the function.
    pub name: String,
    /// Description of what the function does; may be empty.
    pub description: String,
    /// JSON Schema of the arguments as JSON text.
    pub parameters: String,
}

/// How the model chooses among likely tokens. `None` for the choice of the back end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Randomness, from 0 to 2.
    pub temperature: Option<f64>,
    /// Share of the probability whose tokens are considered, from 0 to 1.
    pub top_p: Option<f64>,
}

/// The name of an agent: 1 to 64 characters of `a-z`, `0-9`, `-`, `_`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AgentName(String);

impl AgentName {
    /// Parses a name.
    ///
    /// # Errors
    /// If it is empty, too long or contains other characters.
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

/// Why a model stopped generating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FinishReason {
    /// The answer is complete.
    Stop,
    /// The answer is complete: it says that the documents do not contain what was asked for, or may not.
    Declined,
    /// The model waits for tool outputs.
    ToolCalls,
    /// The token limit was reached.
    Length,
    /// A content filter of the back end cut the answer.
    ContentFilter,
    /// Another reason specific to the back end.
    Other,
}
