//! `GET /conversations`

use super::response::ConversationResponse;
use crate::openapi::answers;
use crate::paging;
use docent_app::conversations::own;
use docent_domain::access::Chat;
use docent_domain::conversation::Conversation;
use docent_domain::listing::ConversationPosition;
use docent_http::{Granted, Query, Reply, State};
use serde::Serialize;
use utoipa::ToSchema;

/// A conversation with its number of messages.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationEntry<'a> {
    /// ID of the conversation.
    #[schema(format = "uuid")]
    id: String,
    /// Title.
    #[schema(min_length = 1, max_length = 200)]
    title: &'a str,
    /// Creation time.
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last message or renaming.
    #[schema(format = "date-time")]
    updated_at: String,
    /// Number of messages.
    messages: u64,
}

impl<'a> From<&'a (Conversation, u64)> for ConversationEntry<'a> {
    fn from((conversation, messages): &'a (Conversation, u64)) -> Self {
        let ConversationResponse { id, title, created_at, updated_at, .. } = conversation.into();
        Self { id, title, created_at, updated_at, messages: *messages }
    }
}

/// List conversations (extension)
///
/// Returns the conversations of the account, last changed first. The headers `Link` and `X-Next-Cursor` name the next page, if there
/// is one. Empty parameters are ignored.
#[utoipa::path(
    get, path = "/conversations", operation_id = "list_conversations", tag = "Conversations",
    params(paging::Parameters),
    responses(
        (status = 200, description = "The conversations.", body = [ConversationEntry<'_>]),
        answers::InvalidParameters,
    ),
)]
pub(crate) async fn list(by: Granted<Chat>, context: State, mut query: Query) -> Reply {
    let limit = paging::limit(&mut query).unwrap_or(paging::DEFAULT_LIMIT);
    let after = paging::after(&mut query, paging::position);
    query.done()?;
    let after = after.map(|(updated_at, id)| ConversationPosition { updated_at, id });
    // One more than requested shows whether there is another page.
    let mut found = own::list(&context.app, &by.grant, after, limit + 1).await?;
    let next = paging::truncate(&mut found, limit, |(last, _)| paging::cursor(last.updated_at, last.id));
    let body: Vec<_> = found.iter().map(ConversationEntry::from).collect();
    Ok(paging::response(body, "/conversations", &[], limit, next))
}
