//! The request body of `POST /v1/chat/completions`.

use crate::agents::ask::parse_messages;
use deserr::{Deserr, ValuePointerRef};
use docent_domain::chat::Message;
use docent_domain::error::ValidationError;
use docent_http::BodyErrors;
use docent_http::extract::deserialize::Whole;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A question, with the conversation before it. Other fields, including `temperature` and `tools`, are ignored.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({
    "model": "chat",
    "messages": [{ "role": "user", "content": "How long is the warranty?" }],
    "stream": true,
}))]
pub(crate) struct ChatCompletionRequest {
    /// Name of the agent.
    pub(super) model: String,
    /// The conversation so far. The last message is the user's and not blank; it has at most 1,000,000 characters, together with
    /// the instructions. If the other messages exceed `client_history_tokens`, the model does not receive the oldest.
    #[deserr(try_from(Vec<CompletionMessage>) = parse_messages -> ValidationError)]
    #[schema(value_type = Vec<CompletionMessage>, min_items = 1)]
    pub(super) messages: Vec<Message>,
    /// Whether to stream the answer.
    #[deserr(default)]
    pub(super) stream: Option<bool>,
    /// Options of a streamed answer.
    #[deserr(default)]
    pub(super) stream_options: Option<StreamOptions>,
    /// Number of answers. Agents return one.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1, maximum = 1)]
    pub(super) n: Option<Whole<1, 1>>,
    /// Agents use their own tools, never those of a client.
    #[deserr(default)]
    pub(super) tool_choice: Option<ToolChoice>,
    /// Former name of `tool_choice`.
    #[deserr(default)]
    pub(super) function_call: Option<ToolChoice>,
    /// Format of the answer. Only text is supported.
    #[deserr(default)]
    pub(super) response_format: Option<ResponseFormat>,
    /// Not supported: must be `false`.
    #[deserr(default, try_from(Option<bool>) = refuse_logprobs -> ValidationError)]
    pub(super) logprobs: Option<bool>,
}

/// One message of a conversation.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = CompletionMessage::require_content -> BodyErrors)]
pub(crate) struct CompletionMessage {
    /// Author of the message.
    role: CompletionRole,
    /// Text of the message. Only an answer can have none.
    #[deserr(default)]
    content: Option<MessageContent>,
}

impl CompletionMessage {
    /// An answer that only called tools has no content.
    fn require_content(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        match (&self.role, &self.content) {
            (CompletionRole::Assistant, _) | (_, Some(_)) => Ok(self),
            (_, None) => Err(BodyErrors::at(location.push_key("content"), "is required")),
        }
    }
}

impl From<CompletionMessage> for Message {
    fn from(CompletionMessage { role, content }: CompletionMessage) -> Self {
        let content = content.map_or_else(String::new, MessageContent::into_text);
        match role {
            CompletionRole::System | CompletionRole::Developer => Self::System(content),
            CompletionRole::User => Self::User(content),
            CompletionRole::Assistant => Self::Assistant { content, tool_calls: Vec::new() },
        }
    }
}

/// Author of a message. The tools of a client are not used, so there is no role for their output.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum CompletionRole {
    /// Instructions.
    System,
    /// Instructions, too.
    Developer,
    /// A question.
    User,
    /// An answer.
    Assistant,
}

/// Text as a string or as parts.
#[derive(Deserialize, Deserr, ToSchema)]
#[serde(untagged)]
#[deserr(error = BodyErrors, try_from(Value) = MessageContent::parse -> ValidationError)]
pub(crate) enum MessageContent {
    /// A string.
    Text(String),
    /// Parts, which are joined by line breaks.
    Parts(Vec<TextPart>),
}

impl MessageContent {
    fn parse(value: Value) -> Result<Self, ValidationError> {
        let is_text = |part: &TextPart| part.r#type == TEXT;
        match serde_json::from_value(value) {
            Ok(Self::Parts(parts)) if !parts.iter().all(is_text) => None,
            other => other.ok(),
        }
        .ok_or_else(|| {
            ValidationError::new("content", "must be a string or a list of parts of the type text")
        })
    }

    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().map(|part| part.text).collect::<Vec<_>>().join("\n"),
        }
    }
}

/// The only type of message parts and of answers.
const TEXT: &str = "text";

/// A part of a message.
#[derive(Deserialize, ToSchema)]
pub(crate) struct TextPart {
    /// Always `text`. Images and files are not supported.
    #[schema(pattern = "^text$")]
    r#type: String,
    /// The text.
    text: String,
}

/// Options of a streamed answer.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) struct StreamOptions {
    /// Whether the last chunk reports the usage.
    #[deserr(default)]
    pub(super) include_usage: Option<bool>,
}

/// Whether to call tools of the client. Many clients offer tools whether they are needed or not; only a request to call them is refused.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum ToolChoice {
    /// Never.
    None,
    /// If the model decides to, which it does not.
    Auto,
}

/// Format of the answer.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = ResponseFormat::require_text -> BodyErrors)]
pub(crate) struct ResponseFormat {
    /// Always `text`.
    #[deserr(rename = "type")]
    #[schema(pattern = "^text$")]
    r#type: String,
}

impl ResponseFormat {
    fn require_text(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        if self.r#type == TEXT { Ok(self) } else { Err(BodyErrors::at(location, "must be of the type text")) }
    }
}

fn refuse_logprobs(value: Option<bool>) -> Result<Option<bool>, ValidationError> {
    if value == Some(true) { Err(ValidationError::new("logprobs", "must be false")) } else { Ok(value) }
}
