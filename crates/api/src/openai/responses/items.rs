//! Items of the input of a response, and the messages that they are for the model.

use super::object::{FileCitation, FileSearchResult};
use docent_domain::chat::{Message, ToolCall, ToolOutput};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// Maximum number of items of a request.
pub(super) const ITEMS_MAX: usize = 10_000;

/// An item of the input.
#[derive(Clone, Debug, Deserialize, PartialEq, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ResponseInputItem {
    /// A message.
    Message {
        /// Author of the message.
        role: ItemRole,
        /// Text of the message.
        #[serde(deserialize_with = "text_of")]
        #[schema(value_type = ItemContent)]
        content: String,
    },
    /// A call of a function of the client, from an earlier response.
    FunctionCall {
        /// ID of the call.
        call_id: String,
        /// Name of the function.
        name: String,
        /// The arguments as JSON text.
        arguments: String,
    },
    /// What the function returned.
    FunctionCallOutput {
        /// ID of the call.
        call_id: String,
        /// The output.
        #[serde(deserialize_with = "text_of")]
        #[schema(value_type = ItemContent)]
        output: String,
    },
    /// A search of an earlier response. It is repeated if the user has written nothing since.
    FileSearchCall {
        /// What was searched for.
        queries: Vec<String>,
    },
    /// An item of the output of a stored response.
    ItemReference {
        /// ID of the item.
        id: String,
    },
}

/// Author of a message.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemRole {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// Instructions.
    System,
    /// Instructions, too.
    Developer,
}

impl ItemRole {
    const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
            Self::Developer => "developer",
        }
    }
}

/// An item of the input, as clients read it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents what `ResponseInputItem::to_json` returns")]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ListedInputItem {
    /// A message.
    Message {
        /// ID of the item.
        id: String,
        /// Author of the message.
        role: ItemRole,
        /// Always `completed`.
        status: String,
        /// The text.
        content: Vec<ListedText>,
        /// Always null.
        #[schema(required)]
        phase: Option<bool>,
    },
    /// A call of a function of the client.
    FunctionCall {
        /// ID of the item.
        id: String,
        /// ID of the call.
        call_id: String,
        /// Name of the function.
        name: String,
        /// The arguments as JSON text.
        arguments: String,
        /// Always `completed`.
        status: String,
    },
    /// What the function returned.
    FunctionCallOutput {
        /// ID of the item.
        id: String,
        /// ID of the call.
        call_id: String,
        /// The output.
        output: String,
        /// Always `completed`.
        status: String,
    },
    /// A search of an earlier response.
    FileSearchCall {
        /// ID of the item.
        id: String,
        /// What was searched for.
        queries: Vec<String>,
        /// Always `completed`.
        status: String,
        /// Always null: the client need not send results.
        #[schema(required)]
        results: Option<Vec<FileSearchResult>>,
    },
}

/// Text of an item of the input.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents what `ResponseInputItem::to_json` returns")]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ListedText {
    /// Text of the user or of instructions.
    InputText {
        /// The text.
        text: String,
    },
    /// Text of the model.
    OutputText {
        /// The text.
        text: String,
        /// Always empty: citations are of an earlier response.
        annotations: Vec<FileCitation>,
        /// Always empty.
        logprobs: Vec<Value>,
    },
}

/// Text as a string or as parts.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents what `text_of` reads")]
#[serde(untagged)]
pub(crate) enum ItemContent {
    /// A string.
    Text(String),
    /// Parts, which are joined by line breaks.
    Parts(Vec<ItemPart>),
}

/// A part of a text.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ItemPart {
    /// Text of the user, of instructions or of a function.
    InputText {
        /// The text.
        text: String,
    },
    /// Text of the model.
    OutputText {
        /// The text.
        text: String,
    },
    /// A refusal of the model.
    Refusal {
        /// The text.
        refusal: String,
    },
}

fn text_of<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    use serde::de::Error;
    let parts = match Value::deserialize(deserializer)? {
        Value::String(text) => return Ok(text),
        Value::Array(parts) => parts,
        _ => return Err(D::Error::custom("a text must be a string or a list of parts")),
    };
    let text = |part| match serde_json::from_value(part).map_err(D::Error::custom)? {
        ItemPart::InputText { text } | ItemPart::OutputText { text } => Ok(text),
        ItemPart::Refusal { refusal } => Ok(refusal),
    };
    Ok(parts.into_iter().map(text).collect::<Result<Vec<_>, D::Error>>()?.join("\n"))
}

