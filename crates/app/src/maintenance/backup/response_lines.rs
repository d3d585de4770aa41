//! Stored responses in the archive format.

use super::BackupError;
use super::lines::{id, instant};
use docent_domain::stored_response::StoredResponse;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ResponseLine {
    id: String,
    owner: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limited_key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<String>,
    content: String,
    created_at: i64,
}

impl ResponseLine {
    pub(super) fn of(response: &StoredResponse) -> Self {
        Self {
            id: response.id.to_string(),
            owner: response.owner.to_string(),
            limited_key: response.limited_key.map(|key| key.to_string()),
            previous: response.previous.map(|previous| previous.to_string()),
            content: response.content.clone(),
            created_at: response.created_at.timestamp_micros(),
        }
    }

    pub(super) fn response(self) -> Result<StoredResponse, BackupError> {
        Ok(StoredResponse {
            id: id(&self.id)?,
            owner: id(&self.owner)?,
            limited_key: self.limited_key.as_deref().map(id).transpose()?,
            previous: self.previous.as_deref().map(id).transpose()?,
            content: self.content,
            created_at: instant(self.created_at)?,
        })
    }
}
