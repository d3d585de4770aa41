//! Pages, filters and orders of lists.

use crate::audit::AuditAction;
use crate::collection::{Collection, CollectionKind};
use crate::condition::Condition;
use crate::failure::FailureCode;
use crate::file_batch::FilePurpose;
use crate::id::{ApiKeyId, CollectionId, ConversationId, DocumentId, GroupId, UserId, WebhookDeliveryId};
use crate::job::JobKind;
use crate::permission::{Permission, RecordKind};
use crate::scope::Scope;
use crate::session::SessionKind;
use crate::usage::TokenUsage;
use chrono::{DateTime, NaiveDate, Utc};

/// A request for one page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Number of records to skip.
    pub offset: u64,
    /// Maximum number of records on the page.
    pub limit: u64,
}

/// One page of a list and the length of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// Records of the page in the order of the list.
    pub records: Vec<T>,
    /// Number of records in the whole list at the time of reading.
    pub total: u64,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { records: Vec::new(), total: 0 }
    }
}

/// A period of time: `from` is inclusive, `to` is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Start, if limited.
    pub from: Option<DateTime<Utc>>,
    /// End, if limited.
    pub to: Option<DateTime<Utc>>,
}

impl Period {
    /// Whether the period contains `at`.
    pub fn contains(&self, at: DateTime<Utc>) -> bool {
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at < to)
    }
}

/// Which documents to list.
#[derive(Clone, Debug)]
pub struct DocumentFilter {
    /// Only documents in this scope.
    pub scope: Scope,
    /// Only documents with one of these IDs, if any.
    pub ids: Option<Vec<DocumentId>>,
    /// Only documents that meet this condition, if any.
    pub condition: Option<Condition>,
    /// Only documents with this status (`pending`, `ingested`, `failed`).
    pub status: Option<&'static str>,
    /// Only documents that failed with this code.
    pub failure: Option<FailureCode>,
    /// Only documents whose title contains this text, ignoring ASCII case.
    pub title_contains: Option<String>,
    /// Only documents with a file, if any are asked for. A file that is ingested, and of whose labels the vector store does not have
    /// the current ones, has the status `pending`.
    pub files: Option<FileFilter>,
    /// Order of the list.
    pub order: TimeOrder,
    /// Only documents after this position of the list.
    pub after: Option<ListPosition>,
    /// Maximum number of documents, if any.
    pub limit: Option<u64>,
}

/// Which documents with a file to list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileFilter {
    /// Only files of this purpose.
    pub purpose: Option<FilePurpose>,
}

/// The order of a list by creation time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeOrder {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
}

impl TimeOrder {
    /// The opposite order.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Newest => Self::Oldest,
            Self::Oldest => Self::Newest,
        }
    }
}

impl DocumentFilter {
    /// All documents in a scope.
    pub const fn of(scope: Scope) -> Self {
        Self {
            scope,
            ids: None,
            condition: None,
            status: None,
            failure: None,
            title_contains: None,
            files: None,
            order: TimeOrder::Newest,
            after: None,
            limit: None,
        }
    }
}

/// A position in a list ordered by creation time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListPosition {
    /// Creation time of the document.
    pub created_at: DateTime<Utc>,
    /// ID of the document.
    pub id: DocumentId,
}

/// Which documents to show to staff, and in which order.
#[derive(Clone, Debug, Default)]
pub struct DocumentQuery {
    /// Only documents with this status (`pending`, `ingested`, `failed`).
    pub status: Option<&'static str>,
    /// Only documents that failed with this code.
    pub failure: Option<FailureCode>,
    /// Only documents whose title contains this text, ignoring ASCII case.
    pub title_contains: Option<String>,
    /// Only documents of this account.
    pub owner: Option<UserId>,
    /// Only documents in this collection.
    pub collection: Option<CollectionId>,
    /// Order of the list.
    pub order: DocumentOrder,
}

/// Which collections to list.
#[derive(Clone, Debug, Default)]
pub struct CollectionFilter {
    /// Only collections in this scope; of all accounts if `None`.
    pub scope: Option<Scope>,
    /// Only collections whose name contains this text, ignoring ASCII case.
    pub name_contains: Option<String>,
    /// Only collections of this kind.
    pub kind: Option<CollectionKind>,
}

