//! `GET /conversations/{id}`

use super::response::{ConversationResponse, instant};
use crate::{answer_events::Source, openapi::answers, paging};
use actix_web::web::Path;
use docent_app::conversations::own;
use docent_domain::{
    access::Chat,
    conversation::{ConversationMessage, MessageRole},
    listing::PageRequest,
    usage::TokenUsage,
};
use docent_http::{
    context::State,
    error::Reply,
    extract::{self, granted::Granted, query::Query},
};
use serde::Serialize;
use utoipa::ToSchema;

/// Messages on a page, when nobody says how many.
const LIMIT: u64 = 200;

/// A conversation with a page of what was said in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationWhole<'a> {
    /// Its id.
    #[schema(format = "uuid")]
    id: String,
    /// What it is called.
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// When it was begun.
    #[schema(format = "date-time")]
    created_at: String,
    /// When something was last said in it, or it was renamed.
    #[schema(format = "date-time")]
    updated_at: String,
    /// What was said, the first message first.
    messages: Vec<MessageResponse<'a>>,
}

/// A question, or an answer, which alone has `agent`, `complete`, `sources` and `usage`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum MessageResponse<'a> {
    /// A question.
    Question(QuestionResponse<'a>),
    /// An answer.
    Answer(AnswerResponse<'a>),
}

/// What was asked.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestionResponse<'a> {
    /// The message's id.
    #[schema(format = "uuid")]
    id: String,
    /// Always `user`.
    #[schema(pattern = "^user$")]
    role: &'static str,
    /// What it says.
    content: &'a str,
    /// When it was asked.
    #[schema(format = "date-time")]
    created_at: String,
}

/// What was answered.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerResponse<'a> {
    /// The message's id.
    #[schema(format = "uuid")]
    id: String,
    /// Always `assistant`.
    #[schema(pattern = "^assistant$")]
    role: &'static str,
    /// What it says.
    content: &'a str,
    /// When it was written down.
    #[schema(format = "date-time")]
    created_at: String,
    /// The name of the agent that answered.
    agent: &'a str,
    /// False when it broke off or was stopped.
    complete: bool,
    /// The passages that it stands on.
    sources: Vec<Source<'a>>,
    /// What it cost.
    usage: UsageResponse,
}

/// Tokens, of all calls of the model for an answer.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenUsage)]
pub(crate) struct UsageResponse {
    /// Those that the model read.
    prompt_tokens: u64,
    /// Those that it wrote.
    completion_tokens: u64,
}

impl From<TokenUsage> for UsageResponse {
    fn from(tokens: TokenUsage) -> Self {
        Self { prompt_tokens: tokens.prompt, completion_tokens: tokens.completion }
    }
}

impl<'a> From<&'a ConversationMessage> for MessageResponse<'a> {
    fn from(message: &'a ConversationMessage) -> Self {
        let (id, content) = (message.id.to_string(), message.content.as_str());
        let created_at = instant(message.at);
        match &message.role {
            MessageRole::User => Self::Question(QuestionResponse { id, role: "user", content, created_at }),
            MessageRole::Agent { name, sources, tokens, is_complete } => Self::Answer(AnswerResponse {
                id,
                role: "assistant",
                content,
                created_at,
                agent: name.as_str(),
                complete: *is_complete,
                sources: sources.iter().map(Source::from).collect(),
                usage: UsageResponse::from(*tokens),
            }),
        }
    }
}

/// Read a conversation (extension)
///
/// With what was said in it, page by page: the headers `Link` and `X-Next-Cursor` lead to the rest, if there is one. A parameter that is
/// empty counts as absent.
#[utoipa::path(
    get, path = "/conversations/{id}", operation_id = "get_conversation", tag = "Conversations",
    params(
        ("id" = String, Path, description = "The conversation's id.", format = "uuid"),
        (
            "limit" = Option<u64>, Query, description = "How many messages at most; 200 when left out.", minimum = 1, maximum = 1000,
            nullable = false,
        ),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the page before.", nullable = false,
            pattern = "^([0-9]{1,9})?$", example = "200",
        ),
    ),
    responses(
        (
            status = 200, description = "The conversation.", body = ConversationWhole<'_>,
            headers(
                ("Link" = String, description = "With `rel=\"next\"`: where the next page is, if there is one."),
                ("X-Next-Cursor" = String, description = "The `cursor` of the next page, if there is one."),
            ),
        ),
        answers::Guarded,
        answers::NoConversation,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn read(by: Granted<Chat>, context: State, id: Path<String>, mut query: Query) -> Reply {
    let id = extract::id("id", &id)?;
    let limit = paging::limit(&mut query).unwrap_or(LIMIT);
    // The cursor is the position of the first message of the page.
    let offset = paging::after(&mut query, |text| text.parse::<u32>().ok()).map_or(0, u64::from);
    query.done()?;
    let (conversation, found) = own::read(&context.app, &by.grant, id, PageRequest { offset, limit }).await?;
    let end = offset + found.records.len() as u64;
    let next = (end < found.total && !found.records.is_empty()).then(|| end.to_string());
    let messages = found.records.iter().map(MessageResponse::from).collect();
    let path = format!("/conversations/{id}");
    let ConversationResponse { id, title, created_at, updated_at } = (&conversation).into();
    let body = ConversationWhole { id, title, created_at, updated_at, messages };
    Ok(paging::response(body, &path, &[], limit, next))
}
