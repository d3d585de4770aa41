//! `POST /agents/{name}`

use crate::answer_events::{self, Included};
use crate::answers;
use crate::selection::{
    COLLECTIONS_MAX, CollectionRef, DOCUMENTS_MAX, DocumentRef, FilterBody, collections_of, documents_of,
    parse_filters, selection,
};
use crate::streams::{self, Streams};
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::{Data, Path};
use deserr::Deserr;
use docent_app::agent::{AgentRequest, answer};
use docent_app::error::Error;
use docent_app::settings::SearchMode;
use docent_domain::access::Chat;
use docent_domain::chat::Message;
use docent_domain::condition::Condition;
use docent_domain::error::ValidationError;
use docent_domain::id::{CollectionId, ConversationId, DocumentId, MessageId};
use docent_http::extract::deserialize::List;
use docent_http::{ApiError, Body, BodyErrors, Granted, Reply, State};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// Header with the ID of the message that the answer is recorded as.
const MESSAGE_ID: HeaderName = HeaderName::from_static("x-message-id");
/// Maximum number of characters of the question and the instructions together. The size of the body limits the other messages.
const CHARACTERS_MAX: usize = 1_000_000;

/// A question, with the conversation before it.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
#[schema(example = json!({
    "messages": [{ "role": "user", "content": "How long is the warranty?" }],
    "include_sources": true,
}))]
pub(crate) struct ChatRequest {
    /// The conversation so far. The last message is the user's and not blank; it has at most 1,000,000 characters, together with
    /// the instructions. If the other messages exceed `history_tokens`, the model does not receive the oldest.
    #[deserr(try_from(Vec<ChatMessage>) = parse_messages -> ValidationError)]
    #[schema(value_type = Vec<ChatMessage>, min_items = 1)]
    messages: Vec<Message>,
    /// Extension: ID of the conversation that stores the question, the chosen collections and documents, and the answer. Created if
    /// missing; only its owner can use it.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = "uuid")]
    conversation_id: Option<ConversationId>,
    /// Extension: ID of an answer of the conversation. The new answer replaces it, with its question and everything after it; they are
    /// kept as an earlier version. Needs `conversation_id`.
    #[deserr(default)]
    #[schema(value_type = Option<String>, format = "uuid")]
    replaces: Option<MessageId>,
    /// Extension: answer only from these documents.
    #[deserr(default, from(Option<List<DocumentRef, DOCUMENTS_MAX>>) = documents_of)]
    #[schema(value_type = Option<Vec<DocumentRef>>, max_items = 1000)]
    document_ids: Option<Vec<DocumentId>>,
    /// Extension: answer only from these collections.
    #[deserr(default, from(Option<List<CollectionRef, COLLECTIONS_MAX>>) = collections_of)]
    #[schema(value_type = Option<Vec<CollectionRef>>, max_items = 100)]
    collection_ids: Option<Vec<CollectionId>>,
    /// Extension: answer only from documents that meet this condition.
    #[deserr(default, try_from(Option<Value>) = parse_filters -> ValidationError)]
    #[schema(value_type = Option<FilterBody>)]
    filters: Option<Condition>,
    /// Extension: whether to send the passages on which the answer is based.
    #[deserr(default)]
    include_sources: Option<bool>,
    /// Extension: whether to send how the answer is made: what the model searches for, and what was left out or removed.
    #[deserr(default)]
    include_metadata: Option<bool>,
    /// Extension: `first` searches the documents for the question before the model is called; `model` lets the model decide. Default:
    /// as the service is set up (`agent_search`).
    #[deserr(default)]
    #[schema(nullable = true)]
    search: Option<Search>,
    /// Extension: whether the client can resume the stream after a disconnect, at `/agents/{name}/streams/{id}`.
    #[deserr(default)]
    resumable: Option<bool>,
    /// Extension: `quotes` answers with quotes from the documents if the chat model fails before the first token of its answer. Metadata of
    /// the type `fallback` says so. A question that a content filter refused still fails.
    #[deserr(default)]
    #[schema(nullable = true)]
    fallback: Option<Fallback>,
    /// Extension: whether to send what the model writes for itself before its answer, in events of the name `reasoning`. At most 32 KiB of
    /// it are sent, and nothing is stored.
    #[deserr(default)]
    include_reasoning: Option<bool>,
}

