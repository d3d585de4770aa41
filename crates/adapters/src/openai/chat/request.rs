//! Request bodies of chat completions.

use docent_domain::chat::{Message, ToolCall, ToolSpec};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::chat_model::ChatRequest;
use serde::Serialize;
use serde_json::Value;

/// The body of `POST /chat/completions`.
#[derive(Debug, Serialize)]
pub(super) struct ChatRequestBody<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Tool<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

/// A tool definition or a tool call.
#[derive(Debug, Serialize)]
struct Tool<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Function<'a> {
    Spec { name: &'a str, description: &'a str, parameters: Value },
    Call { name: &'a str, arguments: &'a str },
}

impl<'a> ChatRequestBody<'a> {
    /// Creates the body; `wants_usage` requests the token usage.
    ///
    /// # Errors
    /// If a tool's schema is not valid JSON.
    pub(super) fn new(model: &'a str, request: &'a ChatRequest, wants_usage: bool) -> Result<Self> {
        Ok(Self {
            model,
            messages: request.messages.iter().map(message).collect(),
            stream: true,
            stream_options: wants_usage.then_some(StreamOptions { include_usage: true }),
            tools: request.tools.iter().map(tool).collect::<Result<_>>()?,
        })
    }
}

fn message(message: &Message) -> WireMessage<'_> {
    match message {
        Message::System(content) => WireMessage::System { content },
        Message::User(content) => WireMessage::User { content },
        Message::Assistant { content, tool_calls } => WireMessage::Assistant {
            content: (tool_calls.is_empty() || !content.is_empty()).then_some(content),
            tool_calls: tool_calls.iter().map(call).collect(),
        },
        Message::Tool(output) => {
            WireMessage::Tool { tool_call_id: &output.call_id, content: &output.content }
        }
    }
}

fn call(call: &ToolCall) -> Tool<'_> {
    // Back ends parse earlier tool calls and reject the conversation if their arguments are invalid.
    // The model learns of the error from the tool's output.
    let is_object = serde_json::from_str::<serde_json::Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object { call.arguments.as_str() } else { "{}" };
    let function = Function::Call { name: &call.name, arguments };
    Tool { id: Some(&call.id), r#type: "function", function }
}

fn tool(spec: &ToolSpec) -> Result<Tool<'static>> {
    let parameters = serde_json::from_str(spec.parameters).map_err(|error| {
        let message = format!("the schema of the tool {} is not valid JSON", spec.name);
        Fault::new(Component::ChatModel, FaultKind::Internal, message).caused_by(error)
    })?;
    let function = Function::Spec { name: spec.name, description: spec.description, parameters };
    Ok(Tool { id: None, r#type: "function", function })
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chat::ToolOutput;
    use serde_json::json;

    fn request() -> ChatRequest {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "find".into(),
            arguments: arguments.into(),
        };
        let output = ToolOutput {
            call_id: "a".into(),
            content: "found".into(),
            passages: Vec::new(),
            best_score: None,
        };
        ChatRequest {
            messages: vec![
                Message::System("Be brief.".into()),
                Message::User("Pumps?".into()),
                Message::Assistant {
                    content: String::new(),
                    tool_calls: vec![call("a", r#"{"q": 1}"#), call("b", "{\"q\": ")],
                },
                Message::Tool(output),
                Message::Assistant { content: String::new(), tool_calls: Vec::new() },
            ],
            tools: vec![ToolSpec { name: "find", description: "Finds.", parameters: r#"{"type":"object"}"# }],
        }
    }

    #[test]
    fn conversation_is_serialized_in_the_wire_format() {
        let request = request();
        let body = serde_json::to_value(ChatRequestBody::new("m", &request, true).unwrap()).unwrap();
        let expected = json!({
            "model": "m",
            "stream": true,
            "stream_options": {"include_usage": true},
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Pumps?"},
                {"role": "assistant", "content": null, "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "find", "arguments": "{\"q\": 1}"}},
                    {"id": "b", "type": "function", "function": {"name": "find", "arguments": "{}"}},
                ]},
                {"role": "tool", "tool_call_id": "a", "content": "found"},
                {"role": "assistant", "content": ""},
            ],
            "tools": [{"type": "function", "function": {
                "name": "find", "description": "Finds.", "parameters": {"type": "object"},
            }}],
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn optional_fields_are_omitted() {
        let request = ChatRequest { messages: vec![Message::User("Hi".into())], tools: Vec::new() };
        let body = serde_json::to_value(ChatRequestBody::new("m", &request, false).unwrap()).unwrap();
        let user = json!({"role": "user", "content": "Hi"});
        assert_eq!(body, json!({"model": "m", "stream": true, "messages": [user]}));
    }

    #[test]
    fn invalid_tool_schema_is_an_internal_fault() {
        let tools = vec![ToolSpec { name: "find", description: "", parameters: "{" }];
        let request = ChatRequest { messages: Vec::new(), tools };
        assert_eq!(ChatRequestBody::new("m", &request, true).unwrap_err().kind(), FaultKind::Internal);
    }
}