/// Which collections of a scope to list for an account: that of everyone, its personal one, those that it owns, those with a
/// role of its own, and then those with only a role of every account; each of these by name, ignoring ASCII case, then by ID.
#[derive(Clone, Debug)]
pub struct AccountCollections {
    /// The account.
    pub user: UserId,
    /// Only collections in this scope, which names them. None in that of all documents.
    pub scope: Scope,
    /// Only collections whose name contains this text, ignoring ASCII case.
    pub name_contains: Option<String>,
    /// Only collections after this position.
    pub after: Option<CollectionPosition>,
    /// Maximum number of collections.
    pub limit: u64,
}

impl AccountCollections {
    /// The position of a collection in the list.
    pub fn position(&self, collection: &Collection) -> CollectionPosition {
        let has_own_role = || self.scope.collections().is_none_or(|readable| readable.names(collection.id));
        let group = match collection.kind {
            CollectionKind::Everyone => CollectionGroup::Everyone,
            CollectionKind::Personal => CollectionGroup::Personal,
            CollectionKind::Shared if collection.owner == Some(self.user) => CollectionGroup::Owned,
            CollectionKind::Shared if has_own_role() => CollectionGroup::OwnRole,
            CollectionKind::Shared => CollectionGroup::Open,
        };
        CollectionPosition { group, name: collection.name.as_str().to_ascii_lowercase(), id: collection.id }
    }
}

/// A position in the list of an account's collections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CollectionPosition {
    /// Group of the collection.
    pub group: CollectionGroup,
    /// Name of the collection, with ASCII letters in lower case.
    pub name: String,
    /// ID of the collection.
    pub id: CollectionId,
}

/// A group in the list of an account's collections, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CollectionGroup {
    /// That of everyone.
    Everyone,
    /// The personal one.
    Personal,
    /// Those that the account owns.
    Owned,
    /// Those with a role of the account itself.
    OwnRole,
    /// Those with only a role of every account.
    Open,
}

impl CollectionGroup {
    /// All groups.
    pub const ALL: &[Self] = &[Self::Everyone, Self::Personal, Self::Owned, Self::OwnRole, Self::Open];
}

/// The order of documents shown to staff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DocumentOrder {
    /// Newest first.
    #[default]
    Newest,
    /// Oldest first.
    Oldest,
    /// By title, upper-case letters before lower-case ones.
    Title,
    /// Largest file first, documents without a file last.
    Largest,
}

/// Which conversations to list.
#[derive(Clone, Debug, Default)]
pub struct ConversationFilter {
    /// Only conversations of this account.
    pub owner: Option<UserId>,
    /// Only conversations whose title contains this text, ignoring ASCII case.
    pub text: Option<String>,
    /// Whether `text` may also be in a message.
    pub includes_messages: bool,
    /// Only conversations that are pinned, or are not.
    pub is_pinned: Option<bool>,
    /// Only conversations that this API key began, which is limited to collections.
    pub limited_key: Option<ApiKeyId>,
    /// Only conversations that are shared with a reader.
    pub shared: Option<SharedConversations>,
    /// Only conversations after this position.
    pub after: Option<ConversationPosition>,
}

/// Conversations of other accounts that are shared with a collection of a scope. A text is found only in messages before the first
/// answer that cites a document outside the scope, and not in earlier versions.
#[derive(Clone, Debug)]
pub struct SharedConversations {
    /// Account that reads them.
    pub reader: UserId,
    /// Collections and documents that it can read.
    pub scope: Scope,
}

/// Which answers to list.
#[derive(Clone, Debug, Default)]
pub struct AnswerFilter {
    /// Only answers of one of these kinds.
    pub kinds: Vec<AnswerKind>,
    /// Only answers given in this period.
    pub period: Period,
}

/// A kind of answers that staff look at. An answer can be of several kinds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerKind {
    /// Rated up.
    RatedUp,
    /// Rated down.
    RatedDown,
    /// The agent declined to answer.
    Declined,
    /// The best passage has a comparable score below this one.
    ScoredBelow(f32),
}

