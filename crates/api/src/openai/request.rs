//! The request body of `POST /v1/chat/completions`.

use super::responses::items::{ItemRole, ResponseInputItem, messages};
use super::tools::{FunctionTool, FunctionToolCall};
use crate::agents::ask::check_messages;
use deserr::{Deserr, ValuePointerRef};
use docent_app::agent::TextLimits;
use docent_domain::chat::{Message, ToolCall};
use docent_domain::error::ValidationError;
use docent_http::BodyErrors;
use docent_http::extract::deserialize::Whole;
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A question, with the conversation before it. Other fields, including `temperature`, are ignored.
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
    /// The conversation so far. The last message is the user's and not blank, or the output of a function; what follows the last
    /// question has at most 1,000,000 characters, together with the question and the instructions. If the other messages exceed `history_tokens`, the model does not receive the oldest.
    #[deserr(try_from(Vec<CompletionMessage>) = parse_conversation -> ValidationError)]
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
    /// Maximum number of tokens of the answer's text, counted with the vocabulary `cl100k_base`. A longer answer ends with the
    /// `finish_reason` `length`.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub(super) max_completion_tokens: Option<Whole<1, TOKENS_MAX>>,
    /// Former name of `max_completion_tokens`. With both, the smaller one counts.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, minimum = 1)]
    pub(super) max_tokens: Option<Whole<1, TOKENS_MAX>>,
    /// Strings before which the answer ends.
    #[deserr(default)]
    pub(super) stop: Option<StopStrings>,
    /// Functions of the client, which the model can call beside the tools of the agent.
    #[deserr(default)]
    #[schema(max_items = 128)]
    pub(super) tools: Option<Vec<FunctionTool>>,
    /// Former form of `tools`. Not supported: must be empty.
    #[deserr(default, try_from(Option<Value>) = refuse_functions -> ValidationError)]
    #[schema(value_type = Option<Vec<Object>>, max_items = 0)]
    pub(super) functions: (),
    /// Whether the model can call functions of the client. No function can be required.
    #[deserr(default)]
    pub(super) tool_choice: Option<ToolChoice>,
    /// Whether the model can call several functions at once. Default: true.
    #[deserr(default)]
    pub(super) parallel_tool_calls: Option<bool>,
    /// Former form of `tool_choice`.
    #[deserr(default)]
    pub(super) function_call: Option<ToolChoice>,
    /// Format of the answer. Only text is supported.
    #[deserr(default)]
    pub(super) response_format: Option<ResponseFormat>,
    /// Not supported: must be `false`.
    #[deserr(default, try_from(Option<bool>) = refuse_logprobs -> ValidationError)]
    pub(super) logprobs: Option<bool>,
    /// Not supported: must be 0.
    #[deserr(default)]
    #[schema(value_type = Option<u64>, maximum = 0)]
    pub(super) top_logprobs: Option<Whole<0, 0>>,
    /// Not supported: must be empty.
    #[deserr(default, try_from(Option<Value>) = refuse_logit_bias -> ValidationError)]
    #[schema(value_type = Option<Object>)]
    pub(super) logit_bias: (),
    /// Forms of the answer. Only text is supported.
    #[deserr(default)]
    pub(super) modalities: Option<Vec<Modality>>,
    /// Not supported: must be null.
    #[deserr(default, try_from(Option<Value>) = refuse_web_search -> ValidationError)]
    #[schema(value_type = Option<Object>)]
    pub(super) web_search_options: (),
}

/// The largest maximum number of tokens that a client can set.
pub(super) const TOKENS_MAX: u64 = 4_294_967_295;

impl ChatCompletionRequest {
    /// The limits of the answer's text.
    pub(super) fn limits(&self) -> TextLimits {
        let maximums = [self.max_completion_tokens, self.max_tokens].into_iter().flatten();
        let max_tokens = maximums.map(|Whole(max)| usize::try_from(max).unwrap_or(usize::MAX)).min();
        let stop = self.stop.as_ref().map(StopStrings::list).unwrap_or_default();
        TextLimits { max_tokens, stop }
    }
}

/// One string or several before which the answer ends.
#[derive(Deserialize, Deserr, ToSchema)]
#[serde(untagged)]
#[deserr(error = BodyErrors, try_from(Value) = StopStrings::parse -> ValidationError)]
pub(crate) enum StopStrings {
    /// One string.
    One(StopString),
    /// At most four strings.
    Several(Vec<StopString>),
}

/// A string before which the answer ends.
#[derive(Deserialize, ToSchema)]
#[schema(min_length = 1, max_length = 1000)]
pub(crate) struct StopString(String);

