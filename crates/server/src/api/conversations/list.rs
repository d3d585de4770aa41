//! `GET /conversations`
//!
//! As `GET /documents`, the body is an array, and where the next page begins is told in headers.

use super::{ConversationResponse, limit, next_link};
use crate::{
    api::Reply,
    context::State,
    extract::{granted::Granted, query::Query},
};
use actix_web::{HttpResponse, http::header};
use chrono::DateTime;
use docent_app::{conversations::own, listing::ConversationPosition};
use docent_domain::{access::Chat, conversation::Conversation};
use serde::Serialize;

/// Conversations on a page, when nobody says how many.
const LIMIT: u64 = 100;

#[derive(Serialize)]
struct Entry<'a> {
    #[serde(flatten)]
    conversation: ConversationResponse<'a>,
    messages: u64,
}

impl<'a> From<&'a (Conversation, u64)> for Entry<'a> {
    fn from((conversation, messages): &'a (Conversation, u64)) -> Self {
        Self { conversation: ConversationResponse::from(conversation), messages: *messages }
    }
}

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
    Ok(response.json(found.iter().map(Entry::from).collect::<Vec<_>>()))
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
