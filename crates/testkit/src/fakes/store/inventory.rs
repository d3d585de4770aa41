//! All records in memory, page by page.

use super::Transaction;
use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::AuditEntry;
use docent_domain::collection::Collection;
use docent_domain::conversation::Conversation;
use docent_domain::document::{Deletion, Document, DocumentState, DocumentStatus};
use docent_domain::fault::Result;
use docent_domain::group::Group;
use docent_domain::id::{
    ApiKeyId, AuditId, CollectionId, ConversationId, DocumentId, GroupId, InvitationId, ResponseId, UsageId,
    UserId, VersionId, WebhookId,
};
use docent_domain::invitation::Invitation;
use docent_domain::job::{Job, JobKind, JobState};
use docent_domain::stored_response::StoredResponse;
use docent_domain::usage::UsageRecord;
use docent_domain::user::User;
use docent_domain::webhook::Webhook;
use docent_ports::inventory::{Inventory, RecordCounts};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;

#[async_trait]
impl Inventory for Transaction {
    async fn counts(&mut self) -> Result<RecordCounts> {
        let tables = self.read()?;
        Ok(RecordCounts {
            users: tables.users.len() as u64,
            documents: tables.documents.len() as u64,
            deletions: tables.deleted.len() as u64,
            usage: tables.usage.len() as u64,
            groups: tables.groups.len() as u64,
            api_keys: tables.api_keys.len() as u64,
            invitations: tables.invitations.len() as u64,
            conversations: tables.conversations.len() as u64,
            responses: tables.responses.len() as u64,
            webhooks: tables.webhooks.len() as u64,
            audit: tables.audit.len() as u64,
        })
    }

    async fn documents(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Document>> {
        Ok(page(&self.read()?.documents, after, limit))
    }

    async fn deletions(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Deletion>> {
        Ok(page(&self.read()?.deleted, after, limit))
    }

    async fn statuses(&mut self, ids: &[VersionId]) -> Result<HashMap<VersionId, DocumentStatus>> {
        let tables = self.read()?;
        let mut statuses = HashMap::new();
        for document in tables.documents.values() {
            let status = match document.state {
                DocumentState::Pending(_) => DocumentStatus::Pending,
                DocumentState::Ingested(_) => DocumentStatus::Ingested,
                DocumentState::Failed(_) => DocumentStatus::Failed,
            };
            statuses.insert(document.version_id, status);
            if let Some(replacement) = &document.replacement {
                let is_failed = replacement.failure.is_some();
                let status = if is_failed { DocumentStatus::Failed } else { DocumentStatus::Pending };
                statuses.insert(replacement.version_id, status);
            }
        }
        let deleted = tables.deleted.values().flat_map(|deletion| &deletion.versions);
        statuses.extend(deleted.map(|version| (version.id, DocumentStatus::Deleted)));
        statuses.retain(|id, _| ids.contains(id));
        Ok(statuses)
    }

    async fn with_open_job(&mut self, ids: &[DocumentId], kind: JobKind) -> Result<HashSet<DocumentId>> {
        let open = |job: &&Job| job.kind == kind && job.state != JobState::Done;
        let jobs = self.read()?.jobs.values().filter(open);
        Ok(jobs.map(|job| job.document).filter(|id| ids.contains(id)).collect())
    }

    async fn jobs_with_expired_lease(&mut self, before: DateTime<Utc>, limit: u64) -> Result<Vec<Job>> {
        let end = |job: &Job| match job.state {
            JobState::Leased { until, .. } if until < before => Some((until, job.id)),
            JobState::Leased { .. } | JobState::Queued | JobState::Done => None,
        };
        let mut jobs: Vec<Job> =
            self.read()?.jobs.values().filter(|job| end(job).is_some()).cloned().collect();
        jobs.sort_by_key(end);
        jobs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(jobs)
    }

    async fn users(&mut self, after: Option<UserId>, limit: u64) -> Result<Vec<User>> {
        Ok(page(&self.read()?.users, after, limit))
    }

    async fn groups(&mut self, after: Option<GroupId>, limit: u64) -> Result<Vec<Group>> {
        Ok(page(&self.read()?.groups, after, limit))
    }

    async fn collections(&mut self, after: Option<CollectionId>, limit: u64) -> Result<Vec<Collection>> {
        Ok(page(&self.read()?.collections, after, limit))
    }

    async fn api_keys(&mut self, after: Option<ApiKeyId>, limit: u64) -> Result<Vec<ApiKey>> {
        Ok(page(&self.read()?.api_keys, after, limit))
    }

    async fn invitations(&mut self, after: Option<InvitationId>, limit: u64) -> Result<Vec<Invitation>> {
        Ok(page(&self.read()?.invitations, after, limit))
    }

    async fn conversations(
        &mut self,
        after: Option<ConversationId>,
        limit: u64,
    ) -> Result<Vec<Conversation>> {
        let page = page(&self.read()?.conversations, after, limit);
        Ok(page.into_iter().map(|(conversation, _)| conversation).collect())
    }

    async fn responses(&mut self, after: Option<ResponseId>, limit: u64) -> Result<Vec<StoredResponse>> {
        Ok(page(&self.read()?.responses, after, limit))
    }

    async fn webhooks(&mut self, after: Option<WebhookId>, limit: u64) -> Result<Vec<Webhook>> {
        let page = page(&self.read()?.webhooks, after, limit);
        Ok(page.into_iter().map(|kept| kept.webhook).collect())
    }

    async fn audit(&mut self, after: Option<AuditId>, limit: u64) -> Result<Vec<AuditEntry>> {
        Ok(page(&self.read()?.audit, after, limit))
    }

    async fn usage(&mut self, after: Option<UsageId>, limit: u64) -> Result<Vec<UsageRecord>> {
        Ok(page(&self.read()?.usage, after, limit))
    }
}

fn page<K: Ord + Copy, V: Clone>(table: &BTreeMap<K, V>, after: Option<K>, limit: u64) -> Vec<V> {
    let rest = table.range((after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded));
    rest.take(usize::try_from(limit).unwrap_or(usize::MAX)).map(|(_, record)| record.clone()).collect()
}
