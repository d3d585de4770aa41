//! Everything in the relational store, page by page: for checking, copying and rebuilding an installation.
//!
//! Pages are in the order of ids, after the one named, of at most `limit` records. Ids of a kind are ordered by
//! their bytes, everywhere.

use crate::error::Result;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    api_key::ApiKey,
    audit::AuditEntry,
    conversation::Conversation,
    document::{Deletion, Document, DocumentStatus},
    group::Group,
    id::{ApiKeyId, AuditId, ConversationId, DocumentId, GroupId, UsageId, UserId, WebhookId},
    job::{Job, JobKind},
    usage::UsageRecord,
    user::User,
    webhook::Webhook,
};
use std::collections::{HashMap, HashSet};

/// How many records of each kind there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordCounts {
    /// Accounts.
    pub users: u64,
    /// Documents, those that are being removed not counted.
    pub documents: u64,
    /// Documents that are being removed.
    pub deletions: u64,
    /// Lines of the usage ledger.
    pub usage: u64,
    /// Groups.
    pub groups: u64,
    /// API keys.
    pub api_keys: u64,
    /// Conversations.
    pub conversations: u64,
    /// Webhooks.
    pub webhooks: u64,
    /// Entries of the audit log.
    pub audit: u64,
}

impl RecordCounts {
    /// Whether there is nothing, but for entries of the audit log: failed logins leave some before there is anything.
    pub fn is_empty(&self) -> bool {
        *self == Self { audit: self.audit, ..Self::default() }
    }
}

/// Reads all records.
#[async_trait]
pub trait Inventory: Send {
    /// How many there are.
    async fn sizes(&mut self) -> Result<RecordCounts>;

    /// A page of documents, without those that are being removed.
    async fn documents(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Document>>;

    /// A page of what deleted documents leave to remove.
    async fn deletions(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Deletion>>;

    /// Where those of these documents that there is a record of are in their lives.
    async fn statuses(&mut self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, DocumentStatus>>;

    /// Those of these documents that have a job of this kind that is not done.
    async fn with_open_job(&mut self, ids: &[DocumentId], kind: JobKind) -> Result<HashSet<DocumentId>>;

    /// Jobs whose lease ran out before `before` and that nobody took up, at most `limit`, in the order of the
    /// ends of their leases.
    async fn overdue(&mut self, before: DateTime<Utc>, limit: u64) -> Result<Vec<Job>>;

    /// A page of accounts.
    async fn users(&mut self, after: Option<UserId>, limit: u64) -> Result<Vec<User>>;

    /// A page of groups.
    async fn groups(&mut self, after: Option<GroupId>, limit: u64) -> Result<Vec<Group>>;

    /// A page of API keys.
    async fn api_keys(&mut self, after: Option<ApiKeyId>, limit: u64) -> Result<Vec<ApiKey>>;

    /// A page of conversations.
    async fn conversations(&mut self, after: Option<ConversationId>, limit: u64)
    -> Result<Vec<Conversation>>;

    /// A page of webhooks.
    async fn webhooks(&mut self, after: Option<WebhookId>, limit: u64) -> Result<Vec<Webhook>>;

    /// A page of the audit log.
    async fn audit(&mut self, after: Option<AuditId>, limit: u64) -> Result<Vec<AuditEntry>>;

    /// A page of the usage ledger.
    async fn usage(&mut self, after: Option<UsageId>, limit: u64) -> Result<Vec<UsageRecord>>;
}
