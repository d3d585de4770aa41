//! In-memory relational store with transactions.
//!
//! A unit of work holds the only write lock and changes a copy of all tables, which its commit installs. A view keeps
//! the tables as of its opening.

mod audit;
mod collections;
mod conversations;
mod credentials;
mod documents;
mod embedding_cache;
mod generations;
mod groups;
mod identities;
mod inventory;
mod invitations;
mod jobs;
mod oauth;
mod singleton_tasks;
mod term_statistics;
mod users;
mod webhooks;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::api_key::ApiKey;
use docent_domain::audit::AuditEntry;
use docent_domain::collection::{Collection, CollectionRole, Member};
use docent_domain::conversation::{Conversation, ConversationMessage};
use docent_domain::document::{Deletion, Document};
use docent_domain::external_file::ExternalFile;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::file_batch::{CollectionMetadata, FileBatch, FilePurpose};
use docent_domain::generation::IndexGeneration;
use docent_domain::group::{AssignedPermissions, Group};
use docent_domain::id::{
    ApiKeyId, AuditId, AuthorizationCodeId, CollectionId, ConversationId, DocumentId, FileBatchId,
    GenerationId, GroupId, InvitationId, JobId, LeaseId, OAuthClientId, ResponseId, SessionId, UsageId,
    UserId, VerificationId, VersionId, WebhookDeliveryId, WebhookId,
};
use docent_domain::identity::{Identity, ProviderSession};
use docent_domain::invitation::Invitation;
use docent_domain::job::Job;
use docent_domain::listing::{Page, PageRequest};
use docent_domain::oauth::{AuthorizationCode, RegisteredClient};
use docent_domain::stored_response::StoredResponse;
use docent_domain::usage::UsageRecord;
use docent_domain::user::User;
use docent_domain::verification::VerificationToken;
use docent_domain::webhook::{Webhook, WebhookDelivery};
use docent_ports::embedding_cache::{CachedVector, TextDigest};
use docent_ports::store::{ReadView, Schema, Store, UnitOfWork};
use docent_ports::term_statistics::Contribution;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tokio::sync::OwnedMutexGuard;

/// An in-memory relational store. Clones share it.
#[derive(Clone, Debug)]
pub struct FakeStore {
    committed: Arc<Mutex<Arc<Tables>>>,
    writer: Arc<tokio::sync::Mutex<()>>,
}

impl Default for FakeStore {
    fn default() -> Self {
        let everyone = Collection::everyone(DateTime::UNIX_EPOCH);
        let tables = Tables { collections: BTreeMap::from([(everyone.id, everyone)]), ..Tables::default() };
        Self { committed: Arc::new(Mutex::new(Arc::new(tables))), writer: Arc::default() }
    }
}

#[derive(Clone, Debug, Default)]
struct Tables {
    users: BTreeMap<UserId, User>,
    groups: BTreeMap<GroupId, Group>,
    rights: BTreeMap<UserId, AssignedPermissions>,
    api_keys: BTreeMap<ApiKeyId, ApiKey>,
    oauth_clients: BTreeMap<OAuthClientId, RegisteredClient>,
    oauth_codes: BTreeMap<AuthorizationCodeId, AuthorizationCode>,
    sessions: BTreeMap<SessionId, docent_domain::session::Session>,
    /// Identities by issuer and subject.
    identities: BTreeMap<(String, String), Identity>,
    provider_sessions: BTreeMap<SessionId, ProviderSession>,
    invitations: BTreeMap<InvitationId, Invitation>,
    verifications: BTreeMap<VerificationId, VerificationToken>,
    conversations: BTreeMap<ConversationId, (Conversation, Vec<ConversationMessage>)>,
    responses: BTreeMap<ResponseId, StoredResponse>,
    /// Collections that accounts have hidden.
    hidden: BTreeSet<(UserId, CollectionId)>,
    /// Collections that conversations are shared with.
    shared: BTreeSet<(ConversationId, CollectionId)>,
    webhooks: BTreeMap<WebhookId, Kept>,
    deliveries: BTreeMap<WebhookDeliveryId, WebhookDelivery>,
    audit: BTreeMap<AuditId, AuditEntry>,
    /// Failed logins of unknown accounts by hour and network.
    failed_logins: BTreeMap<(DateTime<Utc>, String), u64>,
    collections: BTreeMap<CollectionId, Collection>,
    members: BTreeMap<(CollectionId, Member), CollectionRole>,
    documents: BTreeMap<DocumentId, Document>,
    /// Revision of the labels that the index has; 0 if absent.
    indexed_labels: BTreeMap<DocumentId, u32>,
    purposes: BTreeMap<DocumentId, FilePurpose>,
    external_files: BTreeMap<DocumentId, ExternalFile>,
    metadata: BTreeMap<CollectionId, CollectionMetadata>,
    batches: BTreeMap<FileBatchId, FileBatch>,
    summaries: BTreeMap<DocumentId, docent_domain::summary::DocumentSummary>,
    deleted: BTreeMap<DocumentId, Deletion>,
    jobs: BTreeMap<JobId, Job>,
    /// Position of each job in the queue: the lowest is next.
    turns: BTreeMap<JobId, i64>,
    usage: BTreeMap<UsageId, UsageRecord>,
    vectors: BTreeMap<(String, TextDigest), CachedVector>,
    generations: BTreeMap<GenerationId, IndexGeneration>,
    singleton_tasks: BTreeMap<&'static str, Held>,
    /// Contribution of each document to each vector collection.
    term_statistics: BTreeMap<(String, VersionId), Contribution>,
}

