//! A transaction, and its read-only and writing forms behind the store's ports.

use super::fault::{fault, late};
use super::lookup::Lookup;
use super::open_cache::OpenCache;
use super::roles::OwnRoles;
use super::rollbacks::Rollbacks;
use super::source::Source;
use super::writes::Writes;
use async_trait::async_trait;
use docent_domain::document::Document;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::generation::IndexGeneration;
use docent_domain::id::{DocumentId, SessionId, UserId};
use docent_domain::session::Session;
use docent_domain::user::User;
use docent_ports::store::{ReadView, UnitOfWork};
use futures::future::BoxFuture;
use sea_orm::sea_query::LockType;
use sea_orm::{
    AccessMode, ColumnTrait, DatabaseConnection, DatabaseExecutor, DatabaseTransaction, DbBackend, DbErr,
    EntityTrait, QueryFilter, QuerySelect, RuntimeErr, Select, TransactionOptions, TransactionTrait,
};
use std::future::Future;
use std::mem;
use std::time::Duration;
use tokio::time::timeout;
use tracing::Instrument;
use uuid::Uuid;

/// A transaction on which the repositories run their statements, one after the other.
///
/// Dropping it rolls it back.
pub(super) struct Transaction {
    state: State,
    statement_timeout: Duration,
    backend: DbBackend,
    writes: bool,
    rollbacks: Rollbacks,
    outcomes: Writes,
    open: OpenCache,
}

/// Reads by ID, batched across concurrent callers.
#[derive(Clone, Debug)]
pub(super) struct Lookups {
    pub(super) users: Lookup<UserId, User>,
    pub(super) sessions: Lookup<SessionId, (Session, User)>,
    /// Roles of accounts themselves on collections.
    pub(super) roles: Lookup<UserId, OwnRoles>,
    pub(super) documents: Lookup<DocumentId, Document>,
    /// The active index generation. There is at most one.
    pub(super) active: Lookup<(), IndexGeneration>,
}

enum State {
    /// No transaction: each statement runs by itself on any free connection.
    Autocommit(Source, Lookups),
    /// Begins with the first statement, so that a view that is never used costs nothing.
    NotStarted(Source, TransactionOptions),
    Open(DatabaseTransaction),
    /// A statement failed or was cancelled, and the transaction is rolled back: its effects are
    /// unknown, and PostgreSQL accepts no further statements after an error.
    Broken,
}

impl Transaction {
    /// A transaction that has not begun yet; `statement_timeout` limits each of its statements.
    pub(super) fn new(source: &Source, options: TransactionOptions, statement_timeout: Duration) -> Self {
        let backend = source.connections.get_database_backend();
        let writes = !matches!(options.access_mode, Some(AccessMode::ReadOnly));
        let (rollbacks, outcomes, open) = source.shared();
        let state = State::NotStarted(source.clone(), options);
        Self { state, statement_timeout, backend, writes, rollbacks, outcomes, open }
    }

    /// Runs each statement outside a transaction: it sees the latest state and costs one round trip.
    pub(super) fn autocommit(source: &Source, lookups: Lookups, statement_timeout: Duration) -> Self {
        let backend = source.connections.get_database_backend();
        let (rollbacks, outcomes, open) = source.shared();
        let source = source.clone();
        Self {
            state: State::Autocommit(source, lookups),
            statement_timeout,
            backend,
            writes: false,
            rollbacks,
            outcomes,
            open,
        }
    }

    /// The batched reads of single records; none within a transaction.
    pub(super) fn lookups(&self) -> Option<&Lookups> {
        match &self.state {
            State::Autocommit(_, lookups) => Some(lookups),
            State::NotStarted(..) | State::Open(_) | State::Broken => None,
        }
    }

    /// The collections that are open to all, as this process last read them.
    pub(super) fn open_cache(&self) -> &OpenCache {
        &self.open
    }

    /// The database's kind.
    pub(super) fn backend(&self) -> DbBackend {
        self.backend
    }

    /// Locks the selected rows until the end of a unit of work (`FOR NO KEY UPDATE`, which still permits
    /// foreign keys to them). SQLite has one writer at a time, and its queries are built without the lock.
    pub(super) fn for_update<E: EntityTrait>(&self, query: Select<E>) -> Select<E> {
        if self.writes { query.lock(LockType::NoKeyUpdate) } else { query }
    }

