//! The relational store in SQL, through sea-orm.
//!
//! What differs between databases is in `sqlite`, `postgres`, the two modes of beginning a transaction and
//! one function of the search for titles; entities, statements and migrations are the same for all.

mod api_keys;
mod audit;
mod conversations;
mod document_rows;
mod documents;
mod embedding_cache;
mod entities;
mod fault;
mod generations;
mod groups;
mod inventory;
mod jobs;
mod listing;
mod lookup;
mod points;
mod postgres;
mod rollbacks;
mod session;
mod sessions;
mod singleton_tasks;
mod sqlite;
mod term_statistics;
mod usage;
mod users;
mod values;
mod verifications;
mod webhook_rows;
mod webhooks;

use self::{
    fault::fault,
    session::{Lookups, Session, Source, SqlUnit, SqlView},
};
use async_trait::async_trait;
use docent_migration::{Migrator, MigratorTrait, SchemaState};
use docent_ports::{
    error::{Component, Fault, FaultKind, Result},
    store::{ReadView, Schema, Store, UnitOfWork},
};
use sea_orm::{
    AccessMode, ConnectionTrait, DbBackend, EntityTrait, IsolationLevel, QuerySelect, SqliteTransactionMode,
    TransactionOptions, TransactionTrait,
};
use std::{path::Path, time::Duration};

/// How a database is used.
#[derive(Clone, Debug)]
pub struct SqlOptions {
    /// Connections for reading, at least 1. Each has a thread of its own on SQLite.
    pub read_connections: u32,
    /// Connections for writing, at least 1 (PostgreSQL; SQLite has one writer at a time).
    pub write_connections: u32,
    /// How long to wait for a free connection.
    pub acquire_timeout: Duration,
    /// How long to wait for another process that is writing (SQLite).
    pub busy_timeout: Duration,
    /// How long to wait for the answer to one statement, locks of other units included.
    pub statement_timeout: Duration,
}

impl Default for SqlOptions {
    fn default() -> Self {
        Self {
            read_connections: 4,
            write_connections: 8,
            acquire_timeout: Duration::from_secs(10),
            busy_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(30),
        }
    }
}

/// A relational database. Cloning is cheap and shares its connections.
#[derive(Clone, Debug)]
pub struct SqlStore {
    write: Source,
    read: Source,
    patience: Duration,
    lookups: Lookups,
    /// Where the database is a file.
    file: Option<sqlite::OpenFile>,
}

impl SqlStore {
    /// Opens the database at `url`. The schema is left as it is; see [`Self::migrate`] and
    /// [`Self::schema_state`].
    ///
    /// - `sqlite://path`: the file is made when there is none, but not its folder.
    /// - `postgres://user:password@host:port/database`: nothing is connected before the first call, and a
    ///   server that went away is found again. `sslmode=verify-full` demands TLS and a certificate that
    ///   this machine, or the file in `sslrootcert`, trusts; without `sslmode` TLS is used if offered.
    ///
    /// # Errors
    /// `Rejected` for a URL of another kind, `Unavailable` or `Timeout` when a file cannot be opened.
    pub async fn connect(url: &str, options: SqlOptions) -> Result<Self> {
        // The rest of a URL may hold a password.
        match url.split_once(':').map_or("", |(scheme, _)| scheme) {
            "sqlite" => {
                let sqlite::Connections { write, read, file } = sqlite::connect(url, &options).await?;
                let source = |connections| Source::new(connections, None);
                let store = Self::new(source(write), source(read), options.statement_timeout);
                Ok(Self { file: Some(file), ..store })
            }
            "postgres" | "postgresql" => {
                let postgres::Connections { write, read, server } = postgres::connect(url, &options)?;
                let source = |connections| Source::new(connections, Some(server.clone()));
                // The server ends a statement itself, and says so a little earlier.
                let patience = options.statement_timeout + Duration::from_secs(1);
                Ok(Self::new(source(write), source(read), patience))
            }
            scheme => {
                let message =
                    format!("a database URL begins with `sqlite://` or `postgres://`, not `{scheme}:`");
                Err(Fault::new(Component::Database, FaultKind::Rejected, message))
            }
        }
    }

    fn new(write: Source, read: Source, patience: Duration) -> Self {
        let lookups = Lookups {
            users: users::lookup(&read, patience),
            documents: documents::lookup(&read, patience),
            active: generations::lookup(&read, patience),
        };
        Self { write, read, patience, lookups, file: None }
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
        let migrate = |error| fault("migrate", &error);
        // One transaction around all: a second process that migrates too waits, and finds it done.
        let begin = self.write.connections.begin_with_options(writing());
        let transaction = self.write.reach("migrate", begin).await?;
        if transaction.get_database_backend() == DbBackend::Postgres {
            transaction.execute_unprepared(postgres::BEFORE_MIGRATING).await.map_err(migrate)?;
        }
        let state = docent_migration::schema_state(&transaction).await.map_err(migrate)?;
        if matches!(state, SchemaState::Newer(_)) {
            return Err(Fault::new(Component::Database, FaultKind::Rejected, state.to_string()));
        }
        Migrator::up(&transaction, None).await.map_err(migrate)?;
        transaction.commit().await.map_err(migrate)
    }

    /// Compares the database's schema with the one that this program needs; changes nothing.
    pub async fn schema_state(&self) -> Result<SchemaState> {
        let state = docent_migration::schema_state(&self.read.connections);
        self.read.reach("read the schema's version", state).await
    }

    /// Waits for open units of work and closes all connections, which leaves one tidy file. Later
    /// calls fail.
    pub async fn close(&self) -> Result<()> {
        let close = |error| fault("close", &error);
        self.read.connections.close_by_ref().await.map_err(close)?;
        self.write.connections.close_by_ref().await.map_err(close)
    }

    fn view(&self) -> Session {
        Session::new(&self.read, reading(self.read.connections.get_database_backend()), self.patience)
    }
}

/// A transaction that writes. It takes SQLite's write lock at once: one that began by reading fails
/// when it then wants to write and somebody else wrote in between. PostgreSQL locks row by row.
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
        let session = Session::new(&self.write, writing(), self.patience);
        Ok(Box::new(SqlUnit(session.open().await?)))
    }

    async fn read(&self) -> Result<Box<dyn ReadView>> {
        Ok(Box::new(SqlView(self.view())))
    }

    async fn read_latest(&self) -> Result<Box<dyn ReadView>> {
        Ok(Box::new(SqlView(Session::single(&self.read, self.lookups.clone(), self.patience))))
    }

    async fn check(&self) -> Result<()> {
        if let Some(file) = &self.file {
            file.check().await?;
        }
        // Reads a table: `SELECT 1` alone would not tell that there is one.
        let query = entities::users::Entity::find()
            .select_only()
            .column(entities::users::Column::IsActive)
            .limit(1)
            .into_tuple::<bool>();
        self.view().run("check", |db| Box::pin(query.one(db))).await.map(drop)
    }

    async fn schema(&self) -> Result<Schema> {
        Ok(match self.schema_state().await? {
            SchemaState::Current => Schema::Current,
            SchemaState::Newer(_) => Schema::Newer,
            SchemaState::Older(_) => Schema::Older,
            SchemaState::Empty => Schema::Missing,
        })
    }
}

#[cfg(test)]
mod tests;
