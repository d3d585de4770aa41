//! The parts of the wire format that are read, with room for what back ends make of it.

use crate::openai::fault::Told;
use docent_domain::{chat::FinishReason, usage::TokenUsage};
use serde::Deserialize;
use serde_json::Value;

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
    #[serde(default)]
    pub(super) tool_calls: Option<Vec<CallDelta>>,
}

impl Delta {
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
    #[serde(default, alias = "input_tokens")]
    prompt_tokens: Option<Value>,
    #[serde(default, alias = "output_tokens")]
    completion_tokens: Option<Value>,
}

impl Usage {
    /// The numbers; `None` when there are none, which some back ends say with zeros.
    pub(super) fn tokens(self) -> Option<TokenUsage> {
        let number = |value: Option<Value>| {
            let value = value?;
            // Not a whole number, but one all the same.
            value.as_u64().or_else(|| value.as_f64().map(|number| number as u64))
        };
        let prompt = number(self.prompt_tokens).unwrap_or_default();
        let completion = number(self.completion_tokens).unwrap_or_default();
        (prompt + completion > 0).then_some(TokenUsage { prompt, completion })
    }
}
