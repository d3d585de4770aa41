#![doc = include_str!("../README.md")]

mod api_keys;
mod audit;
mod collections;
mod conditions;
mod conversations;
mod documents;
mod embedding_cache;
mod entities;
mod external_files;
mod fault;
mod file_batches;
mod generations;
mod groups;
mod identities;
mod inventory;
mod invitations;
mod jobs;
mod listing;
mod lookup;
mod oauth;
mod open_cache;
mod open_collections;
mod points;
mod postgres;
mod record;
mod reserve;
mod roles;
mod rollbacks;
mod sessions;
mod shared_conversations;
mod singleton_tasks;
mod source;
mod sqlite;
mod statements;
mod summaries;
mod term_statistics;
mod token_store;
mod transaction;
mod usage;
mod users;
mod values;
mod verifications;
mod webhooks;
mod writes;

use self::fault::fault;
use self::reserve::Reserve;
use self::source::Source;
pub use self::token_store::SqlTokenStore;
use self::transaction::{Lookups, SqlUnit, SqlView, Transaction};
use docent_domain::fault::{Component, Fault, FaultKind, Result};

use async_trait::async_trait;
use docent_migration::{Migrator, MigratorTrait, SchemaState};
use docent_ports::store::{ReadView, Schema, Store, UnitOfWork};
use sea_orm::{
    AccessMode, ConnectionTrait, DbBackend, EntityTrait, IsolationLevel, QueryResult, QuerySelect,
    SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};
use std::path::Path;
use std::time::Duration;

/// What faults of the write check are named after.
const CHECK_WRITING: &str = "check writing";

/// Connection and timeout options.
#[derive(Clone, Debug)]
pub struct SqlOptions {
    /// Maximum number of read connections, at least 1. On SQLite each has its own thread.
    pub read_connections: u32,
    /// Maximum number of write connections, at least 1 (PostgreSQL; SQLite has one writer at a time).
    pub write_connections: u32,
    /// Timeout for a free connection.
    pub acquire_timeout: Duration,
    /// Timeout for the write lock of another process (SQLite).
    pub busy_timeout: Duration,
    /// Timeout for one statement, including the wait for locks of other units of work.
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

/// A relational database. Clones are cheap and share its connections.
#[derive(Clone, Debug)]
pub struct SqlStore {
    write: Source,
    read: Source,
    statement_timeout: Duration,
    lookups: Lookups,
    /// The database file (SQLite).
    file: Option<sqlite::OpenFile>,
    /// Space for deletions beside the database file.
    reserve: Option<Reserve>,
}

impl SqlStore {
    /// Opens the database at `url` without changing its schema; see [`Self::migrate`] and
    /// [`Self::schema_state`].
    ///
    /// - `sqlite://path`: creates the file if missing, but not its folder.
    /// - `postgres://user:password@host:port/database`: connects at the first call, and again after a lost
    ///   connection. `sslmode=verify-full` requires TLS and a certificate trusted by this machine or by
    ///   the file in `sslrootcert`; without `sslmode` TLS is used if the server offers it.
    ///
    /// # Errors
    /// `Rejected` for another kind of URL, `Unavailable` or `Timeout` if a file cannot be opened.
    pub async fn connect(url: &str, options: SqlOptions) -> Result<Self> {
        // Errors name only the scheme, since the rest of a URL may contain a password.
        match url.split_once(':').map_or("", |(scheme, _)| scheme) {
            "sqlite" => {
                let sqlite::Connections { write, read, file } = sqlite::connect(url, &options).await?;
                let source = |connections| Source::new(connections, None);
                let store = Self::new(source(write), source(read), options.statement_timeout);
                let reserve = Some(Reserve::beside(file.path()));
                Ok(Self { file: Some(file), reserve, ..store })
            }
            "postgres" | "postgresql" => {
                let postgres::Connections { write, read, server } = postgres::connect(url, &options)?;
                let source = |connections| Source::new(connections, Some(server.clone()));
                // The server cancels the statement itself; our timeout leaves time for its error.
                let statement_timeout = options.statement_timeout + Duration::from_secs(1);
                Ok(Self::new(source(write), source(read), statement_timeout))
            }
            scheme => {
                let message =
                    format!("a database URL starts with `sqlite://` or `postgres://`, not `{scheme}:`");
                Err(Fault::new(Component::Database, FaultKind::Rejected, message))
            }
        }
    }

    fn new(write: Source, read: Source, statement_timeout: Duration) -> Self {
        let lookups = Lookups {
            users: users::lookup(&read, statement_timeout),
            sessions: sessions::lookup(&read, statement_timeout),
            roles: roles::lookup(&read, statement_timeout),
            documents: documents::lookup(&read, statement_timeout),
            active: generations::lookup(&read, statement_timeout),
        };
        Self { write, read, statement_timeout, lookups, file: None, reserve: None }
    }

    /// The URL of an SQLite database file, with the path's special characters escaped.
    pub fn sqlite_url(path: &Path) -> String {
        sqlite::url(path)
    }