impl ResponseInputItem {
    /// A message of the user.
    pub(super) const fn question(content: String) -> Self {
        Self::Message { role: ItemRole::User, content }
    }

    /// Parses an item.
    ///
    /// # Errors
    /// A sentence about what is wrong or not supported.
    pub(super) fn parse(mut value: Value) -> Result<Self, String> {
        let Some(fields) = value.as_object_mut() else { return Err("must be an object".to_owned()) };
        if fields.get("type").is_none_or(Value::is_null) {
            let is_reference = fields.contains_key("id") && !fields.contains_key("role");
            let kind = if is_reference { "item_reference" } else { "message" };
            fields.insert("type".to_owned(), kind.into());
        }
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// The beginning of its ID. The items of the output have others.
    pub(super) const fn prefix(&self) -> &'static str {
        match self {
            Self::Message { .. } => "msg_in",
            Self::FunctionCall { .. } => "fc_in",
            Self::FunctionCallOutput { .. } => "fco_in",
            Self::FileSearchCall { .. } => "fs_in",
            Self::ItemReference { .. } => "item_in",
        }
    }

    /// The item as clients read it, with this ID.
    pub(super) fn to_json(&self, id: &str) -> Value {
        let mut item = match self {
            Self::Message { role, content } => {
                let part = match role {
                    ItemRole::Assistant => {
                        json!({ "type": "output_text", "text": content, "annotations": [], "logprobs": [] })
                    }
                    ItemRole::User | ItemRole::System | ItemRole::Developer => {
                        json!({ "type": "input_text", "text": content })
                    }
                };
                json!({ "type": "message", "role": role.name(), "content": [part], "phase": null })
            }
            Self::FunctionCall { call_id, name, arguments } => {
                json!({ "type": "function_call", "call_id": call_id, "name": name, "arguments": arguments })
            }
            Self::FunctionCallOutput { call_id, output } => {
                json!({ "type": "function_call_output", "call_id": call_id, "output": output })
            }
            Self::FileSearchCall { queries } => {
                json!({ "type": "file_search_call", "queries": queries, "results": null })
            }
            Self::ItemReference { .. } => json!({ "type": "item_reference" }),
        };
        item["id"] = id.into();
        item["status"] = "completed".into();
        item
    }
}

/// What was searched for since the last message of the user, each text once.
pub(super) fn searches_since_question(items: &[ResponseInputItem]) -> Vec<String> {
    let is_question =
        |item: &ResponseInputItem| matches!(item, ResponseInputItem::Message { role: ItemRole::User, .. });
    let after = items.iter().rposition(is_question).map_or(0, |at| at + 1);
    let mut searches: Vec<String> = Vec::new();
    for item in &items[after..] {
        if let ResponseInputItem::FileSearchCall { queries } = item {
            for query in queries {
                if !query.is_empty() && !searches.contains(query) {
                    searches.push(query.clone());
                }
            }
        }
    }
    searches
}

