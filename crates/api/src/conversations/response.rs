//! Responses with conversations.

use crate::selection::{CollectionRef, DocumentRef};
use crate::timestamp::rfc3339;
use docent_app::conversations::sharing::Sharing;
use docent_domain::conversation::Conversation;
use docent_domain::user::Person;
use serde::Serialize;
use utoipa::ToSchema;

/// A conversation without its messages.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "title": "How long is the warranty?",
    "collection_ids": null,
    "document_ids": null,
    "pinned": false,
    "shared_with": ["00000000-0000-0000-0000-000000000001"],
    "shared_by": null,
    "shared_by_name": null,
    "created_at": "2026-01-01T00:00:00.000000Z",
    "updated_at": "2026-01-01T00:05:00.000000Z",
}))]
pub(crate) struct ConversationResponse<'a> {
    /// ID of the conversation.
    #[schema(format = "uuid")]
    pub(super) id: String,
    /// Title.
    #[schema(min_length = 1, max_length = 200)]
    pub(super) title: &'a str,
    /// Collections that its last question was limited to; `null` for all.
    #[schema(value_type = Option<Vec<CollectionRef>>, required, max_items = 100)]
    pub(super) collection_ids: Option<Vec<String>>,
    /// Documents that its last question was limited to, at most the first 100; `null` for all.
    #[schema(value_type = Option<Vec<DocumentRef>>, required, max_items = 100)]
    pub(super) document_ids: Option<Vec<String>>,
    /// Whether the account has pinned it.
    pub(super) pinned: bool,
    /// Collections whose readers can read it, as far as the account can read them or owns the conversation.
    #[schema(value_type = Vec<CollectionRef>)]
    pub(super) shared_with: Vec<String>,
    /// Email address of the owner if another account shares it; it can only be read then. `null` for an own conversation.
    #[schema(required)]
    pub(super) shared_by: Option<&'a str>,
    /// Name that the owner chose, if another account shares it and has one.
    #[schema(required)]
    pub(super) shared_by_name: Option<&'a str>,
    /// Creation time.
    #[schema(format = "date-time")]
    pub(super) created_at: String,
    /// Time of the last message or renaming.
    #[schema(format = "date-time")]
    pub(super) updated_at: String,
}

impl<'a> ConversationResponse<'a> {
    pub(super) fn of(conversation: &'a Conversation, sharing: &'a Sharing) -> Self {
        Self {
            id: conversation.id.to_string(),
            title: conversation.title.as_str(),
            collection_ids: conversation.selection.collections.as_deref().map(texts),
            document_ids: conversation.selection.documents.as_deref().map(texts),
            pinned: conversation.is_pinned,
            shared_with: texts(&sharing.with),
            shared_by: sharing.by.as_ref().map(|person| person.email.as_str()),
            shared_by_name: sharing.by.as_ref().and_then(Person::name),
            created_at: rfc3339(conversation.created_at),
            updated_at: rfc3339(conversation.updated_at),
        }
    }
}

fn texts<T: ToString>(ids: &[T]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}