/// One message of a conversation.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors)]
pub(crate) struct ChatMessage {
    /// Author of the message.
    role: Role,
    /// Text of the message.
    content: String,
}

/// Who decides that documents are searched.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Search {
    /// The model.
    Model,
    /// The service, before the first model call.
    First,
}

/// What answers if the chat model fails.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Fallback {
    /// Quotes from the documents.
    Quotes,
}

impl From<Search> for SearchMode {
    fn from(search: Search) -> Self {
        match search {
            Search::Model => Self::Model,
            Search::First => Self::First,
        }
    }
}

/// Author of a message.
#[derive(Deserr, ToSchema)]
#[deserr(error = BodyErrors, rename_all = lowercase)]
#[schema(rename_all = "lowercase")]
pub(crate) enum Role {
    /// Instructions.
    System,
    /// A question.
    User,
    /// An answer.
    Assistant,
}

impl From<ChatMessage> for Message {
    fn from(ChatMessage { role, content }: ChatMessage) -> Self {
        match role {
            Role::System => Self::System(content),
            Role::User => Self::User(content),
            Role::Assistant => Self::Assistant { content, tool_calls: Vec::new() },
        }
    }
}

/// Ask an agent
///
/// The agent `chat` answers from documents. It can search them with the tool `search_docs` before it answers.
///
/// The response is a stream of server-sent events. Each event is one line `data: ` with a JSON string; the concatenated strings are
/// the answer. The stream can also contain:
///
/// - `: ping`, a comment that keeps an idle connection open;
/// - `event: metadata`, only with `include_metadata`: its data is an `AnswerMetadata` object;
/// - `event: reasoning`, only with `include_reasoning`: its data is a JSON string, which is no part of the answer;
/// - `event: sources`, before the end of the stream and only with `include_sources`: its data is a `Sources` object;
/// - `event: error`, as the last event, if the answer fails after its first token or ends without any: its data is a `Problem` object.
///
/// With `resumable`, the model continues for one minute after the client disconnects. Each event has a number as `id: `, starting at 1,
/// and the last event is `event: end` with a `StreamEnd` object as data, unless it is `event: error`. At most 8 resumable answers
/// of an account can be in progress (429), and 128 of a process (503).
///
/// Errors before the first token, or before the first reasoning if it is sent, have their own status. Without `resumable`, the model is
/// stopped when the client disconnects.
#[utoipa::path(
    post, path = "/agents/{name}", operation_id = "ask", tag = "Chat",
    params(("name" = String, Path, description = "Name of the agent.", example = "chat")),
    request_body = ChatRequest,
    responses(
        (
            status = 200, description = "The answer as a stream of `AnswerStreamEvent`.", body = String, content_type = "text/event-stream",
            headers(
                ("X-Stream-Id" = String, description = "With `resumable`: the ID of the stream."),
                ("X-Message-Id" = String, description = "With `conversation_id`: the ID of the answer in the conversation."),
            ),
            examples(
                ("answer" = (
                    summary = "An answer",
                    value = json!("data: \"The warranty\"\n\ndata: \" lasts five years.\"\n\n"),
                )),
                ("sources" = (
                    summary = "An answer with its sources",
                    value = json!("data: \"Five years.\"\n\nevent: sources\ndata: {\"results\":[]}\n\n"),
                )),
                ("metadata" = (
                    summary = "An answer with its metadata",
                    value = json!(
                        "event: metadata\ndata: {\"type\":\"searched\",\"query\":\"warranty\"}\n\ndata: \"Five years.\"\n\n"
                    ),
                )),
                ("fallback" = (
                    summary = "Quotes, because the model cannot be reached",
                    value = json!(
                        "event: metadata\ndata: {\"type\":\"fallback\",\"cause\":\"unreachable\"}\n\ndata: \"The warranty lasts five years.\"\n\n"
                    ),
                )),
                ("resumable" = (
                    summary = "A resumable answer",
                    value = json!("id: 1\ndata: \"Five years.\"\n\nid: 2\nevent: end\ndata: {\"reason\":\"complete\"}\n\n"),
                )),
                ("error" = (
                    summary = "An answer that failed after a pause",
                    value = json!(
                        "data: \"The\"\n\n: ping\n\nevent: error\ndata: {\"detail\":\"The chat model did not answer in time\"}\n\n"
                    ),
                )),
            ),
        ),
        answers::UnknownAgent, answers::InvalidBody, answers::ModelFailed,
    ),
)]
pub(crate) async fn ask(
    by: Granted<Chat>,
    context: State,
    streams: Data<Streams>,
    name: Path<String>,
    body: Body,
) -> Reply {
    let agent = context.app.agent(&name).ok_or(Error::AgentNotFound)?;
    let (actor, owner) = (by.actor.clone(), by.actor.user());
    let request: ChatRequest = body.read().await?;
    if request.replaces.is_some() && request.conversation_id.is_none() {
        return Err(ApiError::invalid_field(&["body", "replaces"], "needs conversation_id"));
    }
    let included = Included {
        sources: request.include_sources.unwrap_or(false),
        metadata: request.include_metadata.unwrap_or(false),
    };
    let question = AgentRequest {
        selection: selection(request.collection_ids, request.document_ids, request.filters),
        conversation: request.conversation_id,
        replaces: request.replaces,
        search: request.search.map(SearchMode::from),
        quotes_as_fallback: matches!(request.fallback, Some(Fallback::Quotes)),
        includes_reasoning: request.include_reasoning.unwrap_or(false),
        ..AgentRequest::new(by.actor, request.messages)
    };
    let slot = match request.resumable {
        Some(true) => Some(streams::reserve(&context, streams, owner, &name)?),
        Some(false) | None => None,
    };
    let app = Arc::clone(&context.app);
    let asked = async move { answer::ask(&app, by.grant, agent, question).await };
    // The connection to the model belongs to the thread that writes the answer, so that a token changes no thread.
    let answer = if slot.is_some() { context.run(asked).await?? } else { asked.await? };
    let message = answer.message();
    let mut response = match slot {
        None => answer_events::reply(context, answer, included),
        Some(slot) => streams::reply(context, actor, slot, answer, included),
    };
    // A UUID is a valid value.
    if let Some(id) = message.and_then(|id| HeaderValue::try_from(id.to_string()).ok()) {
        response.headers_mut().insert(MESSAGE_ID, id);
    }
    Ok(response)
}

