//! `GET /conversations`
//!
//! As `GET /documents`, the body is an array, and where the next page begins is told in headers.

use super::response::{ConversationResponse, limit, next_link};
use crate::openapi::answers;
use actix_web::{HttpResponse, http::header};
use chrono::DateTime;
use docent_app::conversations::own;
use docent_domain::{access::Chat, conversation::Conversation, listing::ConversationPosition};
use docent_http::{
    context::State,
    error::Reply,
    extract::{granted::Granted, query::Query},
};
use serde::Serialize;
use utoipa::ToSchema;

/// Conversations on a page, when nobody says how many.
const LIMIT: u64 = 100;

/// A conversation, with how much was said in it.
#[derive(Serialize, ToSchema)]
pub(crate) struct ConversationEntry<'a> {
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
    /// How many questions and answers it has.
    messages: u64,
}

impl<'a> From<&'a (Conversation, u64)> for ConversationEntry<'a> {
    fn from((conversation, messages): &'a (Conversation, u64)) -> Self {
        let ConversationResponse { id, title, created_at, updated_at } = conversation.into();
        Self { id, title, created_at, updated_at, messages: *messages }
    }
}

/// List conversations (extension)
///
/// The account's own, the one that changed last first. The headers `Link` and `X-Next-Cursor` lead to the rest, if there is one. A
/// parameter that is empty counts as absent.
#[utoipa::path(
    get, path = "/conversations", operation_id = "list_conversations", tag = "Conversations",
    params(
        (
            "limit" = Option<u64>, Query, description = "How many at most; 100 when left out.", minimum = 1, maximum = 1000,
            nullable = false,
        ),
        (
            "cursor" = Option<String>, Query, description = "`X-Next-Cursor` of the page before.", nullable = false,
            pattern = r"^([0-9]{1,15}\.[0-9a-f]{32})?$", example = "1767225600123456.01920f3e5b7a7c3d9e214f6a8b0c2d4e",
        ),
    ),
    responses(
        (
            status = 200, description = "The conversations.", body = [ConversationEntry<'_>],
            headers(
                ("Link" = String, description = "With `rel=\"next\"`: where the next page is, if there is one."),
                ("X-Next-Cursor" = String, description = "The `cursor` of the next page, if there is one."),
            ),
        ),
        answers::Guarded,
        answers::BadInput,
        answers::StoreAway,
    ),
)]
pub(crate) async fn list(by: Granted<Chat>, context: State, mut query: Query) -> Reply {
    let limit = limit(&mut query, LIMIT);
    let after = query.parse("cursor", "is not a cursor of this list", position);
    query.done()?;
    // One more than asked for tells whether there is another page.
    let mut found = own::list(&context.app, &by.grant, after, limit + 1).await?;

    let mut response = HttpResponse::Ok();
    if found.len() as u64 > limit {
        found.truncate(limit as usize);
        if let Some((last, _)) = found.last() {
            let cursor = cursor(last);
            let link = next_link("/conversations", limit, &cursor);
            response.insert_header((header::LINK, link)).insert_header(("X-Next-Cursor", cursor));
        }
    }
    Ok(response.json(found.iter().map(ConversationEntry::from).collect::<Vec<_>>()))
}

/// The place of a conversation in the list, as text.
fn cursor(conversation: &Conversation) -> String {
    format!("{}.{}", conversation.updated_at.timestamp_micros(), conversation.id.as_uuid().simple())
}

fn position(cursor: &str) -> Option<ConversationPosition> {
    let (micros, id) = cursor.split_once('.')?;
    Some(ConversationPosition {
        updated_at: DateTime::from_timestamp_micros(micros.parse().ok()?)?,
        id: id.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::{
        conversation::ConversationTitle,
        id::{ConversationId, UserId},
    };

    #[test]
    fn a_cursor_leads_back_to_its_place() {
        let at = DateTime::from_timestamp_micros(1_767_225_600_123_456).unwrap();
        let id = ConversationId::generate(at, [7; 10]);
        let conversation = Conversation {
            id,
            owner: UserId::generate(at, [1; 10]),
            title: ConversationTitle::untitled(),
            created_at: DateTime::UNIX_EPOCH,
            updated_at: at,
        };
        assert_eq!(position(&cursor(&conversation)), Some(ConversationPosition { updated_at: at, id }));
        for wrong in ["", ".", "1", "x.y", "9999999999999999999.0"] {
            assert_eq!(position(wrong), None, "{wrong:?}");
        }
    }
}
