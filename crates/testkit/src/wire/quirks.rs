//! A chat server that does not support everything.

use super::Reply;
use serde_json::{Value, json};

/// How a server deals with a conversation that is longer than its context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContextLimit {
    /// It refuses it, and has the length in its list of models.
    Listed,
    /// It refuses it, and names the length.
    Named,
    /// It refuses it without the length.
    Unnamed,
    /// It reads the last words only, and says nothing.
    Cut,
}

/// What a chat server does not support. By default it supports everything.
#[derive(Clone, Debug, Default)]
pub struct Quirks {
    /// Whether it has no list of models.
    pub has_no_list: bool,
    /// Refuses tools, with this status and message.
    pub refuses_tools: Option<(u16, &'static str)>,
    /// Whether it refuses system messages after the first message.
    pub refuses_later_system_messages: bool,
    /// Refuses requests with these fields.
    pub refused_fields: Vec<&'static str>,
    /// The length of the context in words.
    pub context: Option<(usize, ContextLimit)>,
    /// The arguments of calls of `search_docs`, in the place of valid ones.
    pub arguments: Option<&'static str>,
    /// Whether the model writes reasoning and nothing else, until the client hangs up.
    pub reasons_forever: bool,
}

impl Quirks {
    /// Adds the length of the context to a model of the list.
    pub(super) fn describe(&self, model: &mut Value) {
        if let Some((length, ContextLimit::Listed)) = self.context {
            model["max_model_len"] = json!(length);
        }
    }

    /// The number of words that are read of this many.
    pub(super) fn read(&self, words: usize) -> usize {
        match self.context {
            Some((length, ContextLimit::Cut)) => words.min(length),
            _ => words,
        }
    }

    /// The refusal of a chat request of this many words.
    pub(super) fn refusal(&self, body: &Value, words: usize) -> Option<Reply> {
        let refuse = |status, message: String| {
            Some(Reply::json(status, json!({"error": {"message": message}}).to_string()))
        };
        let messages = body["messages"].as_array().into_iter().flatten();
        let has_later_system_message = messages.skip(1).any(|message| message["role"] == "system");
        let field = self.refused_fields.iter().find(|field| body.get(**field).is_some());
        if let Some(field) = field {
            return refuse(
                400,
                format!("Unsupported parameter: '{field}' is not supported with this model."),
            );
        }
        match (self.refuses_tools, self.context) {
            (Some((status, message)), _) if body["tools"].is_array() => refuse(status, message.to_owned()),
            (_, Some((length, ContextLimit::Listed | ContextLimit::Named))) if words > length => refuse(
                400,
                format!(
                    "This model's maximum context length is {length} tokens. Your messages have {words}."
                ),
            ),
            (_, Some((length, ContextLimit::Unnamed))) if words > length => {
                refuse(400, "The prompt is too long.".to_owned())
            }
            _ if self.refuses_later_system_messages && has_later_system_message => {
                refuse(400, "System message must be at the beginning.".to_owned())
            }
            _ if self.reasons_forever => Some(reasoning()),
            _ => None,
        }
    }
}

/// Reasoning without an end: more than a client reads, and then nothing.
fn reasoning() -> Reply {
    let delta = json!({"reasoning_content": "I think about this again. ".repeat(100)});
    let chunk = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]}).to_string();
    (0..100).fold(Reply::events(&[]), |reply, _| reply.event(&chunk)).stall()
}
