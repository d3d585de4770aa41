//! Responses with conversations.

use chrono::{DateTime, SecondsFormat, Utc};
use docent_domain::conversation::Conversation;
use serde::Serialize;
use utoipa::ToSchema;

/// A conversation, without what was said in it.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "title": "How long is the warranty?",
    "created_at": "2026-01-01T00:00:00.000000Z",
    "updated_at": "2026-01-01T00:05:00.000000Z",
}))]
pub(crate) struct ConversationResponse<'a> {
    /// Its id.
    #[schema(format = "uuid")]
    pub(super) id: String,
    /// What it is called.
    #[schema(min_length = 1, max_length = 200)]
    pub(super) title: &'a str,
    /// When it was begun.
    #[schema(format = "date-time")]
    pub(super) created_at: String,
    /// When something was last said in it, or it was renamed.
    #[schema(format = "date-time")]
    pub(super) updated_at: String,
}

impl<'a> From<&'a Conversation> for ConversationResponse<'a> {
    fn from(conversation: &'a Conversation) -> Self {
        Self {
            id: conversation.id.to_string(),
            title: conversation.title.as_str(),
            created_at: instant(conversation.created_at),
            updated_at: instant(conversation.updated_at),
        }
    }
}

pub(super) fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}
