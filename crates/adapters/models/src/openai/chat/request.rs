//! Request bodies of chat completions.

use base64::Engine;
use base64::prelude::BASE64_STANDARD as STANDARD;
use docent_domain::chat::{FunctionSpec, Message, ToolCall, ToolSpec};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::chat_model::ChatRequest;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;

/// What is adapted to the back end: useful parts of a request that some back ends refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestForm {
    /// Whether to request the token usage.
    pub(super) wants_usage: bool,
    /// Whether system messages after the first message stay where they are. Otherwise all become one at the
    /// beginning.
    pub(super) keeps_system_messages: bool,
    /// Whether to request a streamed response.
    pub(super) is_streamed: bool,
    /// The name under which the token limit is sent.
    pub(super) token_limit: TokenLimitName,
}

/// The field with the token limit of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenLimitName {
    /// `max_tokens`, which most servers know.
    MaxTokens,
    /// `max_completion_tokens`, which newer models of OpenAI want.
    MaxCompletionTokens,
    /// No field: there is no limit, or the server refuses both.
    None,
}

/// The body of `POST /chat/completions`.
#[derive(Debug, Serialize)]
pub(super) struct ChatRequestBody<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
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
        content: Cow<'a, str>,
    },
    User {
        content: UserContent<'a>,
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

/// The content of a message of the user.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum UserContent<'a> {
    Text(&'a str),
    Parts([ContentPart<'a>; 2]),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Debug, Serialize)]
struct ImageUrl {
    url: String,
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
    /// Creates the body.
    ///
    /// # Errors
    /// If a tool's schema is not valid JSON.
    pub(super) fn new(model: &'a str, request: &'a ChatRequest, form: RequestForm) -> Result<Self> {
        let messages = &request.messages;
        let limit = |name| request.max_tokens.filter(|_| form.token_limit == name);
        let mut messages: Vec<WireMessage<'_>> = if form.keeps_system_messages {
            messages.iter().map(message).collect()
        } else {
            reordered(messages)
        };
        if let (Some(png), Some(last)) = (&request.picture, messages.last_mut()) {
            last.add_picture(png);
        }
        Ok(Self {
            model,
            messages,
            stream: form.is_streamed,
            stream_options: (form.wants_usage && form.is_streamed)
                .then_some(StreamOptions { include_usage: true }),
            max_tokens: limit(TokenLimitName::MaxTokens),
            max_completion_tokens: limit(TokenLimitName::MaxCompletionTokens),
            temperature: request.sampling.temperature,
            top_p: request.sampling.top_p,
            tools: request
                .tools
                .iter()
                .map(tool)
                .chain(request.functions.iter().map(function))
                .collect::<Result<_>>()?,
        })
    }
}

impl WireMessage<'_> {
    /// Adds a picture to a message of the user.
    fn add_picture(&mut self, png: &[u8]) {
        if let Self::User { content } = self
            && let UserContent::Text(text) = *content
        {
            let image_url = ImageUrl { url: format!("data:image/png;base64,{}", STANDARD.encode(png)) };
            *content = UserContent::Parts([ContentPart::Text { text }, ContentPart::ImageUrl { image_url }]);
        }
    }
}

/// Whether there is a system message after the first message, which some chat templates refuse.
pub(super) fn has_later_system_message(messages: &[Message]) -> bool {
    messages.iter().skip(1).any(|message| matches!(message, Message::System(_)))
}

/// The messages with the text of all system messages in one at the beginning.
fn reordered(messages: &[Message]) -> Vec<WireMessage<'_>> {
    let texts = messages.iter().filter_map(|message| match message {
        Message::System(text) => Some(text.as_str()),
        Message::User(_) | Message::Assistant { .. } | Message::Tool(_) => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    let system = (!text.is_empty()).then_some(WireMessage::System { content: text.into() });
    let others = messages.iter().filter(|message| !matches!(message, Message::System(_))).map(message);
    system.into_iter().chain(others).collect()
}

fn message(message: &Message) -> WireMessage<'_> {
    match message {
        Message::System(content) => WireMessage::System { content: content.into() },
        Message::User(text) => WireMessage::User { content: UserContent::Text(text) },
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

fn tool(spec: &ToolSpec) -> Result<Tool<'_>> {
    described(spec.name, spec.description, spec.parameters)
}

fn function(spec: &FunctionSpec) -> Result<Tool<'_>> {
    described(&spec.name, &spec.description, &spec.parameters)
}

fn described<'a>(name: &'a str, description: &'a str, parameters: &str) -> Result<Tool<'a>> {
    let parameters = serde_json::from_str(parameters).map_err(|error| {
        let message = format!("the schema of the tool {name} is not valid JSON");
        Fault::new(Component::ChatModel, FaultKind::Internal, message).caused_by(error)
    })?;
    let function = Function::Spec { name, description, parameters };
    Ok(Tool { id: None, r#type: "function", function })
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::chat::ToolOutput;
    use serde_json::json;

    const WHOLE: RequestForm = RequestForm {
        wants_usage: true,
        keeps_system_messages: true,
        is_streamed: true,
        token_limit: TokenLimitName::None,
    };

    fn request() -> ChatRequest {
        let call = |id: &str, arguments: &str| ToolCall {
            id: id.into(),
            name: "find".into(),
            arguments: arguments.into(),
        };
        let output = ToolOutput { call_id: "a".into(), content: "found".into(), ..ToolOutput::default() };
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
            ..ChatRequest::default()
        }
    }

    #[test]
    fn conversation_is_serialized_in_the_wire_format() {
        let request = request();
        let body = serde_json::to_value(ChatRequestBody::new("m", &request, WHOLE).unwrap()).unwrap();
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
        let request = ChatRequest { messages: vec![Message::User("Hi".into())], ..ChatRequest::default() };
        let form = RequestForm { wants_usage: false, ..WHOLE };
        let body = serde_json::to_value(ChatRequestBody::new("m", &request, form).unwrap()).unwrap();
        let user = json!({"role": "user", "content": "Hi"});
        assert_eq!(body, json!({"model": "m", "stream": true, "messages": [user]}));
    }

    #[test]
    fn picture_is_a_part_of_the_last_message() {
        let texts = ["Be brief.", "What does it show?"].map(|text| Message::User(text.to_owned()));
        let picture = Some(b"\x89PNG".to_vec());
        let request = ChatRequest { messages: texts.to_vec(), picture, ..ChatRequest::default() };
        let body = serde_json::to_value(ChatRequestBody::new("m", &request, WHOLE).unwrap()).unwrap();
        let parts = json!([
            {"type": "text", "text": "What does it show?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}},
        ]);
        assert_eq!(body["messages"][0]["content"], "Be brief.");
        assert_eq!(body["messages"][1]["content"], parts);
    }

    #[test]
    fn token_limit_has_the_name_of_the_form() {
        let messages = vec![Message::User("Hi".into())];
        let request = ChatRequest { messages, max_tokens: Some(9), ..ChatRequest::default() };
        for (token_limit, fields) in [
            (TokenLimitName::MaxTokens, [json!(9), json!(null)]),
            (TokenLimitName::MaxCompletionTokens, [json!(null), json!(9)]),
            (TokenLimitName::None, [json!(null), json!(null)]),
        ] {
            let form = RequestForm { token_limit, ..WHOLE };
            let body = serde_json::to_value(ChatRequestBody::new("m", &request, form).unwrap()).unwrap();
            let found = ["max_tokens", "max_completion_tokens"].map(|name| body[name].clone());
            assert_eq!(found, fields, "{token_limit:?}");
        }
    }

    #[test]
    fn moved_system_messages_are_one_at_the_beginning() {
        let texts = [("system", "A"), ("user", "Hi"), ("system", "B"), ("user", "Ho")];
        let messages: Vec<Message> = texts
            .iter()
            .map(|(role, text)| match *role {
                "system" => Message::System((*text).into()),
                _ => Message::User((*text).into()),
            })
            .collect();
        assert!(has_later_system_message(&messages) && !has_later_system_message(&messages[..2]));
        let sent = |messages| {
            let request = ChatRequest { messages, ..ChatRequest::default() };
            let form = RequestForm { keeps_system_messages: false, ..WHOLE };
            let mut body = serde_json::to_value(ChatRequestBody::new("m", &request, form).unwrap()).unwrap();
            body["messages"].take()
        };
        let expected = json!([
            {"role": "system", "content": "A\n\nB"},
            {"role": "user", "content": "Hi"},
            {"role": "user", "content": "Ho"},
        ]);
        assert_eq!(sent(messages.clone()), expected);
        assert_eq!(sent(messages[1..2].to_vec()), json!([{"role": "user", "content": "Hi"}]));
    }

    #[test]
    fn invalid_tool_schema_is_an_internal_fault() {
        let tools = vec![ToolSpec { name: "find", description: "", parameters: "{" }];
        let request = ChatRequest { tools, ..ChatRequest::default() };
        assert_eq!(ChatRequestBody::new("m", &request, WHOLE).unwrap_err().kind(), FaultKind::Internal);
    }
}
