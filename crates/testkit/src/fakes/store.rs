//! A relational store in memory, with the transactions of a real one.
//!
//! A unit of work holds the one write lock and changes a copy of all tables; its commit puts the
//! copy in their place. A view keeps the tables as they were when it was opened.

mod audit;
mod conversations;
mod credentials;
mod documents;
mod embedding_cache;
mod generations;
mod groups;
mod inventory;
mod jobs;
mod singleton_tasks;
mod term_statistics;
mod users;
mod webhooks;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use docent_domain::{
    api_key::ApiKey,
    audit::AuditEntry,
    conversation::{Conversation, ConversationMessage},
    document::{Deletion, Document},
    generation::IndexGeneration,
    group::{AssignedPermissions, Group},
    id::{
        ApiKeyId, AuditId, ConversationId, DocumentId, GenerationId, GroupId, JobId, LeaseId, SessionId,
        UsageId, UserId, VerificationId, WebhookDeliveryId, WebhookId,
    },
    job::Job,
    usage::UsageRecord,
    user::User,
    verification::VerificationToken,
    webhook::{Webhook, WebhookDelivery},
};
use docent_ports::{
    embedding_cache::{CachedVector, TextDigest},
    error::{Component, Fault, FaultKind, Result},
    page::{Page, PageRequest},
    store::{ReadView, Schema, Store, UnitOfWork},
    term_statistics::Contribution,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};
use tokio::sync::OwnedMutexGuard;

/// A relational store in memory. Clones are the same store.
#[derive(Clone, Debug, Default)]
pub struct FakeStore {
    committed: Arc<Mutex<Arc<Tables>>>,
    writer: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Clone, Debug, Default)]
struct Tables {
    users: BTreeMap<UserId, User>,
    groups: BTreeMap<GroupId, Group>,
    rights: BTreeMap<UserId, AssignedPermissions>,
    api_keys: BTreeMap<ApiKeyId, ApiKey>,
    sessions: BTreeMap<SessionId, docent_domain::session::Session>,
    verifications: BTreeMap<VerificationId, VerificationToken>,
    conversations: BTreeMap<ConversationId, (Conversation, Vec<ConversationMessage>)>,
    webhooks: BTreeMap<WebhookId, Kept>,
    deliveries: BTreeMap<WebhookDeliveryId, WebhookDelivery>,
    audit: BTreeMap<AuditId, AuditEntry>,
    documents: BTreeMap<DocumentId, Document>,
    deleted: BTreeMap<DocumentId, Deletion>,
    jobs: BTreeMap<JobId, Job>,
    /// Whose turn it is: the lowest is next.
    turns: BTreeMap<JobId, i64>,
    usage: BTreeMap<UsageId, UsageRecord>,
    vectors: BTreeMap<(String, TextDigest), CachedVector>,
    generations: BTreeMap<GenerationId, IndexGeneration>,
    singleton_tasks: BTreeMap<&'static str, Held>,
    /// What each document of each collection has added.
    term_statistics: BTreeMap<(String, DocumentId), Contribution>,
}

/// Who took a duty last, and when it was done.
#[derive(Clone, Copy, Debug)]
struct Held {
    lease: LeaseId,
    until: DateTime<Utc>,
    done_at: Option<DateTime<Utc>>,
}

/// A webhook, and who tells it something.
#[derive(Clone, Debug)]
struct Kept {
    webhook: Webhook,
    lease: Option<LeaseId>,
    until: Option<DateTime<Utc>>,
}

/// The page of a list that is in order.
fn page_of<T>(list: Vec<T>, page: PageRequest) -> Page<T> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let total = list.len() as u64;
    Page { records: list.into_iter().skip(number(page.offset)).take(number(page.limit)).collect(), total }
}

/// A broken rule of the schema.
fn violation(message: &'static str) -> Fault {
    Fault::new(Component::Database, FaultKind::Internal, message)
}

/// The tables as one transaction sees them.
struct Session {
    tables: Arc<Tables>,
    /// As in a real database, nothing can be done after a failed call.
    broken: bool,
}

impl Session {
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
            session: Session { tables, broken: false },
            committed: Arc::clone(&self.committed),
            _lock: lock,
        }))
    }

    async fn read(&self) -> Result<Box<dyn ReadView>> {
        let tables = Arc::clone(&self.committed.lock().unwrap());
        Ok(Box::new(View(Session { tables, broken: false })))
    }

    async fn check(&self) -> Result<()> {
        Ok(())
    }

    async fn schema(&self) -> Result<Schema> {
        Ok(Schema::Current)
    }
}

struct View(Session);

impl ReadView for View {
    docent_ports::repositories!(read to 0);
}

struct Unit {
    session: Session,
    committed: Arc<Mutex<Arc<Tables>>>,
    _lock: OwnedMutexGuard<()>,
}

#[async_trait]
impl UnitOfWork for Unit {
    docent_ports::repositories!(write to session);

    async fn commit(self: Box<Self>) -> Result<()> {
        self.session.check()?;
        *self.committed.lock().unwrap() = self.session.tables;
        Ok(())
    }
}