/// A position in the list of conversations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConversationPosition {
    /// Time of the conversation's last update.
    pub updated_at: DateTime<Utc>,
    /// ID of the conversation.
    pub id: ConversationId,
}

/// Which jobs to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct JobFilter {
    /// Only jobs in this state.
    pub state: Option<JobStateName>,
    /// Only jobs of this kind.
    pub kind: Option<JobKind>,
}

/// The states of jobs, without their data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobStateName {
    /// Queued.
    Queued,
    /// Running, or its runner crashed.
    Leased,
    /// Finished.
    Done,
    /// Finished without a failure.
    Succeeded,
    /// Finished, and the ingestion failed.
    Failed,
}

/// Which accounts to list.
#[derive(Clone, Debug, Default)]
pub struct UserFilter {
    /// Only accounts whose email address or name contains this text, ignoring case.
    pub text: Option<String>,
    /// Only active or only deactivated accounts.
    pub is_active: Option<bool>,
    /// Only accounts with (or without) access to the admin panel: `is_staff` or `is_superuser`.
    pub can_use_panel: Option<bool>,
    /// Only superusers or only other accounts.
    pub is_superuser: Option<bool>,
    /// Only members of this group.
    pub group: Option<GroupId>,
    /// Only accounts that have this permission, also through a group. Superusers without it are not included.
    pub permission: Option<Permission>,
    /// Order of the list.
    pub order: UserOrder,
}

/// The order of a list of accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserOrder {
    /// By email address.
    #[default]
    Email,
    /// Newest first.
    Newest,
    /// Last login first, accounts without one last.
    LastLogin,
}

/// Which sessions to list.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Only sessions of this account.
    pub user: Option<UserId>,
    /// Only sessions of this kind.
    pub kind: Option<SessionKind>,
    /// Only sessions that are valid at this time.
    pub valid_at: Option<DateTime<Utc>>,
}

/// Which keys to list.
#[derive(Clone, Debug, Default)]
pub struct ApiKeyFilter {
    /// Only keys of this account.
    pub user: Option<UserId>,
    /// Only keys that are valid at this time.
    pub valid_at: Option<DateTime<Utc>>,
    /// Only keys whose name or prefix contains this text, ignoring ASCII case.
    pub text: Option<String>,
    /// Only connected applications, or only other keys.
    pub is_connected: Option<bool>,
}

/// How usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsageGrouping {
    /// By day (UTC).
    pub by_day: bool,
    /// By account.
    pub by_user: bool,
    /// By API key, with usage without a key as a group.
    pub by_key: bool,
}

/// Which usage records to sum up.
#[derive(Clone, Copy, Debug, Default)]
pub struct UsageFilter {
    /// Only records of this account.
    pub user: Option<UserId>,
    /// Only records of this API key.
    pub api_key: Option<ApiKeyId>,
    /// Only records of this period.
    pub period: Period,
}

/// A sum of usage records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageSum {
    /// Day, if grouped by day.
    pub day: Option<NaiveDate>,
    /// Account, if grouped by account.
    pub user: Option<UserId>,
    /// API key, if grouped by key and one was used.
    pub api_key: Option<ApiKeyId>,
    /// Number of answers.
    pub answers: u64,
    /// Token usage.
    pub tokens: TokenUsage,
}

/// Which audit log entries to list.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only actions of this account.
    pub actor: Option<UserId>,
    /// Only this action.
    pub action: Option<AuditAction>,
    /// Only actions on records of this kind.
    pub kind: Option<RecordKind>,
    /// Only actions on the record with this ID.
    pub record: Option<String>,
    /// Only actions in this period.
    pub period: Period,
}

/// Which webhooks to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct WebhookFilter {
    /// Only webhooks of this account.
    pub owner: Option<UserId>,
    /// Only enabled or only disabled webhooks.
    pub is_active: Option<bool>,
}

/// A position in the deliveries of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPosition {
    /// Time of the event.
    pub created_at: DateTime<Utc>,
    /// ID of the delivery.
    pub id: WebhookDeliveryId,
}
