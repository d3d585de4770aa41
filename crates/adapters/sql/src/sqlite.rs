//! Opening an SQLite database.

use super::SqlOptions;
use super::fault::driver_fault;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use sea_orm::sqlx::sqlite::{
    SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sea_orm::sqlx::{self, ConnectOptions, Connection, Executor};
use sea_orm::{DatabaseConnection, SqlxSqliteConnector};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The connections to a database file: one for writing and several for reading.
///
/// SQLite has one writer at a time. With a single write connection, the writers of this process queue in order
/// instead of polling a locked file. With write-ahead logging, readers see the last committed state without
/// waiting.
pub(super) struct Connections {
    pub(super) write: DatabaseConnection,
    pub(super) read: DatabaseConnection,
    pub(super) file: OpenFile,
}

/// The open database file. On Unix the file can be removed or replaced without an error on open connections;
/// later writes are then lost.
#[derive(Clone, Debug)]
pub(super) struct OpenFile {
    path: PathBuf,
    #[cfg(unix)]
    identity: (u64, u64),
}

impl OpenFile {
    async fn at(path: PathBuf) -> std::io::Result<Self> {
        #[cfg(unix)]
        let identity = identity(&tokio::fs::metadata(&path).await?);
        Ok(Self {
            path,
            #[cfg(unix)]
            identity,
        })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the path still names the open file.
    pub(super) async fn check(&self) -> Result<()> {
        let fault = |what: &str| {
            let message = format!("the database file {} {what}", self.path.display());
            Err(Fault::new(Component::Database, FaultKind::Unavailable, message))
        };
        match tokio::fs::metadata(&self.path).await {
            #[cfg(unix)]
            Ok(found) if identity(&found) != self.identity => {
                fault("was replaced by another file; restart the program")
            }
            Ok(_) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fault("was removed; restore it, and restart the program")
            }
            Err(error) => fault("cannot be read").map_err(|fault: Fault| fault.caused_by(error)),
        }
    }
}

#[cfg(unix)]
fn identity(file: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (file.dev(), file.ino())
}

/// The URL of a database file.
pub(super) fn url(path: &Path) -> String {
    // Escapes the characters with a meaning in URLs; `%` first, since escapes contain it.
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("sqlite://{path}")
}

/// Opens the database file, and creates it if missing.
pub(super) async fn connect(url: &str, options: &SqlOptions) -> Result<Connections> {
    let file = settings(url, options)?;
    let path = file.get_filename().to_owned();
    let doing = format!("open {}", path.display());
    let unopened = |error: std::io::Error| {
        Fault::new(Component::Database, FaultKind::Unavailable, doing.clone()).caused_by(error)
    };
    keep_private(&path).await.map_err(unopened)?;
    let open = OpenFile::at(path).await.map_err(unopened)?;
    let pool = |connections, writes| {
        SqlitePoolOptions::new()
            .min_connections(1)
            .max_connections(connections)
            .acquire_timeout(options.acquire_timeout)
            // A local file does not disconnect; each connection is tested when it is returned.
            .test_before_acquire(false)
            .after_release(move |connection, _| Box::pin(is_free(connection, writes)))
            .idle_timeout(None)
            .max_lifetime(None)
    };
    // The write connection is first: it creates the file and enables write-ahead logging.
    let write = pool(1, true).connect_with(file.clone()).await;
    let write = write.map_err(|error| driver_fault(doing.clone(), &error))?;
    let readers = file.pragma("query_only", "ON");
    let read = pool(options.read_connections.max(1), false).connect_with(readers).await;
    let read = read.map_err(|error| driver_fault(doing, &error))?;
    Ok(Connections {
        write: SqlxSqliteConnector::from_sqlx_sqlite_pool(write),
        read: SqlxSqliteConnector::from_sqlx_sqlite_pool(read),
        file: open,
    })
}

/// Whether a returned connection has left its transaction; otherwise it is closed, which ends the transaction.
/// A failed commit, for example on a full disk, leaves the transaction open, and later writes on the connection
/// would become part of it and never be durable.
async fn is_free(connection: &mut SqliteConnection, writes: bool) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // The rollback of a dropped transaction may still be queued. Without waiting for it, every view
        // would close its connection.
        connection.ping().await?;
    }
    if connection.is_in_transaction() {
        return Ok(false);
    }
    if !writes {
        return Ok(true);
    }
    // The driver counts transactions itself and may be wrong. `BEGIN` fails within a transaction.
    let probe = async {
        connection.execute("BEGIN").await?;
        connection.execute("ROLLBACK").await
    };
    Ok(probe.await.is_ok())
}

fn settings(url: &str, options: &SqlOptions) -> Result<SqliteConnectOptions> {
    let refused = |why: &str| Fault::new(Component::Database, FaultKind::Rejected, format!("{url}: {why}"));
    let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
    if !matches!(parameters, "" | "mode=rwc") {
        return Err(refused("an SQLite URL takes no parameters here"));
    }
    let path = place.strip_prefix("sqlite:").unwrap_or(place);
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path == ":memory:" {
        // Each connection would have its own database.
        return Err(refused("names no file; in-memory databases are not supported"));
    }
    let file = SqliteConnectOptions::from_str(place);
    let file = file.map_err(|error| refused("is not a valid SQLite URL").caused_by(error.to_string()))?;
    Ok(file
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(options.busy_timeout)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL syncs the log at each commit. With NORMAL a power failure can lose the last commits, and with
        // them uploads that were answered with 202.
        .synchronous(SqliteSynchronous::Full)
        // Truncates the log after a burst of writes.
        .pragma("journal_size_limit", "67108864")
        // Statements contain personal data.
        .disable_statement_logging())
}

/// Creates the file for its owner only, since it contains password hashes. SQLite creates its companion files
/// with the same mode. An existing file keeps its mode.
async fn keep_private(path: &Path) -> std::io::Result<()> {
    let mut options = tokio::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path).await.map(drop)
}
