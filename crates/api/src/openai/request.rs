//! What `POST /v1/chat/completions` is asked.

use crate::agents::ask;
use docent_app::agent::Question;
use docent_domain::{access::Actor, chat::Message};
use docent_http::{error::ApiError, extract::json::Fields};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// A question, with what was said before it. Other fields, `temperature` and offered `tools` too, are ignored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({
    "model": "chat",
    "messages": [{ "role": "user", "content": "How long is the warranty?" }],
    "stream": true,
}))]
pub(crate) struct ChatCompletionRequest {
    /// The agent's name.
    model: String,
    /// The conversation so far; the last message is the user's and not blank. At most 1,000,000 characters together.
    #[schema(min_items = 1, max_items = 256)]
    messages: Vec<CompletionMessage>,
    /// Whether the answer is to come piece by piece.
    stream: Option<bool>,
    /// What the pieces are to tell.
    stream_options: Option<StreamOptions>,
    /// An agent gives one answer.
    #[schema(minimum = 1, maximum = 1)]
    n: Option<u64>,
    /// Agents use tools of their own, never those of a client.
    tool_choice: Option<ToolChoice>,
    /// The same, as it was called before.
    function_call: Option<ToolChoice>,
    /// Answers are text.
    response_format: Option<ResponseFormat>,
    /// There are none.
    logprobs: Option<bool>,
}

/// One message of a conversation.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
pub(crate) struct CompletionMessage {
    /// Whose it is.
    role: CompletionRole,
    /// What it says. An answer may have said nothing.
    content: Option<MessageContent>,
}

/// Whose a message is.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "says which names the handler reads")]
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

/// Words as a whole or in parts.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "says what the handler reads")]
pub(crate) enum MessageContent {
    /// As a whole.
    Text(String),
    /// In parts, which are joined by line breaks.
    Parts(Vec<TextPart>),
}

/// A part of a message.
#[derive(Serialize, ToSchema)]
pub(crate) struct TextPart {
    /// Always `text`: neither images nor files are taken.
    #[schema(pattern = "^text$")]
    r#type: String,
    /// The words.
    text: String,
}

/// What the pieces of an answer are to tell.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads")]
pub(crate) struct StreamOptions {
    /// Whether a last piece is to say what the answer cost.
    include_usage: Option<bool>,
}

/// Whether tools of the client are to be used.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "says which names the handler reads")]
pub(crate) enum ToolChoice {
    /// No.
    None,
    /// As the model likes, which does not.
    Auto,
}

/// What an answer is to be.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads")]
pub(crate) struct ResponseFormat {
    /// Always `text`.
    #[schema(pattern = "^text$")]
    r#type: String,
}

/// A question, and how its answer is to come.
pub(super) struct Wanted {
    pub(super) model: String,
    pub(super) question: Question,
    /// In pieces.
    pub(super) is_stream: bool,
    /// With a last piece that says what it cost.
    pub(super) includes_usage: bool,
}

pub(super) fn parse(mut body: Fields, actor: Actor) -> Result<Wanted, ApiError> {
    let model = body.text("model");
    let messages = body.list("messages", message);
    let is_stream = body.flag("stream");
    let options = body.value("stream_options");
    let includes_usage = options.is_some_and(|options| options["include_usage"] == Value::Bool(true));
    refuse_what_cannot_be_done(&mut body);
    let messages = match ask::check(&messages) {
        Ok(()) => Some(messages),
        // Something that is missing or broken says more than a rule about all of them.
        Err(_) if body.has_errors() => None,
        Err(broken) => body.wrong("messages", broken),
    };
    let wanted = model.zip(messages).map(|(model, messages)| {
        let question = Question { actor, messages, conversation: None };
        Wanted { model, question, is_stream, includes_usage }
    });
    body.done(wanted)
}

/// Fields that ask for another kind of answer than agents give. Tools are offered by many clients whether they are
/// needed or not: only a demand to use them is refused.
fn refuse_what_cannot_be_done(body: &mut Fields) {
    if body.value("n").is_some_and(|n| n.as_u64() != Some(1)) {
        let _: Option<()> = body.wrong("n", "must be 1: an agent gives one answer");
    }
    for name in ["tool_choice", "function_call"] {
        if body.value(name).is_some_and(|choice| choice != "none" && choice != "auto") {
            let _: Option<()> = body
                .wrong(name, "must be none or auto: agents use tools of their own, never those of a client");
        }
    }
    let is_text = |format: Value| format["type"] == "text";
    if body.value("response_format").is_some_and(|format| !is_text(format)) {
        let _: Option<()> = body.wrong("response_format", "must be of the type text");
    }
    if body.value("logprobs") == Some(Value::Bool(true)) {
        let _: Option<()> = body.wrong("logprobs", "must be false");
    }
}

fn message(fields: &mut Fields) -> Option<Message> {
    let role = fields.text("role");
    let content = content(fields, role.as_deref() == Some("assistant"));
    match role?.as_str() {
        "system" | "developer" => content.map(Message::System),
        "user" => content.map(Message::User),
        "assistant" => content.map(|content| Message::Assistant { content, tool_calls: Vec::new() }),
        "tool" | "function" => fields
            .wrong("role", "must be system, developer, user or assistant: tools of a client are not used"),
        _ => fields.wrong("role", "must be system, developer, user or assistant"),
    }
}

/// A message's words: a string, or parts that are joined by line breaks. A model that asked for tools may have said
/// nothing.
fn content(fields: &mut Fields, may_be_missing: bool) -> Option<String> {
    let text = |part: &Value| (part["type"] == "text").then(|| part["text"].as_str().map(str::to_owned))?;
    match fields.value("content") {
        Some(Value::String(text)) => Some(text),
        Some(Value::Array(parts)) => match parts.iter().map(text).collect::<Option<Vec<_>>>() {
            Some(texts) => Some(texts.join("\n")),
            None => fields.wrong("content", "must have parts of the type text alone"),
        },
        Some(_) => fields.wrong("content", "must be a string or a list of parts"),
        None if may_be_missing => Some(String::new()),
        None => fields.wrong("content", "is required"),
    }
}
