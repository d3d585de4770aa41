//! The relational store in SQL, through sea-orm.
//!
//! What differs between databases is in `connect` and the two modes of beginning a transaction;
//! entities, statements and migrations are the same for all.

mod document_rows;
mod documents;
mod entities;
mod fault;
mod jobs;
mod session;
mod sqlite;
mod usage;
mod users;
mod values;

use self::{
    fault::fault,
    session::{Session, SqlUnit, SqlView},
};
use async_trait::async_trait;
use docent_migration::{Migrator, MigratorTrait, SchemaState};
use docent_ports::{
    error::{Fault, FaultKind, Part, Result},
    store::{ReadWork, Store, UnitOfWork},
};
use sea_orm::{
    AccessMode, DatabaseConnection, DbBackend, EntityTrait, IsolationLevel, QuerySelect,
    SqliteTransactionMode, TransactionOptions, TransactionTrait,
};
use std::{path::Path, time::Duration};

/// How a database is used.
#[derive(Clone, Debug)]
pub struct SqlOptions {
    /// Connections for reading, at least 1. Each has a thread of its own on SQLite.
    pub read_connections: u32,
    /// How long to wait for a free connection.
    pub acquire_timeout: Duration,
    /// How long to wait for another process that is writing (SQLite).
    pub busy_timeout: Duration,
    /// How long to wait for the answer to one statement.
    pub statement_timeout: Duration,
}

impl Default for SqlOptions {
    fn default() -> Self {
        Self {
            read_connections: 4,
            acquire_timeout: Duration::from_secs(10),
            busy_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

/// A relational database. Cloning is cheap and shares its connections.
#[derive(Clone, Debug)]
pub struct SqlStore {
    write: DatabaseConnection,
    read: DatabaseConnection,
    statement_timeout: Duration,
}

impl SqlStore {
    /// Opens the database at `url`: `sqlite://path`, whose file is made when there is none, but not
    /// its folder. The schema is left as it is; see [`Self::migrate`] and [`Self::schema_state`].
    ///
    /// # Errors
    /// `Rejected` for a URL of another kind, `Unavailable` or `Timeout` when the database cannot be opened.
    pub async fn connect(url: &str, options: SqlOptions) -> Result<Self> {
        if !url.starts_with("sqlite:") {
            // The rest of a URL may hold a password.
            let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
            let message = format!("a database URL begins with `sqlite://`, not `{scheme}:`");
            return Err(Fault::new(Part::Database, FaultKind::Rejected, message));
        }
        let sqlite::Connections { write, read } = sqlite::connect(url, &options).await?;
        Ok(Self { write, read, statement_timeout: options.statement_timeout })
    }

    /// The URL of an SQLite database in this file, whatever characters its path has.
    pub fn sqlite_url(path: &Path) -> String {
        sqlite::url(path)
    }

    /// Brings the schema up to date: all migrations that it lacks, or none of them.
    ///
    /// # Errors
    /// Also when the schema is newer than this program; the message says so.
    pub async fn migrate(&self) -> Result<()> {
        let state = self.schema_state().await?;
        if matches!(state, SchemaState::Newer(_)) {
            return Err(Fault::new(Part::Database, FaultKind::Rejected, state.to_string()));
        }
        let migrate = |error| fault("migrate", &error);
        // One transaction around all: a second process that migrates too waits, and finds it done.
        let transaction = self.write.begin_with_options(writing()).await.map_err(migrate)?;
        Migrator::up(&transaction, None).await.map_err(migrate)?;
        transaction.commit().await.map_err(migrate)
    }

    /// Compares the database's schema with the one that this program needs; changes nothing.
    pub async fn schema_state(&self) -> Result<SchemaState> {
        let state = docent_migration::schema_state(&self.read).await;
        state.map_err(|error| fault("read the schema's version", &error))
    }

    /// Waits for open units of work and closes all connections, which leaves one tidy file. Later
    /// calls fail.
    pub async fn close(&self) -> Result<()> {
        let close = |error| fault("close", &error);
        self.read.close_by_ref().await.map_err(close)?;
        self.write.close_by_ref().await.map_err(close)
    }
}

/// A transaction that writes. It takes SQLite's write lock at once: one that began by reading fails
/// when it then wants to write and somebody else wrote in between.
fn writing() -> TransactionOptions {
    TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    }
}

/// A transaction that reads sees one state of the database throughout. SQLite's always does.
fn reading(backend: DbBackend) -> TransactionOptions {
    match backend {
        DbBackend::Sqlite => TransactionOptions::default(),
        _ => TransactionOptions {
            isolation_level: Some(IsolationLevel::RepeatableRead),
            access_mode: Some(AccessMode::ReadOnly),
            ..TransactionOptions::default()
        },
    }
}

#[async_trait]
impl Store for SqlStore {
    async fn begin(&self) -> Result<Box<dyn UnitOfWork>> {
        let session = Session::new(&self.write, writing(), self.statement_timeout);
        Ok(Box::new(SqlUnit(session.open().await?)))
    }

    async fn read(&self) -> Result<Box<dyn ReadWork>> {
        let options = reading(self.read.get_database_backend());
        Ok(Box::new(SqlView(Session::new(&self.read, options, self.statement_timeout))))
    }

    async fn check(&self) -> Result<()> {
        // Reads the file: `SELECT 1` alone would not.
        let query = entities::users::Entity::find()
            .select_only()
            .column(entities::users::Column::IsActive)
            .limit(1)
            .into_tuple::<bool>();
        let mut session =
            Session::new(&self.read, reading(self.read.get_database_backend()), self.statement_timeout);
        session.run("check", |db| Box::pin(query.one(db))).await.map(drop)
    }
}

#[cfg(test)]
mod tests;