/// Converts the messages of a request and checks the rules that concern all of them.
pub(crate) fn parse_messages<M: Into<Message>>(messages: Vec<M>) -> Result<Vec<Message>, ValidationError> {
    let messages: Vec<Message> = messages.into_iter().map(Into::into).collect();
    check_messages(&messages)?;
    Ok(messages)
}

/// Checks that the last message is a question or the output of a tool, and the size of what the model always receives.
///
/// # Errors
/// If they are not valid.
pub(crate) fn check_messages(messages: &[Message]) -> Result<(), ValidationError> {
    let invalid = |reason: &str| Err(ValidationError::new("messages", reason));
    let question = messages.iter().rposition(|message| matches!(message, Message::User(_))).unwrap_or(0);
    let (before, last_turn) = messages.split_at(question);
    let instructions = before.iter().filter(|message| matches!(message, Message::System(_)));
    let always_sent = instructions.chain(last_turn);
    if always_sent.map(|message| message.content().chars().count()).sum::<usize>() > CHARACTERS_MAX {
        return invalid("must have at most 1000000 characters in the question and the instructions");
    }
    match messages.last() {
        None => invalid("must have at least one message"),
        Some(Message::User(text)) if !text.trim().is_empty() => Ok(()),
        Some(Message::Tool(_)) => Ok(()),
        Some(Message::User(_)) => invalid("must end with a question that is not empty"),
        Some(_) => invalid("must end with a message of the user"),
    }
}
