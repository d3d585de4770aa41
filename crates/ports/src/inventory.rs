//! All records of the relational store, page by page: for consistency checks, backups and rebuilds.
//!
//! A page holds at most `limit` records after the given ID, in the order of IDs, which are compared by their bytes.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::AuditEntry;
use docent_domain::collection::Collection;
use docent_domain::conversation::Conversation;
use docent_domain::document::{Deletion, Document, DocumentStatus};
use docent_domain::fault::Result;
use docent_domain::group::Group;
use docent_domain::id::{
    ApiKeyId, AuditId, CollectionId, ConversationId, DocumentId, GroupId, InvitationId, ResponseId, UsageId,
    UserId, VersionId, WebhookId,
};
use docent_domain::invitation::Invitation;
use docent_domain::job::{Job, JobKind};
use docent_domain::stored_response::StoredResponse;
use docent_domain::usage::UsageRecord;
use docent_domain::user::User;
use docent_domain::webhook::Webhook;
use std::collections::{HashMap, HashSet};

/// Number of records of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Accounts.
    pub users: u64,
    /// Documents that are not deleted.
    pub documents: u64,
    /// Deleted documents that are being removed.
    pub deletions: u64,
    /// Usage records.
    pub usage: u64,
    /// Groups.
    pub groups: u64,
    /// API keys.
    pub api_keys: u64,
    /// Invitations.
    pub invitations: u64,
    /// Conversations.
    pub conversations: u64,
    /// Stored responses.
    pub responses: u64,
    /// Webhooks.
    pub webhooks: u64,
    /// Audit log entries.
    pub audit: u64,
}

impl RecordCounts {
    /// Whether there are no records. Audit log entries are ignored, since failed logins add them to a new installation.
    pub fn is_empty(&self) -> bool {
        *self == Self { audit: self.audit, ..Self::default() }
    }
}

/// Reads all records.
#[async_trait]
pub trait Inventory: Send {
    /// Counts the records.
    async fn counts(&mut self) -> Result<RecordCounts>;

    /// Lists documents that are not deleted.
    async fn documents(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Document>>;

    /// Lists deleted documents that are being removed.
    async fn deletions(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Deletion>>;

    /// Returns the status of the documents of these versions, as far as they are known; that of a replacement is its own.
    async fn statuses(&mut self, ids: &[VersionId]) -> Result<HashMap<VersionId, DocumentStatus>>;

    /// Returns which of these documents have an unfinished job of this kind.
    async fn with_open_job(&mut self, ids: &[DocumentId], kind: JobKind) -> Result<HashSet<DocumentId>>;

    /// Lists at most `limit` jobs whose lease expired before `before` and was not taken over, earliest expiry first.
    async fn jobs_with_expired_lease(&mut self, before: DateTime<Utc>, limit: u64) -> Result<Vec<Job>>;

    /// Lists accounts.
    async fn users(&mut self, after: Option<UserId>, limit: u64) -> Result<Vec<User>>;

    /// Lists groups.
    async fn groups(&mut self, after: Option<GroupId>, limit: u64) -> Result<Vec<Group>>;

    /// Lists collections.
    async fn collections(&mut self, after: Option<CollectionId>, limit: u64) -> Result<Vec<Collection>>;

    /// Lists API keys.
    async fn api_keys(&mut self, after: Option<ApiKeyId>, limit: u64) -> Result<Vec<ApiKey>>;

    /// Lists invitations.
    async fn invitations(&mut self, after: Option<InvitationId>, limit: u64) -> Result<Vec<Invitation>>;

    /// Lists conversations.
    async fn conversations(&mut self, after: Option<ConversationId>, limit: u64)
    -> Result<Vec<Conversation>>;

    /// Lists stored responses.
    async fn responses(&mut self, after: Option<ResponseId>, limit: u64) -> Result<Vec<StoredResponse>>;

    /// Lists webhooks.
    async fn webhooks(&mut self, after: Option<WebhookId>, limit: u64) -> Result<Vec<Webhook>>;

    /// Lists audit log entries.
    async fn audit(&mut self, after: Option<AuditId>, limit: u64) -> Result<Vec<AuditEntry>>;

    /// Lists usage records.
    async fn usage(&mut self, after: Option<UsageId>, limit: u64) -> Result<Vec<UsageRecord>>;
}
