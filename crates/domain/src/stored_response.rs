//! Responses of the OpenAI API that are stored, so that clients can read and continue them.

use crate::access::{Chat, Grant};
use crate::id::{ApiKeyId, ResponseId, UserId};
use chrono::{DateTime, Utc};

/// A stored response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredResponse {
    /// ID of the response.
    pub id: ResponseId,
    /// Account that owns it. Other accounts cannot access it.
    pub owner: UserId,
    /// The API key that requested it, if that key is limited to collections. Of such keys only this one can access it.
    pub limited_key: Option<ApiKeyId>,
    /// The response that it continues, which can have been deleted.
    pub previous: Option<ResponseId>,
    /// The response and the items of its request, as JSON text in the format of the API.
    pub content: String,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

impl StoredResponse {
    /// Whether an actor with this permission can access it. As an answer quotes documents of any collection of the account, an API
    /// key that is limited to some has responses of its own.
    pub fn is_open_to(&self, grant: &Grant<Chat>) -> bool {
        self.owner == grant.user() && grant.limited_key().is_none_or(|key| self.limited_key == Some(key))
    }
}
