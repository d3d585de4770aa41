//! The parts of the wire format that are read, with room for what back ends make of it.

use crate::openai::fault::Told;
use docent_domain::{chat::FinishReason, usage::TokenUsage};
use serde::Deserialize;
use serde_json::Value;

/// No answer costs more tokens; a count above it would spoil the sums of the ledger.
const MAX_TOKENS: u64 = 1_000_000_000;

/// A piece of a streamed answer, or a whole one.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    #[serde(default)]
    pub(super) choices: Option<Vec<Choice>>,
    #[serde(default)]
    pub(super) usage: Option<Usage>,
    #[serde(default)]
    pub(super) model: Option<Value>,
    #[serde(default)]
    pub(super) id: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    object: Option<Value>,
    #[serde(default)]
    message: Option<Value>,
    #[serde(default)]
    code: Option<Value>,
}

impl Chunk {
    /// The error that the piece tells of, if it does.
    pub(super) fn error(&self) -> Option<Told> {
        if let Some(error) = self.error.as_ref().filter(|error| !error.is_null()) {
            return Some(Told::by_object(error));
        }
        // The error's own fields, without an object around them.
        let is_error = self.object.as_ref().and_then(Value::as_str) == Some("error");
        is_error.then(|| Told::by_object(&serde_json::json!({ "message": self.message, "code": self.code })))
    }
}

/// The error that an event of the type `error` tells of.
pub(super) fn error_event(data: &str) -> Told {
    let value = serde_json::from_str::<Value>(data).unwrap_or_default();
    Told::by_object(value.get("error").unwrap_or(&value))
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(default)]
    pub(super) delta: Option<Delta>,
    /// What takes the place of `delta` in a whole answer.
    #[serde(default)]
    pub(super) message: Option<Delta>,
    #[serde(default)]
    finish_reason: Option<Value>,
}

impl Choice {
    pub(super) fn finish_reason(&self) -> Option<FinishReason> {
        match self.finish_reason.as_ref()? {
            Value::Null => None,
            Value::String(reason) => match reason.as_str() {
                "" => None,
                "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Some(FinishReason::Stop),
                "tool_calls" | "function_call" | "tool_use" => Some(FinishReason::ToolCalls),
                "length" | "max_tokens" | "model_length" => Some(FinishReason::Length),
                _ => Some(FinishReason::Other),
            },
            _ => Some(FinishReason::Other),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta {
    #[serde(default)]
    content: Option<Value>,
    /// Words by which some models decline, in place of `content`.
    #[serde(default)]
    refusal: Option<String>,
    /// Thoughts of the model, which are not for the reader, under one or both of the names that they go by.
    #[serde(default)]
    reasoning: Option<Value>,
    #[serde(default)]
    reasoning_content: Option<Value>,
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallDelta>>,
}

impl Delta {
    /// Whether it holds anything but empty fields.
    pub(super) fn says_something(&self) -> bool {
        let is_empty = |value: &Option<Value>| match value {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(parts)) => parts.is_empty(),
            Some(_) => false,
        };
        !is_empty(&self.content)
            || !is_empty(&self.reasoning)
            || !is_empty(&self.reasoning_content)
            || self.refusal.as_ref().is_some_and(|text| !text.is_empty())
            || self.tool_calls.iter().flatten().any(CallDelta::says_something)
    }

    /// Its text: a string, or the text of a list of parts.
    pub(super) fn text(&self) -> String {
        let mut text = match &self.content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts.iter().filter_map(part_text).collect(),
            _ => String::new(),
        };
        text.push_str(self.refusal.as_deref().unwrap_or_default());
        text
    }
}

fn part_text(part: &Value) -> Option<&str> {
    part.as_str().or_else(|| {
        // Parts of other types, such as a model's thoughts, are not for the reader.
        let is_text = part.get("type").and_then(Value::as_str).is_none_or(|kind| kind == "text");
        is_text.then(|| part.get("text")?.as_str()).flatten()
    })
}

/// A piece of a tool call.
#[derive(Debug, Deserialize)]
pub(super) struct CallDelta {
    #[serde(default)]
    pub(super) index: Option<i64>,
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    pub(super) function: Option<FunctionDelta>,
}

impl CallDelta {
    fn says_something(&self) -> bool {
        let Some(FunctionDelta { name, arguments }) = &self.function else { return false };
        let is_text = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
        is_text(name) || !matches!(arguments, None | Some(Value::Null)) && arguments != &Some(Value::from(""))
    }

    /// Its id; empty when there is none.
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
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    arguments: Option<Value>,
}

impl FunctionDelta {
    /// The next piece of the arguments; those that come as JSON are written out.
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
    #[serde(default)]
    prompt_tokens: Option<Value>,
    #[serde(default)]
    completion_tokens: Option<Value>,
    /// Other names for the same; some back ends send both.
    #[serde(default)]
    input_tokens: Option<Value>,
    #[serde(default)]
    output_tokens: Option<Value>,
}

impl Usage {
    /// The numbers; `None` when there are none, which some back ends say with zeros, or when they make no sense.
    pub(super) fn tokens(self) -> Option<TokenUsage> {
        let number = |value: Option<Value>| {
            let value = value?;
            // Not a whole number, but one all the same.
            value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
        };
        let prompt = number(self.prompt_tokens).or(number(self.input_tokens)).unwrap_or_default();
        let completion = number(self.completion_tokens).or(number(self.output_tokens)).unwrap_or_default();
        let makes_sense = prompt <= MAX_TOKENS && completion <= MAX_TOKENS;
        (makes_sense && (prompt > 0 || completion > 0)).then_some(TokenUsage { prompt, completion })
    }
}