impl StopStrings {
    fn parse(value: Value) -> Result<Self, ValidationError> {
        let is_valid = |stop: &String| (1..=STOP_CHARS_MAX).contains(&stop.chars().count());
        let parsed = serde_json::from_value::<Self>(value).ok().filter(|stop| {
            let list = stop.list();
            list.len() <= STOPS_MAX && list.iter().all(is_valid)
        });
        let reason = "must be a string of 1 to 1000 characters or a list of at most 4 of them";
        parsed.ok_or_else(|| ValidationError::new("stop", reason))
    }

    fn list(&self) -> Vec<String> {
        match self {
            Self::One(StopString(stop)) => vec![stop.clone()],
            Self::Several(stops) => stops.iter().map(|StopString(stop)| stop.clone()).collect(),
        }
    }
}

const STOPS_MAX: usize = 4;
const STOP_CHARS_MAX: usize = 1000;

/// Form of an answer.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Modality {
    /// Text.
    Text,
}

/// One message of a conversation.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, validate = CompletionMessage::require_fields -> BodyErrors)]
pub(crate) struct CompletionMessage {
    /// Author of the message.
    role: CompletionRole,
    /// Text of the message. Only an answer can have none.
    #[deserr(default)]
    content: Option<MessageContent>,
    /// Functions that the answer called.
    #[deserr(default)]
    tool_calls: Option<Vec<FunctionToolCall>>,
    /// The call whose output this is, for the role `tool`.
    #[deserr(default)]
    tool_call_id: Option<String>,
}

impl CompletionMessage {
    fn require_fields(self, location: ValuePointerRef<'_>) -> Result<Self, BodyErrors> {
        let missing = match (&self.role, &self.content, &self.tool_call_id) {
            // An answer that only called functions has no content.
            (CompletionRole::Assistant, ..) => None,
            (CompletionRole::Tool, Some(_), None) => Some("tool_call_id"),
            (_, None, _) => Some("content"),
            (_, Some(_), _) => None,
        };
        match missing {
            None => Ok(self),
            Some(field) => Err(BodyErrors::at(location.push_key(field), "is required")),
        }
    }

    /// The message as items, of which calls of functions are some of their own.
    fn items(self) -> Vec<ResponseInputItem> {
        let Self { role, content, tool_calls, tool_call_id } = self;
        let content = content.map_or_else(String::new, MessageContent::into_text);
        let role = match role {
            CompletionRole::System | CompletionRole::Developer => ItemRole::System,
            CompletionRole::User => ItemRole::User,
            CompletionRole::Assistant => ItemRole::Assistant,
            CompletionRole::Tool => {
                let call_id = tool_call_id.unwrap_or_default();
                return vec![ResponseInputItem::FunctionCallOutput { call_id, output: content }];
            }
        };
        let calls = tool_calls.into_iter().flatten().map(|call| {
            let ToolCall { id, name, arguments } = call.into();
            ResponseInputItem::FunctionCall { call_id: id, name, arguments }
        });
        [ResponseInputItem::Message { role, content }].into_iter().chain(calls).collect()
    }
}

/// Converts the messages of a request and checks the rules that concern all of them.
fn parse_conversation(all: Vec<CompletionMessage>) -> Result<Vec<Message>, ValidationError> {
    let items = all.into_iter().flat_map(CompletionMessage::items).collect();
    let all = messages(items).map_err(|reason| ValidationError::new("messages", reason))?;
    check_messages(&all)?;
    Ok(all)
}

/// Author of a message.
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
    /// The output of a function.
    Tool,
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

/// Whether to call functions of the client.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum ToolChoice {
    /// Never: the model does not receive them.
    None,
    /// If the model decides to.
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

/// Refuses a field that would change the meaning of the request, unless it is null or empty.
fn refuse(field: &'static str, value: Option<&Value>, reason: &str) -> Result<(), ValidationError> {
    let is_empty = match value {
        None | Some(Value::Null) => true,
        Some(Value::Array(items)) => items.is_empty(),
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_)) => false,
    };
    if is_empty { Ok(()) } else { Err(ValidationError::new(field, reason)) }
}

fn refuse_functions(value: Option<Value>) -> Result<(), ValidationError> {
    refuse("functions", value.as_ref(), "is not supported: use tools instead")
}

fn refuse_logit_bias(value: Option<Value>) -> Result<(), ValidationError> {
    refuse("logit_bias", value.as_ref(), "is not supported: it must be empty")
}

fn refuse_web_search(value: Option<Value>) -> Result<(), ValidationError> {
    match value {
        None | Some(Value::Null) => Ok(()),
        Some(_) => Err(ValidationError::new(
            "web_search_options",
            "is not supported: agents search the documents of this service, not the web",
        )),
    }
}

fn refuse_logprobs(value: Option<bool>) -> Result<Option<bool>, ValidationError> {
    if value == Some(true) { Err(ValidationError::new("logprobs", "must be false")) } else { Ok(value) }
}
