//! `POST /agents/{name}`

use crate::{
    answer_events,
    openapi::answers,
    streams::{self, Streams},
};
use actix_web::web::{Data, Path};
use docent_app::{
    agent::{Question, answer},
    error::Error,
};
use docent_domain::{
    access::{Actor, Chat},
    chat::Message,
    error::ValidationError,
};
use docent_http::{
    context::State,
    error::{ApiError, Reply},
    extract::{
        granted::Granted,
        json::{Body, Fields},
    },
};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument;
use utoipa::ToSchema;

const MESSAGES_MAX: usize = 256;
/// The most characters of all messages together.
const CHARACTERS_MAX: usize = 1_000_000;

/// A question, with what was said before it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
#[schema(example = json!({
    "messages": [{ "role": "user", "content": "How long is the warranty?" }],
    "include_sources": true,
}))]
pub(crate) struct ChatRequest {
    /// The conversation so far; the last message is the user's and not blank. At most 1,000,000 characters together.
    #[schema(min_items = 1, max_items = 256)]
    messages: Vec<ChatMessage>,
    /// Extension: the conversation to write question and answer down in. The first question makes it; it belongs to who asked.
    #[schema(format = "uuid")]
    conversation_id: Option<String>,
    /// Extension: whether to send the passages that the answer stands on.
    include_sources: Option<bool>,
    /// Extension: whether a client whose connection breaks may come back, at `/agents/{name}/streams/{id}`.
    resumable: Option<bool>,
}

/// One message of a conversation.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says what the handler reads field by field")]
pub(crate) struct ChatMessage {
    /// Whose it is.
    role: Role,
    /// What it says.
    content: String,
}

/// Whose a message is.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "says which names the handler reads")]
pub(crate) enum Role {
    /// Instructions.
    System,
    /// A question.
    User,
    /// An answer.
    Assistant,
}

/// Ask an agent
///
/// The agent that answers from documents is `chat`. It may search them with the tool `search_docs` before it answers.
///
/// The answer is a stream of server-sent events. Each event is one line `data: ` with a JSON string; the strings one after the other
/// are the answer. Besides, there may be:
///
/// - `: ping`, a comment that keeps an idle connection open;
/// - `event: sources`, before the stream ends and only with `include_sources`: its data is a `Sources` object;
/// - `event: error`, as the last one, when the answer breaks off after its first token: its data is a `Problem` object.
///
/// With `resumable`, the model goes on for a minute when the client closes the connection. Each event then has its number as `id: `, from 1
/// on, and the last one is `event: end` with a `StreamEnd` object as data, unless it is `event: error`. At most 8 such answers of an
/// account are under way at once (429), and 128 of a process (503).
///
/// What goes wrong before the first token is an answer with a status of its own. Without `resumable`, the model is
/// stopped when the client closes the connection.
#[utoipa::path(
    post, path = "/agents/{name}", operation_id = "ask", tag = "Chat",
    params(("name" = String, Path, description = "The agent's name.", example = "chat")),
    request_body = ChatRequest,
    responses(
        (
            status = 200, description = "The answer as it comes.", body = answer_events::AnswerStreamEvent, content_type = "text/event-stream",
            headers(("X-Stream-Id" = String, description = "With `resumable`: the stream's id.")),
            examples(
                ("answer" = (
                    summary = "An answer",
                    value = json!("data: \"The warranty\"\n\ndata: \" lasts five years.\"\n\n"),
                )),
                ("sources" = (
                    summary = "An answer with its sources",
                    value = json!("data: \"Five years.\"\n\nevent: sources\ndata: {\"results\":[]}\n\n"),
                )),
                ("resumable" = (
                    summary = "An answer that can be resumed",
                    value = json!("id: 1\ndata: \"Five years.\"\n\nid: 2\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"),
                )),
                ("error" = (
                    summary = "An answer that broke off after a pause",
                    value = json!(
                        "data: \"The\"\n\n: ping\n\nevent: error\ndata: {\"detail\":\"The chat model did not answer in time\"}\n\n"
                    ),
                )),
            ),
        ),
        answers::Guarded,
        answers::NoAgent,
        answers::BodyRead,
        answers::ModelAway,
        answers::StoreAway,
    ),
)]
pub(crate) async fn ask(
    by: Granted<Chat>,
    context: State,
    kept: Data<Streams>,
    name: Path<String>,
    body: Body,
) -> Reply {
    let agent = context.app.agent(&name).ok_or(Error::AgentNotFound)?;
    let owner = by.actor.user();
    let (question, wanted) = parse(body.fields().await?, by.actor)?;
    let place =
        if wanted.is_resumable { Some(streams::reserve(&context, kept, owner, &name)?) } else { None };
    let app = Arc::clone(&context.app);
    // The answer outlives this request's thread: what it cost is still to be written down when the
    // client has gone away or the server stops.
    let asking = async move { answer::ask(&app, by.grant, agent, question).await };
    let asking = context.runtime.spawn(asking.in_current_span());
    let answer = AbortOnDropHandle::new(asking).await.map_err(|_| ApiError::internal())??;
    Ok(match place {
        None => answer_events::reply(context, answer, wanted.sources),
        Some(place) => streams::reply(context, place, answer, wanted.sources),
    })
}

/// What the stream is to be like.
struct Wanted {
    sources: bool,
    is_resumable: bool,
}

fn parse(mut body: Fields, actor: Actor) -> Result<(Question, Wanted), ApiError> {
    let messages = body.list("messages", message);
    let conversation = body.optional_text("conversation_id");
    let conversation = body.parse("conversation_id", conversation, |text| {
        text.parse().map_err(|_| ValidationError::new("conversation_id", "must be a UUID"))
    });
    let wanted = Wanted { sources: body.flag("include_sources"), is_resumable: body.flag("resumable") };
    let question = match check(&messages) {
        Ok(()) => Some(Question { actor, messages, conversation }),
        // Something that is missing or broken says more than a rule about all of them.
        Err(_) if body.has_errors() => None,
        Err(broken) => body.wrong("messages", broken),
    };
    body.done(question.map(|question| (question, wanted)))
}

fn message(fields: &mut Fields) -> Option<Message> {
    let (role, content) = (fields.text("role"), fields.text("content"));
    match role?.as_str() {
        "system" => content.map(Message::System),
        "user" => content.map(Message::User),
        "assistant" => content.map(|content| Message::Assistant { content, tool_calls: Vec::new() }),
        _ => fields.wrong("role", "must be system, user or assistant"),
    }
}

/// The rules about all messages together.
pub(crate) fn check(messages: &[Message]) -> Result<(), &'static str> {
    let length = |message: &Message| match message {
        Message::System(text) | Message::User(text) | Message::Assistant { content: text, .. } => {
            text.chars().count()
        }
        Message::Tool(output) => output.content.chars().count(),
    };
    if messages.len() > MESSAGES_MAX {
        return Err("must have at most 256 messages");
    }
    if messages.iter().map(length).sum::<usize>() > CHARACTERS_MAX {
        return Err("must have at most 1000000 characters together");
    }
    match messages.last() {
        None => Err("must have at least one message"),
        Some(Message::User(text)) if !text.trim().is_empty() => Ok(()),
        Some(Message::User(_)) => Err("must end with a question that is not empty"),
        Some(_) => Err("must end with a message of the user"),
    }
}