/// The messages of these items. Calls of functions belong to the message of the model before them.
///
/// # Errors
/// A sentence about a call without an output, or an output without a call.
pub(in crate::openai) fn messages(items: Vec<ResponseInputItem>) -> Result<Vec<Message>, String> {
    let (mut messages, mut open): (Vec<Message>, Vec<String>) = (Vec::new(), Vec::new());
    for item in items {
        if let (ResponseInputItem::Message { .. }, Some(call)) = (&item, open.first()) {
            return Err(no_output(call));
        }
        match item {
            ResponseInputItem::Message { role: ItemRole::User, content } => {
                messages.push(Message::User(content))
            }
            ResponseInputItem::Message { role: ItemRole::System | ItemRole::Developer, content } => {
                messages.push(Message::System(content));
            }
            ResponseInputItem::Message { role: ItemRole::Assistant, content } => {
                messages.push(Message::Assistant { content, tool_calls: Vec::new() });
            }
            ResponseInputItem::FunctionCall { call_id, name, arguments } => {
                open.push(call_id.clone());
                let call = ToolCall { id: call_id, name, arguments };
                match messages.last_mut() {
                    Some(Message::Assistant { tool_calls, .. }) => tool_calls.push(call),
                    _ => messages.push(Message::Assistant { content: String::new(), tool_calls: vec![call] }),
                }
            }
            ResponseInputItem::FunctionCallOutput { call_id, output } => {
                let Some(at) = open.iter().position(|call| *call == call_id) else {
                    return Err(format!("has no call for the function output {call_id:?}"));
                };
                open.remove(at);
                messages.push(Message::Tool(ToolOutput {
                    call_id,
                    content: output,
                    ..ToolOutput::default()
                }));
            }
            ResponseInputItem::FileSearchCall { .. } | ResponseInputItem::ItemReference { .. } => {}
        }
    }
    match open.first() {
        Some(call) => Err(no_output(call)),
        None => Ok(messages.into_iter().filter(|message| !is_empty_answer(message)).collect()),
    }
}

fn no_output(call: &str) -> String {
    format!("has no output for the function call {call:?}")
}

/// An answer that was cut off before its first text.
fn is_empty_answer(message: &Message) -> bool {
    matches!(message, Message::Assistant { content, tool_calls } if content.is_empty() && tool_calls.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: Value) -> Result<ResponseInputItem, String> {
        ResponseInputItem::parse(value)
    }

    #[test]
    fn item_is_parsed_with_and_without_its_type() {
        let question = ResponseInputItem::question("One\ntwo".to_owned());
        let parts = json!([{ "type": "input_text", "text": "One" }, { "type": "input_text", "text": "two" }]);
        for value in [
            json!({ "role": "user", "content": "One\ntwo" }),
            json!({ "role": "user", "content": parts, "type": "message", "id": "msg_1" }),
        ] {
            assert_eq!(parse(value).unwrap(), question);
        }
        assert_eq!(
            parse(json!({ "id": "m" })).unwrap(),
            ResponseInputItem::ItemReference { id: "m".to_owned() }
        );
        assert_eq!(parse(question.to_json("msg_1")).unwrap(), question);
    }

    #[test]
    fn unsupported_items_and_parts_are_named() {
        for (value, named) in [
            (json!({ "type": "web_search_call" }), "web_search_call"),
            (json!({ "type": "reasoning", "summary": [] }), "reasoning"),
            (
                json!({ "role": "user", "content": [{ "type": "input_image", "image_url": "x" }] }),
                "input_image",
            ),
            (json!({ "role": "tool", "content": "x" }), "tool"),
            (json!({ "role": "user" }), "content"),
            (json!({ "role": "user", "content": 1 }), "string"),
            (json!("text"), "object"),
        ] {
            let error = parse(value.clone()).unwrap_err();
            assert!(error.contains(named), "{value}: {error}");
        }
    }

    #[test]
    fn calls_belong_to_the_answer_before_them_and_need_outputs() {
        let call =
            |id: &str| json!({ "type": "function_call", "call_id": id, "name": "f", "arguments": "{}" });
        let output = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "4" });
        let (question, answer) =
            (json!({ "role": "user", "content": "q" }), json!({ "role": "assistant", "content": "a" }));
        let of = |values: &[&Value]| {
            messages(values.iter().map(|value| parse((*value).clone()).unwrap()).collect())
        };
        let found = of(&[&question, &answer, &call("1"), &call("2"), &output("2"), &output("1")]).unwrap();
        let [
            Message::User(_),
            Message::Assistant { content, tool_calls },
            Message::Tool(_),
            Message::Tool(last),
        ] = &found[..]
        else {
            panic!("{found:?}")
        };
        assert_eq!((content.as_str(), tool_calls.len(), last.call_id.as_str()), ("a", 2, "1"));
        assert!(matches!(&of(&[&question, &call("1"), &output("1")]).unwrap()[1], Message::Assistant { .. }));
        for wrong in [&[&question, &call("1")][..], &[&call("1"), &question], &[&question, &output("1")]] {
            assert!(of(wrong).unwrap_err().contains("\"1\""));
        }
    }
}
