//! One transaction, and the two views of it that the core gets.

use super::{
    fault::{fault, late},
    lookup::Lookup,
    postgres::Server,
    rollbacks::Rollbacks,
};
use async_trait::async_trait;
use docent_domain::{
    document::Document,
    generation::IndexGeneration,
    id::{DocumentId, UserId},
    user::User,
};
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    store::{ReadView, UnitOfWork},
};
use futures::future::BoxFuture;
use sea_orm::{
    AccessMode, DatabaseConnection, DatabaseExecutor, DatabaseTransaction, DbBackend, DbErr, EntityTrait,
    QuerySelect, RuntimeErr, Select, TransactionOptions, TransactionTrait, sea_query::LockType,
};
use std::{future::Future, mem, time::Duration};
use tokio::time::timeout;
use tracing::Instrument;

/// A transaction on which the repositories run their statements, one after the other.
pub(super) struct Session {
    state: State,
    patience: Duration,
    backend: DbBackend,
    writes: bool,
    rollbacks: Rollbacks,
}

/// The connections of a database, and its server if it has one.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) connections: DatabaseConnection,
    server: Option<Server>,
    rollbacks: Rollbacks,
}

impl Source {
    pub(super) fn new(connections: DatabaseConnection, server: Option<Server>) -> Self {
        Self { connections, server, rollbacks: Rollbacks::default() }
    }

    /// Does `work` on these connections; `doing` names it in the fault that it may give.
    pub(super) async fn reach<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T> {
        match &self.server {
            Some(server) => server.reach(doing, work).await,
            None => work.await.map_err(|error| fault(doing, &error)),
        }
    }
}

/// Single records, of which concurrent callers read many at once.
#[derive(Clone, Debug)]
pub(super) struct Lookups {
    pub(super) users: Lookup<UserId, User>,
    pub(super) documents: Lookup<DocumentId, Document>,
    /// The generation that serves, of which there is one.
    pub(super) active: Lookup<(), IndexGeneration>,
}

enum State {
    /// Each statement by itself, on whatever connection is free.
    Single(Source, Lookups),
    /// It begins with the first statement, so that a view that is never used costs nothing.
    Unopened(Source, TransactionOptions),
    Open(DatabaseTransaction),
    /// A statement failed, or its caller went away in the middle of it. The transaction is rolled
    /// back: what was done in it is not known, and PostgreSQL refuses to go on after an error anyway.
    Broken,
}

impl Session {
    /// A transaction to be; `patience` bounds each of its statements.
    pub(super) fn new(source: &Source, options: TransactionOptions, patience: Duration) -> Self {
        let backend = source.connections.get_database_backend();
        let writes = !matches!(options.access_mode, Some(AccessMode::ReadOnly));
        let (source, rollbacks) = (source.clone(), source.rollbacks.clone());
        Self { state: State::Unopened(source, options), patience, backend, writes, rollbacks }
    }

    /// No transaction: each statement sees the latest state, and costs one round trip.
    pub(super) fn single(source: &Source, lookups: Lookups, patience: Duration) -> Self {
        let backend = source.connections.get_database_backend();
        let (source, rollbacks) = (source.clone(), source.rollbacks.clone());
        Self { state: State::Single(source, lookups), patience, backend, writes: false, rollbacks }
    }

    /// Where to ask for single records: nowhere in a transaction, which reads them itself.
    pub(super) fn lookups(&self) -> Option<&Lookups> {
        match &self.state {
            State::Single(_, lookups) => Some(lookups),
            State::Unopened(..) | State::Open(_) | State::Broken => None,
        }
    }

    /// The database that it talks to.
    pub(super) fn backend(&self) -> DbBackend {
        self.backend
    }

    /// Makes what a unit of work reads stay as it is until the unit ends: PostgreSQL locks the rows, but
    /// not against others' references to them. SQLite has one writer at a time, and leaves the lock out.
    pub(super) fn hold<E: EntityTrait>(&self, query: Select<E>) -> Select<E> {
        if self.writes { query.lock(LockType::NoKeyUpdate) } else { query }
    }

    /// Begins now, and waits for whatever that needs.
    pub(super) async fn open(mut self) -> Result<Self> {
        let transaction = self.transaction().await?;
        self.state = State::Open(transaction);
        Ok(self)
    }

    /// Runs one statement; `doing` names it in the fault that it may give.
    pub(super) async fn run<T, F>(&mut self, doing: &'static str, statement: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t DatabaseExecutor<'t>) -> BoxFuture<'t, Result<T, DbErr>> + Send,
    {
        if let State::Single(source, _) = &self.state {
            let connections = DatabaseExecutor::from(&source.connections);
            let answer = timeout(self.patience, source.reach(doing, statement(&connections))).await;
            return answer.unwrap_or_else(|_| Err(late(doing)));
        }
        // While the statement runs nobody else holds the transaction: when this future is dropped or
        // the statement fails, it is dropped too, and that rolls it back.
        let transaction = self.transaction().await?;
        let executor = DatabaseExecutor::from(&transaction);
        let answer = bounded(self.patience, doing, statement(&executor)).await?;
        self.state = State::Open(transaction);
        Ok(answer)
    }

    async fn transaction(&mut self) -> Result<DatabaseTransaction> {
        match mem::replace(&mut self.state, State::Broken) {
            State::Open(transaction) => Ok(transaction),
            // The pool and the database bound the wait for a connection and for the lock.
            State::Unopened(source, options) => {
                if self.writes {
                    self.rollbacks.ended().await;
                }
                source.reach("begin", begun(&source.connections, options)).await
            }
            // It is never asked to commit, and runs its statements without one.
            State::Single(..) | State::Broken => {
                let message = "a unit of work was used after one of its calls failed or was cut short";
                Err(Fault::new(Component::Database, FaultKind::Internal, message))
            }
        }
    }

    async fn commit(mut self) -> Result<()> {
        let transaction = self.transaction().await?;
        bounded(self.patience, "commit", transaction.commit()).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SQLite's one writing connection rolls back before it is used again.
        if let State::Open(transaction) = mem::replace(&mut self.state, State::Broken)
            && self.writes
            && self.backend != DbBackend::Sqlite
        {
            self.rollbacks.start(transaction);
        }
    }
}

/// Begins a transaction, on a task of its own that nobody cuts short: the driver forgets one whose beginning was, and its
/// connection would go on with it for whoever comes next. If nobody waits any more, it is rolled back.
async fn begun(
    connections: &DatabaseConnection,
    options: TransactionOptions,
) -> Result<DatabaseTransaction, DbErr> {
    let connections = connections.clone();
    let beginning = async move { connections.begin_with_options(options).await };
    let beginning = tokio::spawn(beginning.in_current_span()).await;
    beginning.unwrap_or_else(|error| Err(DbErr::Conn(RuntimeErr::Internal(error.to_string()))))
}

async fn bounded<T>(
    patience: Duration,
    doing: &'static str,
    statement: impl Future<Output = Result<T, DbErr>>,
) -> Result<T> {
    match timeout(patience, statement).await {
        Ok(answer) => answer.map_err(|error| fault(doing, &error)),
        Err(_) => Err(late(doing)),
    }
}

/// A [`Session`] that is only read.
pub(super) struct SqlView(pub(super) Session);

impl ReadView for SqlView {
    docent_ports::repositories!(read to 0);
}

/// A [`Session`] that writes.
pub(super) struct SqlUnit(pub(super) Session);

#[async_trait]
impl UnitOfWork for SqlUnit {
    docent_ports::repositories!(write to 0);

    async fn commit(self: Box<Self>) -> Result<()> {
        self.0.commit().await
    }
}