/// Last lease of a singleton task, and its last completion.
#[derive(Clone, Copy, Debug)]
struct Held {
    lease: LeaseId,
    until: DateTime<Utc>,
    done_at: Option<DateTime<Utc>>,
}

/// A webhook with its lease.
#[derive(Clone, Debug)]
struct Kept {
    webhook: Webhook,
    lease: Option<LeaseId>,
    until: Option<DateTime<Utc>>,
}

/// Returns the requested page of a list, after sorting it in descending order of `key`.
fn newest_page<T, K: Ord>(mut list: Vec<T>, key: impl Fn(&T) -> K, page: PageRequest) -> Page<T> {
    list.sort_by_key(|record| Reverse(key(record)));
    page_of(list, page)
}

/// Returns the requested page of a sorted list.
fn page_of<T>(list: Vec<T>, page: PageRequest) -> Page<T> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let total = list.len() as u64;
    Page { records: list.into_iter().skip(number(page.offset)).take(number(page.limit)).collect(), total }
}

/// Adds a record, whose ID must be new.
fn insert_once<K: Ord, V: Clone>(table: &mut BTreeMap<K, V>, id: K, record: &V) -> Result<()> {
    match table.insert(id, record.clone()) {
        None => Ok(()),
        Some(_) => Err(violation("there is a record with this id")),
    }
}

impl Tables {
    /// Checks that the account a record belongs to exists.
    fn check_owner(&self, user: UserId) -> Result<()> {
        if self.users.contains_key(&user) {
            Ok(())
        } else {
            Err(violation("the record's account does not exist"))
        }
    }
}

/// Creates a fault for a constraint violation.
fn violation(message: &'static str) -> Fault {
    Fault::new(Component::Database, FaultKind::Internal, message)
}

/// The tables as one transaction sees them.
struct Transaction {
    tables: Arc<Tables>,
    /// Like in a real database, every call fails after a failed one.
    broken: bool,
}

impl Transaction {
    fn check(&self) -> Result<()> {
        if self.broken {
            Err(violation("a unit of work was used after one of its calls failed"))
        } else {
            Ok(())
        }
    }

    fn read(&self) -> Result<&Tables> {
        self.check()?;
        Ok(&self.tables)
    }

    fn write<T>(&mut self, change: impl FnOnce(&mut Tables) -> Result<T>) -> Result<T> {
        self.check()?;
        let changed = change(Arc::make_mut(&mut self.tables));
        self.broken = changed.is_err();
        changed
    }
}

#[async_trait]
impl Store for FakeStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>> {
        let lock = Arc::clone(&self.writer).lock_owned().await;
        let tables = Arc::clone(&self.committed.lock().unwrap());
        Ok(Box::new(Unit {
            transaction: Transaction { tables, broken: false },
            committed: Arc::clone(&self.committed),
            _lock: lock,
        }))
    }

    async fn read(&self) -> Result<Box<dyn ReadView>> {
        let tables = Arc::clone(&self.committed.lock().unwrap());
        Ok(Box::new(View(Transaction { tables, broken: false })))
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }

    async fn check_writable(&self) -> Result<()> {
        Ok(())
    }

    async fn schema(&self) -> Result<Schema> {
        Ok(Schema::Current)
    }
}

struct View(Transaction);

impl ReadView for View {
    docent_ports::repositories!(read to 0);
}

struct Unit {
    transaction: Transaction,
    committed: Arc<Mutex<Arc<Tables>>>,
    _lock: OwnedMutexGuard<()>,
}

#[async_trait]
impl UnitOfWork for Unit {
    docent_ports::repositories!(write to transaction);

    async fn commit(self: Box<Self>) -> Result<()> {
        self.transaction.check()?;
        *self.committed.lock().unwrap() = self.transaction.tables;
        Ok(())
    }
}
