//! The first and the last entry of an archive.

use serde::{Deserialize, Serialize};

/// The manifest of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The archive format.
    pub format: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The last migration of the source database.
    pub schema: String,
    /// The embedding model of its chunks.
    pub embedding_model: String,
    /// When the backup was started.
    pub begun_at: String,
    /// The number of accounts.
    pub users: u64,
    /// The maximum number of documents: some may have been deleted during the backup.
    pub documents: u64,
    /// The number of usage records.
    pub usage: u64,
    /// The number of groups.
    #[serde(default)]
    pub groups: u64,
    /// The number of API keys.
    #[serde(default)]
    pub api_keys: u64,
    /// The number of invitations.
    #[serde(default)]
    pub invitations: u64,
    /// The number of conversations.
    #[serde(default)]
    pub conversations: u64,
    /// The number of stored responses.
    #[serde(default)]
    pub responses: u64,
    /// The number of webhooks.
    #[serde(default)]
    pub webhooks: u64,
    /// The number of audit log entries.
    #[serde(default)]
    pub audit: u64,
}

/// The last entry of an archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct End {
    pub(super) entries: u64,
    pub(super) documents: u64,
    pub(super) sha256: String,
}
