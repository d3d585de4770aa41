//! Wire types of chat responses, lenient towards deviations of back ends.

use crate::openai::fault::BackendError;
use docent_domain::chat::FinishReason;
use docent_domain::usage::TokenUsage;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Upper bound of plausible token counts; larger ones would distort the usage totals.
const MAX_TOKENS: u64 = 1_000_000_000;

/// A chunk of a streamed response, or a whole response. Fields whose type differs between back ends are read on use: there is
/// a chunk for each token.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    pub(super) usage: Option<Usage>,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    code: Option<&'a RawValue>,
}

impl Chunk<'_> {
    /// The error that the chunk reports, if any.
    pub(super) fn error(&self) -> Option<BackendError> {
        if let Some(error) = self.error {
            return Some(BackendError::from_json(&value(error)));
        }
        // Some back ends send the error's fields without an enclosing object.
        let is_error = self.object.is_some_and(|object| object.get() == "\"error\"");
        is_error.then(|| {
            let [message, code] = [self.message, self.code].map(|field| field.map(value));
            BackendError::from_json(&serde_json::json!({ "message": message, "code": code }))
        })
    }
}

fn value(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}

/// The text of a string; none of another value.
pub(super) fn string(raw: &RawValue) -> Option<String> {
    raw.get().starts_with('"').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// Whether a value is an empty string or list.
fn is_empty(raw: &RawValue) -> bool {
    match raw.get() {
        "\"\"" | "[]" => true,
        list => list.starts_with('[') && value(raw) == Value::Array(Vec::new()),
    }
}

/// Parses an event of type `error`.
pub(super) fn error_event(data: &str) -> BackendError {
    let value = serde_json::from_str::<Value>(data).unwrap_or_default();
    BackendError::from_json(value.get("error").unwrap_or(&value))
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    pub(super) index: Option<i64>,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    /// Replaces `delta` in a response that is not streamed.
    #[serde(borrow)]
    pub(super) message: Option<Delta<'a>>,
    finish_reason: Option<Value>,
}

impl Choice<'_> {
    pub(super) fn finish_reason(&self) -> Option<FinishReason> {
        match self.finish_reason.as_ref()? {
            Value::Null => None,
            Value::String(reason) => match reason.as_str() {
                "" => None,
                "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Some(FinishReason::Stop),
                "tool_calls" | "function_call" | "tool_use" => Some(FinishReason::ToolCalls),
                "length" | "max_tokens" | "model_length" => Some(FinishReason::Length),
                "content_filter" | "content_filtered" | "safety" | "SAFETY" | "sensitive" | "RECITATION" => {
                    Some(FinishReason::ContentFilter)
                }
                _ => Some(FinishReason::Other),
            },
            _ => Some(FinishReason::Other),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    /// A refusal, which some models send instead of `content`.
    refusal: Option<String>,
    /// Reasoning, which is no text of the answer, under one of its common names. Some back ends send it under
    /// two.
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    pub(super) tool_calls: Option<Vec<ToolCallDelta>>,
    /// The only tool call, in the format before `tool_calls`.
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
}

impl Delta<'_> {
    /// Whether any field is not empty.
    pub(super) fn has_content(&self) -> bool {
        let values = [self.content, self.reasoning, self.reasoning_content, self.thinking];
        let may_be_text = |raw: &RawValue| raw.get().starts_with(['"', '[', '{']);
        values.into_iter().flatten().any(|raw| may_be_text(raw) && !is_empty(raw))
            || self.refusal.as_ref().is_some_and(|text| !text.is_empty())
            || self.tool_calls.iter().flatten().any(ToolCallDelta::has_content)
            || self.function_call.is_some_and(|raw| raw.get() != "null")
    }

    /// The text and the reasoning, from strings or lists of parts.
    pub(super) fn text(&self) -> (String, String) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut fields = [self.reasoning, self.reasoning_content, self.thinking].into_iter().flatten();
        if let Some(field) = fields.find(|raw| raw.get() != "null" && !is_empty(raw)) {
            add_text(&value(field), &mut reasoning);
        }
        match self.content.map(|raw| string(raw).ok_or_else(|| value(raw))) {
            None => {}
            Some(Ok(content)) => text = content,
            Some(Err(Value::Array(parts))) => {
                parts.iter().for_each(|part| add_part(part, &mut text, &mut reasoning));
            }
            Some(Err(part)) => add_part(&part, &mut text, &mut reasoning),
        }
        text.push_str(self.refusal.as_deref().unwrap_or_default());
        (text, reasoning)
    }

    /// The tool call in the older format.
    pub(super) fn legacy_call(&self) -> Option<ToolCallDelta> {
        let function = serde_json::from_str(self.function_call?.get()).ok()?;
        Some(ToolCallDelta { index: None, id: None, function: Some(function) })
    }
}

/// Adds a part of a message to the text or the reasoning; parts of other types are ignored.
fn add_part(part: &Value, text: &mut String, reasoning: &mut String) {
    match part.get("type").and_then(Value::as_str) {
        None | Some("text" | "output_text") => add_text(part, text),
        Some("thinking" | "reasoning" | "reasoning_text" | "summary_text") => add_text(part, reasoning),
        Some(_) => {}
    }
}

/// Adds the text of a string, a list of parts, or a field of a part.
fn add_text(value: &Value, text: &mut String) {
    match value {
        Value::String(string) => text.push_str(string),
        Value::Array(parts) => parts.iter().for_each(|part| add_text(part, text)),
        Value::Object(part) => {
            let names = ["text", "thinking", "reasoning", "content", "summary"];
            if let Some(inner) = names.iter().find_map(|name| part.get(*name)) {
                add_text(inner, text);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A piece of a tool call.
#[derive(Debug, Deserialize)]
pub(super) struct ToolCallDelta {
    pub(super) index: Option<i64>,
    id: Option<Value>,
    pub(super) function: Option<FunctionDelta>,
}

impl ToolCallDelta {
    fn has_content(&self) -> bool {
        let Some(FunctionDelta { name, arguments }) = &self.function else { return false };
        let is_text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        is_text(name) || !matches!(arguments, None | Some(Value::Null)) && arguments != &Some(Value::from(""))
    }

    /// The ID; empty if missing.
    pub(super) fn id(&self) -> String {
        match &self.id {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(id)) => id.clone(),
            Some(other) => other.to_string(),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct FunctionDelta {
    pub(super) name: Option<String>,
    arguments: Option<Value>,
}

impl FunctionDelta {
    /// This piece of the arguments; a JSON value is serialized.
    pub(super) fn arguments(self) -> String {
        match self.arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Usage {
    prompt_tokens: Option<Value>,
    completion_tokens: Option<Value>,
    /// Alternative names; some back ends send both.
    input_tokens: Option<Value>,
    output_tokens: Option<Value>,
}

impl Usage {
    /// The token counts; `None` if they are missing, zero (which some back ends send instead) or implausible.
    pub(super) fn tokens(self) -> Option<TokenUsage> {
        let number = |value: Option<Value>| {
            let value = value?;
            // Some back ends send floating-point counts.
            value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
        };
        let prompt = number(self.prompt_tokens).or(number(self.input_tokens)).unwrap_or_default();
        let completion = number(self.completion_tokens).or(number(self.output_tokens)).unwrap_or_default();
        let is_plausible = prompt <= MAX_TOKENS && completion <= MAX_TOKENS;
        (is_plausible && (prompt > 0 || completion > 0)).then_some(TokenUsage { prompt, completion })
    }
}