    /// Applies all pending migrations in one transaction.
    ///
    /// # Errors
    /// Also when the schema is newer than this program.
    pub async fn migrate(&self) -> Result<()> {
        let migrate = |error| fault("migrate", &error);
        // A second process that migrates at the same time waits here, and then finds nothing to apply.
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

    /// Compares the database's schema with the one this program needs.
    pub async fn schema_state(&self) -> Result<SchemaState> {
        let state = docent_migration::schema_state(&self.read.connections);
        self.read.reach("read the schema's version", state).await
    }

    /// Waits for open units of work and closes all connections; on SQLite this merges the write-ahead log
    /// into the database file. Later calls fail.
    pub async fn close(&self) -> Result<()> {
        let close = |error| fault("close", &error);
        self.read.connections.close_by_ref().await.map_err(close)?;
        self.write.connections.close_by_ref().await.map_err(close)
    }

    /// A writing transaction that has not begun yet.
    fn transaction(&self) -> Transaction {
        Transaction::new(&self.write, writing(), self.statement_timeout)
    }

    fn view(&self) -> Transaction {
        let backend = self.read.connections.get_database_backend();
        Transaction::new(&self.read, reading(backend), self.statement_timeout)
    }
}

/// The number that a query of the write check returns.
async fn number(transaction: &mut Transaction, query: &'static str) -> Result<i64> {
    let query = Statement::from_string(transaction.backend(), query);
    let read = |row: QueryResult| row.try_get_by_index::<i64>(0);
    let value = transaction.run(CHECK_WRITING, |db| {
        Box::pin(async move { db.query_one_raw(query).await?.map(read).transpose() })
    });
    Ok(value.await?.unwrap_or_default())
}

/// Options of a writing transaction. On SQLite it takes the write lock immediately: a transaction that starts
/// with a read cannot be upgraded once another one has written. PostgreSQL locks row by row.
fn writing() -> TransactionOptions {
    TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    }
}

/// Options of a reading transaction, which sees one snapshot of the database. On SQLite that is the default.
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
        Ok(Box::new(SqlUnit(self.transaction().open().await?)))
    }

    async fn begin_freeing(&self) -> Result<Box<dyn UnitOfWork>> {
        if let Some(reserve) = &self.reserve {
            reserve.release().await;
        }
        self.begin().await
    }

    async fn read(&self) -> Result<Box<dyn ReadView>> {
        Ok(Box::new(SqlView(self.view())))
    }

    async fn read_latest(&self) -> Result<Box<dyn ReadView>> {
        Ok(Box::new(SqlView(Transaction::autocommit(
            &self.read,
            self.lookups.clone(),
            self.statement_timeout,
        ))))
    }

    async fn check(&self) -> Result<()> {
        if let Some(file) = &self.file {
            file.check().await?;
        }
        // Reads a table: `SELECT 1` would also succeed without a schema.
        let query = entities::users::Entity::find()
            .select_only()
            .column(entities::users::Column::IsActive)
            .limit(1)
            .into_tuple::<bool>();
        self.view().run("check", |db| Box::pin(query.one(db))).await.map(drop)
    }

    async fn check_writable(&self) -> Result<()> {
        if let Some(reserve) = &self.reserve {
            reserve.fill().await;
        }
        if self.write.writes.has_succeeded() {
            return Ok(());
        }
        if let Some(fault) = self.write.writes.full() {
            // On SQLite the probe says whether there is room again.
            if self.file.is_none() {
                return Err(fault);
            }
        }
        let mut transaction = self.transaction().open().await?;
        if transaction.backend() == DbBackend::Postgres {
            let read_only = "SELECT (current_setting('transaction_read_only') = 'on')::int4::int8";
            if number(&mut transaction, read_only).await? != 0 {
                let message = "the database server is read-only";
                return Err(Fault::new(Component::Database, FaultKind::Unavailable, message));
            }
            return Ok(());
        }
        // Writes the first page with the same content: a full disk, a lock or a read-only file prevent it.
        let version = number(&mut transaction, "PRAGMA user_version").await?;
        let write = Statement::from_string(transaction.backend(), format!("PRAGMA user_version = {version}"));
        transaction.run(CHECK_WRITING, |db| Box::pin(db.execute_raw(write))).await?;
        transaction.commit().await
    }

    async fn version(&self) -> Result<Option<String>> {
        let (name, query) = match self.read.connections.get_database_backend() {
            DbBackend::Sqlite => ("SQLite", "SELECT sqlite_version() AS version"),
            DbBackend::Postgres => ("PostgreSQL", "SELECT current_setting('server_version') AS version"),
            _ => return Ok(None),
        };
        let query = Statement::from_string(self.read.connections.get_database_backend(), query);
        let read = |row: QueryResult| row.try_get::<String>("", "version");
        let mut view = self.view();
        let version = view.run("read the version", |db| {
            Box::pin(async move { db.query_one_raw(query).await?.map(read).transpose() })
        });
        Ok(version.await?.map(|version| format!("{name} {version}")))
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
