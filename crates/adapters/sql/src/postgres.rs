//! Opening a PostgreSQL database.
//!
//! Units of work run at READ COMMITTED and lock the records they read (see
//! [`Transaction::for_update`](super::transaction::Transaction::for_update)), so that concurrent changes neither
//! make them fail nor are overwritten. Views run at REPEATABLE READ. Records that a unit only counts, or that do
//! not exist, are not locked: for these the schema's constraints decide.

use super::SqlOptions;
use super::fault::fault;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use sea_orm::sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sea_orm::sqlx::{self, AssertSqlSafe, ConnectOptions, Connection, Executor};
use sea_orm::{DatabaseConnection, DbErr, SqlxPostgresConnector};
use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

/// How long to wait for a connection before probing the server's address, and between two probes.
const PROBE_AFTER: Duration = Duration::from_secs(1);

/// Timeout for the server to accept a connection.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(3);

/// Timeout for the server to answer on a returned connection.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// The first statements of a migration's transaction: no time limit, and a lock on which a second process that
/// migrates waits. The lock's number only has to be the same in every process.
pub(super) const BEFORE_MIGRATING: &str = "SET LOCAL statement_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0; \
     SELECT pg_advisory_xact_lock(7232627246218503013)";

/// The connections to a database: separate pools for writing and reading, so that readers do not wait for
/// writers' connections.
pub(super) struct Connections {
    pub(super) write: DatabaseConnection,
    pub(super) read: DatabaseConnection,
    pub(super) server: Server,
}

/// Prepares the pools. Connections are opened when needed, so the server may be unavailable now.
pub(super) fn connect(url: &str, options: &SqlOptions) -> Result<Connections> {
    let settings = settings(url)?;
    let session = session(options.statement_timeout);
    let pool = |connections: u32| {
        let session = session.clone();
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(options.acquire_timeout)
            // Not in the URL's `options`, which connection poolers reject.
            .after_connect(move |connection, _| {
                let session = AssertSqlSafe(session.clone());
                Box::pin(async move { connection.execute(session).await.map(drop) })
            })
            // A cancelled statement may still run. Without this limit the pool waits for its end, one
            // connection short.
            .after_release(|connection, _| {
                Box::pin(async move {
                    let answer = timeout(RELEASE_TIMEOUT, connection.ping()).await;
                    let late = |_| Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into()));
                    answer.unwrap_or_else(late).map(|()| true)
                })
            })
            .connect_lazy_with(settings.clone());
        SqlxPostgresConnector::from_sqlx_postgres_pool(pool)
    };
    Ok(Connections {
        write: pool(options.write_connections),
        read: pool(options.read_connections),
        server: Server::new(&settings),
    })
}

fn settings(url: &str) -> Result<PgConnectOptions> {
    let refused = |error: sqlx::Error| {
        // Without the URL, which may contain a password.
        Fault::new(Component::Database, FaultKind::Rejected, "the database URL").caused_by(error.to_string())
    };
    let mut settings = PgConnectOptions::from_str(url).map_err(refused)?;
    if settings.get_application_name().is_none() {
        settings = settings.application_name("docent");
    }
    // Statements contain personal data.
    Ok(settings.disable_statement_logging())
}

/// The first statement of each connection. With these limits no statement and no lock outlives its caller.
fn session(statement_timeout: Duration) -> String {
    let limit = statement_timeout.as_millis().clamp(1, 2_147_483_647);
    format!(
        "SET statement_timeout = {limit}; \
         SET idle_in_transaction_session_timeout = {limit}; \
         SET default_transaction_isolation = 'read committed'"
    )
}

/// The server's address, for probes.
///
/// The pool retries a server that refuses connections until the acquire timeout. A separate probe lets callers
/// fail earlier.
#[derive(Clone, Debug)]
pub(super) struct Server {
    address: Address,
    /// Allows one probe at a time.
    probing: Arc<Mutex<()>>,
}

#[derive(Clone, Debug)]
enum Address {
    Host(String, u16),
    Socket(PathBuf),
}

impl Server {
    fn new(settings: &PgConnectOptions) -> Self {
        let (host, port) = (settings.get_host(), settings.get_port());
        let folder = match settings.get_socket() {
            Some(folder) => Some(folder.as_path()),
            None => host.starts_with('/').then(|| Path::new(host)),
        };
        let address = match folder {
            Some(folder) => Address::Socket(folder.join(format!(".s.PGSQL.{port}"))),
            None => Address::Host(host.trim_matches(['[', ']']).to_owned(), port),
        };
        Self { address, probing: Arc::default() }
    }

    /// Runs `work`, which starts by waiting for a connection.
    ///
    /// # Errors
    /// Those of `work`; `Unavailable` as soon as a probe finds that the server accepts no connection.
    pub(super) async fn reach<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T> {
        let mut work = pin!(work);
        tokio::select! {
            answer = &mut work => answer.map_err(|error| fault(doing, &error)),
            error = self.unreachable() => {
                Err(Fault::new(Component::Database, FaultKind::Unavailable, doing).caused_by(error))
            }
        }
    }

    /// Waits until a probe fails.
    async fn unreachable(&self) -> io::Error {
        loop {
            sleep(PROBE_AFTER).await;
            let _alone = self.probing.lock().await;
            if let Err(error) = self.probe().await {
                return error;
            }
        }
    }

    async fn probe(&self) -> io::Result<()> {
        let accepted = async {
            match &self.address {
                Address::Host(host, port) => TcpStream::connect((host.as_str(), *port)).await.map(drop),
                #[cfg(unix)]
                Address::Socket(path) => tokio::net::UnixStream::connect(path).await.map(drop),
                #[cfg(not(unix))]
                Address::Socket(_) => Err(io::ErrorKind::Unsupported.into()),
            }
        };
        timeout(ACCEPT_TIMEOUT, accepted).await?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(url: &str) -> String {
        match Server::new(&settings(url).unwrap()).address {
            Address::Host(host, port) => format!("{host} {port}"),
            Address::Socket(path) => path.display().to_string(),
        }
    }

    #[test]
    fn server_address_comes_from_url() {
        assert_eq!(address("postgres://ada:x@db.example.org:6543/docent"), "db.example.org 6543");
        assert_eq!(address("postgres://ada@[::1]:5432/docent?sslmode=require"), "::1 5432");
        assert_eq!(address("postgres://ada@%2Frun%2Fpg:5433/docent"), "/run/pg/.s.PGSQL.5433");
        assert_eq!(address("postgres://ada@db:5432/docent?host=/run/pg"), "/run/pg/.s.PGSQL.5432");
    }

    #[test]
    fn invalid_url_error_hides_password() {
        for url in
            ["postgres://ada:secret@db:99999/docent", "postgres://ada:secret@db/docent?sslmode=secret-ly"]
        {
            let fault = settings(url).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Rejected, "{fault}");
            assert!(!fault.report().contains("ada:secret"), "{fault}");
        }
    }

    #[tokio::test]
    async fn unreachable_server_fails_before_acquire_timeout() {
        // A port that was just free, so that nothing listens there.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("postgres://ada@127.0.0.1:{port}/docent");
        let server = Server::new(&settings(&url).unwrap());
        let fault = server.reach::<()>("begin", std::future::pending()).await.unwrap_err();
        assert_eq!(
            (fault.component(), fault.kind()),
            (Component::Database, FaultKind::Unavailable),
            "{fault}"
        );
        assert_eq!(server.reach("begin", async { Ok(7) }).await.unwrap(), 7);
    }
}
