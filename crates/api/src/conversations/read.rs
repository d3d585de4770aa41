//! `GET /conversations/{id}`

use super::feedback::FeedbackResponse;
use super::response::ConversationResponse;
use crate::answer_events::{FallbackCause, Source};
use crate::answers;
use crate::paging;
use crate::selection::{CollectionRef, DocumentRef};
use crate::timestamp::rfc3339;
use docent_app::conversations::own::{self, OwnRead};
use docent_domain::access::Chat;
use docent_domain::conversation::{ConversationMessage, MessageRole};
use docent_domain::id::{ConversationId, DocumentId};
use docent_domain::listing::PageRequest;
use docent_domain::usage::TokenUsage;
use docent_http::{PathId, Query, Reply, Scoped, State};
use serde::Serialize;
use std::collections::HashSet;
use utoipa::ToSchema;

/// Default number of messages on a page.
const LIMIT: u64 = 200;

/// A conversation with a page of its messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationWhole<'a> {
    /// ID of the conversation.
    #[schema(format = "uuid")]
    id: String,
    /// Title.
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// Collections that its last question was limited to; `null` for all.
    #[schema(value_type = Option<Vec<CollectionRef>>, required, max_items = 100)]
    collection_ids: Option<Vec<String>>,
    /// Documents that its last question was limited to, at most the first 100; `null` for all.
    #[schema(value_type = Option<Vec<DocumentRef>>, required, max_items = 100)]
    document_ids: Option<Vec<String>>,
    /// Whether the account has pinned it.
    pinned: bool,
    /// Collections whose readers can read it, as far as the account can read them or owns the conversation.
    #[schema(value_type = Vec<CollectionRef>)]
    shared_with: Vec<String>,
    /// Email address of the owner if another account shares it; it can only be read then. `null` for an own conversation.
    #[schema(required)]
    shared_by: Option<&'a str>,
    /// Name that the owner chose, if another account shares it and has one.
    #[schema(required)]
    shared_by_name: Option<&'a str>,
    /// Creation time.
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last message or renaming.
    #[schema(format = "date-time")]
    updated_at: String,
    /// Messages, oldest first.
    messages: Vec<MessageResponse<'a>>,
}

/// A question or an answer. Only answers have `agent`, `complete`, `declined`, `fallback_cause`, `sources`, `usage` and `feedback`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum MessageResponse<'a> {
    /// A question.
    Question(QuestionResponse<'a>),
    /// An answer.
    Answer(AnswerResponse<'a>),
}

/// A question.
#[derive(Serialize, ToSchema)]
pub(crate) struct QuestionResponse<'a> {
    /// ID of the message.
    #[schema(format = "uuid")]
    id: String,
    /// Always `user`.
    #[schema(pattern = "^user$")]
    role: &'static str,
    /// Text.
    content: &'a str,
    /// Creation time.
    #[schema(format = "date-time")]
    created_at: String,
    /// Whether a later question replaced it: an earlier version.
    replaced: bool,
    /// Whether it has no text because its answer, or one before it, cites a document that the account cannot read. Only in
    /// conversations of other accounts.
    withheld: bool,
}

/// An answer.
#[derive(Serialize, ToSchema)]
pub(crate) struct AnswerResponse<'a> {
    /// ID of the message.
    #[schema(format = "uuid")]
    id: String,
    /// Always `assistant`.
    #[schema(pattern = "^assistant$")]
    role: &'static str,
    /// Text.
    content: &'a str,
    /// Creation time.
    #[schema(format = "date-time")]
    created_at: String,
    /// Whether a later answer replaced it: an earlier version.
    replaced: bool,
    /// Whether it has no text because its answer, or one before it, cites a document that the account cannot read. Only in
    /// conversations of other accounts.
    withheld: bool,
    /// Name of the agent.
    agent: &'a str,
    /// Whether the answer is complete. `false` if it failed or was stopped.
    complete: bool,
    /// Whether the answer says that the documents do not contain what was asked for, or may not. The built-in
    /// answerer reports this; with other models it is always `false`.
    declined: bool,
    /// Why the answer consists of quotes from the documents, if the chat model could not answer; otherwise `null`.
    #[schema(required)]
    fallback_cause: Option<FallbackCause>,
    /// Passages on which the answer is based.
    sources: Vec<Source<'a>>,
    /// Token usage.
    usage: UsageResponse,
    /// Feedback of the account; `null` without.
    #[schema(required)]
    feedback: Option<FeedbackResponse<'a>>,
}