    /// Reads a text of each selected record with one of the IDs.
    pub(super) async fn texts<E: EntityTrait>(
        &mut self,
        doing: &'static str,
        query: Select<E>,
        [id, text]: [E::Column; 2],
        ids: impl Iterator<Item = Uuid>,
    ) -> Result<Vec<(Uuid, String)>> {
        let query = query.select_only().columns([id, text]).filter(id.is_in(ids)).into_tuple();
        self.run(doing, |db| Box::pin(query.all(db))).await
    }

    /// Begins the transaction now, after waiting for a connection and, on SQLite, for the write lock.
    pub(super) async fn open(mut self) -> Result<Self> {
        let transaction = self.transaction().await?;
        self.state = State::Open(transaction);
        Ok(self)
    }

    /// Runs one statement; a fault is named after `doing`.
    pub(super) async fn run<T, F>(&mut self, doing: &'static str, statement: F) -> Result<T>
    where
        F: for<'t> FnOnce(&'t DatabaseExecutor<'t>) -> BoxFuture<'t, Result<T, DbErr>> + Send,
    {
        if let State::Autocommit(source, _) = &self.state {
            let connections = DatabaseExecutor::from(&source.connections);
            let answer = timeout(self.statement_timeout, source.reach(doing, statement(&connections))).await;
            return answer.unwrap_or_else(|_| Err(late(doing)));
        }
        // This future owns the transaction while the statement runs. When the future is dropped or the
        // statement fails, the transaction is dropped and so rolled back.
        let transaction = self.transaction().await?;
        let executor = DatabaseExecutor::from(&transaction);
        let answer = with_timeout(self.statement_timeout, doing, statement(&executor)).await;
        let answer = answer.inspect_err(|fault| self.note_failure(fault))?;
        self.state = State::Open(transaction);
        Ok(answer)
    }

    async fn transaction(&mut self) -> Result<DatabaseTransaction> {
        match mem::replace(&mut self.state, State::Broken) {
            State::Open(transaction) => Ok(transaction),
            // The pool and the database limit the wait for a connection and for the lock.
            State::NotStarted(source, options) => {
                if self.writes {
                    self.rollbacks.ended().await;
                }
                let begun = source.reach("begin", begin(&source.connections, options)).await;
                begun.inspect_err(|fault| self.note_failure(fault))
            }
            // `run` handles autocommit itself, and read-only views are never committed.
            State::Autocommit(..) | State::Broken => {
                let message = "a unit of work was used after one of its calls failed or was cancelled";
                Err(Fault::new(Component::Database, FaultKind::Internal, message))
            }
        }
    }

    pub(super) async fn commit(mut self) -> Result<()> {
        let transaction = self.transaction().await?;
        with_timeout(self.statement_timeout, "commit", transaction.commit())
            .await
            .inspect(|()| self.outcomes.succeeded())
            .inspect_err(|fault| self.note_failure(fault))
    }

    fn note_failure(&self, fault: &Fault) {
        if self.writes {
            self.outcomes.failed(fault);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // SQLite's only write connection rolls back before it is used again.
        if let State::Open(transaction) = mem::replace(&mut self.state, State::Broken)
            && self.writes
            && self.backend != DbBackend::Sqlite
        {
            self.rollbacks.start(transaction);
        }
    }
}

/// Begins a transaction on a task of its own, so that it cannot be cancelled half-way: the driver forgets a
/// transaction whose `BEGIN` was cancelled, and the connection's next user would continue it. A transaction
/// that is no longer wanted is rolled back.
async fn begin(
    connections: &DatabaseConnection,
    options: TransactionOptions,
) -> Result<DatabaseTransaction, DbErr> {
    let connections = connections.clone();
    let beginning = async move { connections.begin_with_options(options).await };
    let beginning = tokio::spawn(beginning.in_current_span()).await;
    beginning.unwrap_or_else(|error| Err(DbErr::Conn(RuntimeErr::Internal(error.to_string()))))
}

async fn with_timeout<T>(
    statement_timeout: Duration,
    doing: &'static str,
    statement: impl Future<Output = Result<T, DbErr>>,
) -> Result<T> {
    match timeout(statement_timeout, statement).await {
        Ok(answer) => answer.map_err(|error| fault(doing, &error)),
        Err(_) => Err(late(doing)),
    }
}

/// A read-only [`Transaction`].
pub(super) struct SqlView(pub(super) Transaction);

impl ReadView for SqlView {
    docent_ports::repositories!(read to 0);
}

/// A writing [`Transaction`].
pub(super) struct SqlUnit(pub(super) Transaction);

#[async_trait]
impl UnitOfWork for SqlUnit {
    docent_ports::repositories!(write to 0);

    async fn commit(self: Box<Self>) -> Result<()> {
        self.0.commit().await
    }
}
