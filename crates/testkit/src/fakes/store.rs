//! A relational store in memory, with the transactions of a real one.
//!
//! A unit of work holds the one write lock and changes a copy of all tables; its commit puts the
//! copy in their place. A view keeps the tables as they were when it was opened.

mod documents;
mod embedding_cache;
mod generations;
mod inventory;
mod jobs;
mod users;

use async_trait::async_trait;
use docent_domain::{
    document::{Deletion, Document},
    generation::Generation,
    id::{DocumentId, GenerationId, JobId, UsageId, UserId},
    job::Job,
    usage::UsageRecord,
    user::User,
};
use docent_ports::{
    documents::{DocumentReader, DocumentWriter},
    embedding_cache::{CachedVector, EmbeddingCacheReader, EmbeddingCacheWriter, TextDigest},
    error::{Fault, FaultKind, Part, Result},
    generations::{GenerationReader, GenerationWriter},
    inventory::Inventory,
    jobs::{JobReader, JobWriter},
    store::{ReadWork, Schema, Store, UnitOfWork},
    usage::UsageWriter,
    users::{UserReader, UserWriter},
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
    documents: BTreeMap<DocumentId, Document>,
    deleted: BTreeMap<DocumentId, Deletion>,
    jobs: BTreeMap<JobId, Job>,
    /// Whose turn it is: the lowest is next.
    turns: BTreeMap<JobId, i64>,
    usage: BTreeMap<UsageId, UsageRecord>,
    vectors: BTreeMap<(String, TextDigest), CachedVector>,
    generations: BTreeMap<GenerationId, Generation>,
}

/// A broken rule of the schema.
fn violation(message: &'static str) -> Fault {
    Fault::new(Part::Database, FaultKind::Internal, message)
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

    async fn read(&self) -> Result<Box<dyn ReadWork>> {
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

impl ReadWork for View {
    fn embedding_cache(&mut self) -> &mut dyn EmbeddingCacheReader {
        &mut self.0
    }

    fn generations(&mut self) -> &mut dyn GenerationReader {
        &mut self.0
    }

    fn documents(&mut self) -> &mut dyn DocumentReader {
        &mut self.0
    }

    fn jobs(&mut self) -> &mut dyn JobReader {
        &mut self.0
    }

    fn users(&mut self) -> &mut dyn UserReader {
        &mut self.0
    }

    fn inventory(&mut self) -> &mut dyn Inventory {
        &mut self.0
    }
}

struct Unit {
    session: Session,
    committed: Arc<Mutex<Arc<Tables>>>,
    _lock: OwnedMutexGuard<()>,
}

#[async_trait]
impl UnitOfWork for Unit {
    fn embedding_cache(&mut self) -> &mut dyn EmbeddingCacheWriter {
        &mut self.session
    }

    fn generations(&mut self) -> &mut dyn GenerationWriter {
        &mut self.session
    }

    fn documents(&mut self) -> &mut dyn DocumentWriter {
        &mut self.session
    }

    fn jobs(&mut self) -> &mut dyn JobWriter {
        &mut self.session
    }

    fn users(&mut self) -> &mut dyn UserWriter {
        &mut self.session
    }

    fn usage(&mut self) -> &mut dyn UsageWriter {
        &mut self.session
    }

    async fn commit(self: Box<Self>) -> Result<()> {
        self.session.check()?;
        *self.committed.lock().unwrap() = self.session.tables;
        Ok(())
    }
}