/// Tokens of all model calls for an answer.
#[derive(Serialize, ToSchema)]
#[schema(as = TokenUsage)]
pub(crate) struct UsageResponse {
    /// Input tokens.
    prompt_tokens: u64,
    /// Output tokens.
    completion_tokens: u64,
}

impl From<TokenUsage> for UsageResponse {
    fn from(tokens: TokenUsage) -> Self {
        Self { prompt_tokens: tokens.prompt, completion_tokens: tokens.completion }
    }
}

impl<'a> MessageResponse<'a> {
    fn of(
        message: &'a ConversationMessage,
        unreadable: &HashSet<DocumentId>,
        withheld_from: Option<u32>,
    ) -> Self {
        let withheld = withheld_from.is_some_and(|from| message.ordinal >= from);
        let (id, content) = (message.id.to_string(), message.content.as_str());
        let (created_at, replaced) = (rfc3339(message.at), message.replaced_at.is_some());
        match &message.role {
            MessageRole::User => {
                Self::Question(QuestionResponse { id, role: "user", content, created_at, replaced, withheld })
            }
            MessageRole::Agent {
                name,
                sources,
                tokens,
                is_complete,
                is_declined,
                fallback,
                feedback,
                best_score: _,
            } => Self::Answer(AnswerResponse {
                id,
                role: "assistant",
                content,
                created_at,
                replaced,
                withheld,
                agent: name.as_str(),
                complete: *is_complete,
                declined: *is_declined,
                fallback_cause: fallback.map(FallbackCause::from),
                sources: sources.iter().map(|source| Source::of(source, unreadable)).collect(),
                usage: UsageResponse::from(*tokens),
                feedback: feedback.as_ref().map(FeedbackResponse::from),
            }),
        }
    }
}

/// Read a conversation (extension)
///
/// Returns a page of its messages. The headers `Link` and `X-Next-Cursor` name the next page, if there is one. A page of more than one
/// message has at most 1 MiB of text and sources. Sources of documents that the account can no longer read have no text. A conversation
/// that another account shares has neither feedback nor earlier versions, and is withheld from the first answer on that cites a
/// document that the account cannot read. Empty parameters are ignored.
#[utoipa::path(
    get, path = "/conversations/{id}", operation_id = "get_conversation", tag = "Conversations",
    params(
        ("id" = String, Path, description = "ID of the conversation.", format = "uuid"),
        (
            "limit" = Option<u64>, Query, description = "Maximum number of messages. Default: 200.", minimum = 1, maximum = 1000,
            nullable = false,
        ),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the previous page.", nullable = false,
            pattern = "^([0-9]{1,9})?$", example = "200",
        ),
    ),
    responses(
        (status = 200, description = "The conversation.", body = ConversationWhole<'_>),
        answers::UnknownConversation,
    ),
)]
pub(crate) async fn read(
    by: Scoped<Chat>,
    context: State,
    id: PathId<ConversationId>,
    mut query: Query,
) -> Reply {
    let id = id.parse()?;
    let limit = paging::limit(&mut query).unwrap_or(LIMIT);
    // The cursor is the position of the first message of the page.
    let offset = paging::after(&mut query, |text| text.parse::<u32>().ok()).map_or(0, u64::from);
    query.done()?;
    let page = PageRequest { offset, limit };
    let OwnRead { read, sharing, withheld, withheld_from } =
        own::read(&context.app, &by.grant, &by.scope, id, page).await?;
    let (conversation, found) = (&read.conversation, &read.messages);
    let end = offset + found.records.len() as u64;
    let next = (end < found.total && !found.records.is_empty()).then(|| end.to_string());
    // Readers do not get earlier versions.
    let shown = found.records.iter().filter(|it| sharing.by.is_none() || it.replaced_at.is_none());
    let messages = shown.map(|message| MessageResponse::of(message, &withheld, withheld_from)).collect();
    let path = format!("/conversations/{id}");
    let ConversationResponse {
        id,
        title,
        collection_ids,
        document_ids,
        pinned,
        shared_with,
        shared_by,
        shared_by_name,
        created_at,
        updated_at,
    } = ConversationResponse::of(conversation, &sharing);
    let body = ConversationWhole {
        id,
        title,
        collection_ids,
        document_ids,
        pinned,
        shared_with,
        shared_by,
        shared_by_name,
        created_at,
        updated_at,
        messages,
    };
    Ok(paging::response(body, &path, &[], limit, next))
}
