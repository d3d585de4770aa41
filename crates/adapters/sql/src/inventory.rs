//! Pages of all records in SQL.

use super::documents::has_version;
use super::entities::documents::{self, to_deletion};
use super::entities::{
    api_keys, audit_log, collections, conversations, groups, invitations, jobs, responses, usage_records,
    users, webhooks,
};
use super::transaction::Transaction;
use super::values::micros;
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
use docent_ports::inventory::{Inventory, RecordCounts};
use sea_orm::{
    ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

#[async_trait]
impl Inventory for Transaction {
    async fn counts(&mut self) -> Result<RecordCounts> {
        let is_deleted = documents::Column::DeletedAt.is_not_null();
        let live = documents::Entity::find().filter(documents::Column::DeletedAt.is_null());
        let deleted = documents::Entity::find().filter(is_deleted);
        Ok(RecordCounts {
            users: self.run("count accounts", |db| Box::pin(users::Entity::find().count(db))).await?,
            documents: self.run("count documents", |db| Box::pin(live.count(db))).await?,
            deletions: self.run("count deletions", |db| Box::pin(deleted.count(db))).await?,
            usage: self.run("count usage", |db| Box::pin(usage_records::Entity::find().count(db))).await?,
            groups: self.count_rows("count groups", groups::Entity::find()).await?,
            api_keys: self.count_rows("count API keys", api_keys::Entity::find()).await?,
            invitations: self.count_rows("count invitations", invitations::Entity::find()).await?,
            conversations: self.count_rows("count conversations", conversations::Entity::find()).await?,
            responses: self.count_rows("count responses", responses::Entity::find()).await?,
            webhooks: self.count_rows("count webhooks", webhooks::Entity::find()).await?,
            audit: self.count_rows("count the audit log", audit_log::Entity::find()).await?,
        })
    }

    async fn documents(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Document>> {
        let live = documents::Entity::find().filter(documents::Column::DeletedAt.is_null());
        let after = after.map(DocumentId::as_uuid);
        self.fetch_all("read a page of documents", page(live, documents::Column::Id, after, limit)).await
    }

    async fn deletions(&mut self, after: Option<DocumentId>, limit: u64) -> Result<Vec<Deletion>> {
        let deleted = documents::Entity::find().filter(documents::Column::DeletedAt.is_not_null());
        let query = page(deleted, documents::Column::Id, after.map(DocumentId::as_uuid), limit);
        let rows = self.run("read a page of deletions", |db| Box::pin(query.all(db))).await?;
        rows.iter().filter_map(|row| to_deletion(row).transpose()).collect()
    }

    async fn statuses(&mut self, ids: &[VersionId]) -> Result<HashMap<VersionId, DocumentStatus>> {
        use documents::Column;
        let uuids = || ids.iter().map(|id| id.as_uuid());
        let query =
            documents::Entity::find().filter(has_version(ids).add(Column::ReplacementId.is_in(uuids())));
        let rows = self.run("read the status of versions", |db| Box::pin(query.all(db))).await?;
        let mut statuses = HashMap::with_capacity(rows.len());
        for row in rows {
            for (id, status) in documents::statuses(&row)? {
                statuses.insert(id, status);
            }
        }
        statuses.retain(|id, _| ids.contains(id));
        Ok(statuses)
    }

    async fn with_open_job(&mut self, ids: &[DocumentId], kind: JobKind) -> Result<HashSet<DocumentId>> {
        let query = jobs::Entity::find()
            .select_only()
            .column(jobs::Column::DocumentId)
            .filter(jobs::Column::DocumentId.is_in(ids.iter().map(|id| id.as_uuid())))
            .filter(jobs::Column::Kind.eq(kind.as_str()))
            .filter(jobs::Column::DueAt.is_not_null())
            .into_tuple::<Uuid>();
        let rows = self.run("see which documents have jobs", |db| Box::pin(query.all(db))).await?;
        Ok(rows.into_iter().map(DocumentId::from_uuid).collect())
    }

    async fn jobs_with_expired_lease(&mut self, before: DateTime<Utc>, limit: u64) -> Result<Vec<Job>> {
        let query = jobs::Entity::find()
            .filter(jobs::Column::LeaseId.is_not_null())
            .filter(jobs::Column::DueAt.lt(micros(before)))
            .order_by_asc(jobs::Column::DueAt)
            .order_by_asc(jobs::Column::Id)
            .limit(limit);
        self.fetch_all("find leases that ran out", query).await
    }

    async fn users(&mut self, after: Option<UserId>, limit: u64) -> Result<Vec<User>> {
        let query = page(users::Entity::find(), users::Column::Id, after.map(UserId::as_uuid), limit);
        self.fetch_all("read a page of accounts", query).await
    }

    async fn groups(&mut self, after: Option<GroupId>, limit: u64) -> Result<Vec<Group>> {
        let query = page(groups::Entity::find(), groups::Column::Id, after.map(GroupId::as_uuid), limit);
        let rows = self.run("read a page of groups", |db| Box::pin(query.all(db))).await?;
        self.groups_with_permissions(rows).await
    }

    async fn collections(&mut self, after: Option<CollectionId>, limit: u64) -> Result<Vec<Collection>> {
        let all = collections::Entity::find();
        let query = page(all, collections::Column::Id, after.map(CollectionId::as_uuid), limit);
        self.fetch_all("read a page of collections", query).await
    }

    async fn api_keys(&mut self, after: Option<ApiKeyId>, limit: u64) -> Result<Vec<ApiKey>> {
        let all = api_keys::Entity::find();
        let query = page(all, api_keys::Column::Id, after.map(ApiKeyId::as_uuid), limit);
        self.fetch_all("read a page of API keys", query).await
    }

    async fn invitations(&mut self, after: Option<InvitationId>, limit: u64) -> Result<Vec<Invitation>> {
        let all = invitations::Entity::find();
        let query = page(all, invitations::Column::Id, after.map(InvitationId::as_uuid), limit);
        self.fetch_all("read a page of invitations", query).await
    }

    async fn conversations(
        &mut self,
        after: Option<ConversationId>,
        limit: u64,
    ) -> Result<Vec<Conversation>> {
        let all = conversations::Entity::find();
        let query = page(all, conversations::Column::Id, after.map(ConversationId::as_uuid), limit);
        self.fetch_all("read a page of conversations", query).await
    }

    async fn responses(&mut self, after: Option<ResponseId>, limit: u64) -> Result<Vec<StoredResponse>> {
        let all = responses::Entity::find();
        let query = page(all, responses::Column::Id, after.map(ResponseId::as_uuid), limit);
        self.fetch_all("read a page of responses", query).await
    }

    async fn webhooks(&mut self, after: Option<WebhookId>, limit: u64) -> Result<Vec<Webhook>> {
        let query =
            page(webhooks::Entity::find(), webhooks::Column::Id, after.map(WebhookId::as_uuid), limit);
        self.fetch_all("read a page of webhooks", query).await
    }

    async fn audit(&mut self, after: Option<AuditId>, limit: u64) -> Result<Vec<AuditEntry>> {
        let query =
            page(audit_log::Entity::find(), audit_log::Column::Id, after.map(AuditId::as_uuid), limit);
        self.fetch_all("read a page of the audit log", query).await
    }

    async fn usage(&mut self, after: Option<UsageId>, limit: u64) -> Result<Vec<UsageRecord>> {
        let all = usage_records::Entity::find();
        let query = page(all, usage_records::Column::Id, after.map(UsageId::as_uuid), limit);
        self.fetch_all("read a page of usage", query).await
    }
}

fn page<E: EntityTrait, C: ColumnTrait>(
    query: Select<E>,
    id: C,
    after: Option<Uuid>,
    limit: u64,
) -> Select<E> {
    query.apply_if(after, |query, after| query.filter(id.gt(after))).order_by_asc(id).limit(limit)
}
