//! Opening an SQLite database.

use super::{SqlOptions, fault::driver_fault};
use docent_ports::error::{Component, Fault, FaultKind, Result};
use sea_orm::{
    DatabaseConnection, SqlxSqliteConnector,
    sqlx::{
        self, ConnectOptions, Connection, Executor,
        sqlite::{
            SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
        },
    },
};
use std::{
    path::{Path, PathBuf},
    str::FromStr,
};

/// The connections of one database file: one that writes, and a few that read.
///
/// SQLite has one writer at a time. With a single writing connection, writers of this process queue
/// for it in the order in which they came, instead of polling a locked file; and with
/// write-ahead logging readers see the last committed state and wait for nobody.
pub(super) struct Connections {
    pub(super) write: DatabaseConnection,
    pub(super) read: DatabaseConnection,
    pub(super) file: OpenFile,
}

/// The file that the connections have open. On Unix it can be removed or replaced meanwhile, which they do not notice:
/// what they write then is lost with the process.
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

    /// Whether it is still the one at its path.
    pub(super) async fn check(&self) -> Result<()> {
        let fault = |what: &str| {
            let message = format!("the database file {} {what}", self.path.display());
            Err(Fault::new(Component::Database, FaultKind::Unavailable, message))
        };
        match tokio::fs::metadata(&self.path).await {
            #[cfg(unix)]
            Ok(found) if identity(&found) != self.identity => {
                fault("was replaced by another one; restart the program")
            }
            Ok(_) => Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                fault("was removed; restore it, and restart the program")
            }
            Err(error) => fault("cannot be looked at").map_err(|fault: Fault| fault.caused_by(error)),
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
    // The three characters that mean something else in a URL; `%` first, since it comes in with the others.
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("sqlite://{path}")
}

/// Opens the database file, and makes it when there is none.
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
            // A local file does not go away; each connection is tested when it is given back.
            .test_before_acquire(false)
            .after_release(move |connection, _| Box::pin(is_free(connection, writes)))
            .idle_timeout(None)
            .max_lifetime(None)
    };
    // The writing connection comes first: it makes the file and turns on write-ahead logging.
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

/// Whether a connection that is given back has left its transaction; otherwise it is closed, which ends
/// it. A commit that failed, on a full disk for example, leaves its transaction open, and what is
/// written later on that connection would be part of it and never become durable.
async fn is_free(connection: &mut SqliteConnection, writes: bool) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        // The rollback of a transaction that was dropped may still be in the connection's queue. Without
        // waiting for it every view would cost its connection.
        connection.ping().await?;
    }
    if connection.is_in_transaction() {
        return Ok(false);
    }
    if !writes {
        return Ok(true);
    }
    // The driver counts transactions by itself and may be wrong. SQLite has none within another.
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
        // Each connection would have a database of its own, gone with the process.
        return Err(refused("names no file, and an in-memory database keeps nothing"));
    }
    let file = SqliteConnectOptions::from_str(place);
    let file = file.map_err(|error| refused("is no SQLite URL").caused_by(error.to_string()))?;
    Ok(file
        .create_if_missing(true)
        .foreign_keys(true)
        .busy_timeout(options.busy_timeout)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL syncs the log at each commit. With NORMAL the last commits could be lost with the
        // power, and an upload that was answered with 202 is a promise.
        .synchronous(SqliteSynchronous::Full)
        // After a burst of writes the log gives its space back.
        .pragma("journal_size_limit", "67108864")
        // Statements hold personal data, so they are not logged.
        .disable_statement_logging())
}

/// Makes the file readable by its owner alone, since it holds password hashes. SQLite gives its
/// companion files the same mode. A file that is there already keeps its mode.
async fn keep_private(path: &Path) -> std::io::Result<()> {
    let mut options = tokio::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    options.mode(0o600);
    options.open(path).await.map(drop)
}
