//! Opening a PostgreSQL database.
//!
//! Units of work run at READ COMMITTED and lock each record that they read (see
//! [`Session::hold`](super::session::Session::hold)), so that they never fail for what others did and
//! never overwrite it; views run at REPEATABLE READ. Records that a unit only counts, or finds missing,
//! are not held: there the constraints of the schema decide.

use super::{SqlOptions, fault::fault};
use docent_ports::error::{Component, Fault, FaultKind, Result};
use sea_orm::{
    DatabaseConnection, DbErr, SqlxPostgresConnector,
    sqlx::{
        self, AssertSqlSafe, ConnectOptions, Connection, Executor,
        postgres::{PgConnectOptions, PgPoolOptions},
    },
};
use std::{
    future::Future,
    io,
    path::{Path, PathBuf},
    pin::pin,
    str::FromStr,
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::TcpStream,
    sync::Mutex,
    time::{sleep, timeout},
};

/// How long to wait for a connection before looking whether there is a server at all, and how long to
/// wait between two looks.
const LOOK_AFTER: Duration = Duration::from_secs(1);

/// How long the server may take to accept a connection.
const ACCEPT_TIMEOUT: Duration = Duration::from_secs(3);

/// How long the server may take to answer for a connection that was given back.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// What a migration runs before anything else, in its transaction: it may take as long as it needs, and
/// a second process that migrates waits here. The number only has to be the same in every process.
pub(super) const BEFORE_MIGRATING: &str = "SET LOCAL statement_timeout = 0; \
     SET LOCAL idle_in_transaction_session_timeout = 0; \
     SELECT pg_advisory_xact_lock(7232627246218503013)";

/// The connections to one database: some that write and some that read, so that readers do not wait for
/// writers, not even for a connection.
pub(super) struct Connections {
    pub(super) write: DatabaseConnection,
    pub(super) read: DatabaseConnection,
    pub(super) server: Server,
}

/// Prepares the connections. Each is made when it is first needed, so the server may be away now.
pub(super) fn connect(url: &str, options: &SqlOptions) -> Result<Connections> {
    let settings = settings(url)?;
    let session = session(options.statement_timeout);
    let pool = |connections: u32| {
        let session = session.clone();
        let pool = PgPoolOptions::new()
            .max_connections(connections.max(1))
            .acquire_timeout(options.acquire_timeout)
            // Not in the URL's `options`, which connection poolers refuse.
            .after_connect(move |connection, _| {
                let session = AssertSqlSafe(session.clone());
                Box::pin(async move { connection.execute(session).await.map(drop) })
            })
            // A statement that was given up may still run. The pool itself would wait for its end
            // without a limit, and have one connection fewer for so long.
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
        // Without the URL, which may hold a password.
        Fault::new(Component::Database, FaultKind::Rejected, "the database URL").caused_by(error.to_string())
    };
    let mut settings = PgConnectOptions::from_str(url).map_err(refused)?;
    if settings.get_application_name().is_none() {
        settings = settings.application_name("docent");
    }
    // Statements hold personal data, so they are not logged.
    Ok(settings.disable_statement_logging())
}

/// What each connection is told first: no statement and no lock outlives a caller that went away.
fn session(statement_timeout: Duration) -> String {
    let limit = statement_timeout.as_millis().clamp(1, 2_147_483_647);
    format!(
        "SET statement_timeout = {limit}; \
         SET idle_in_transaction_session_timeout = {limit}; \
         SET default_transaction_isolation = 'read committed'"
    )
}

/// Where the server listens.
///
/// The pool keeps knocking at a server that refuses connections until its own time is up. Those who wait
/// should not: a look from aside tells them that the server is away.
#[derive(Clone, Debug)]
pub(super) struct Server {
    address: Address,
    /// One look at a time, however many wait.
    looking: Arc<Mutex<()>>,
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
        Self { address, looking: Arc::default() }
    }

    /// Does `work`, which begins with waiting for a connection.
    ///
    /// # Errors
    /// Its own; `Unavailable` as soon as it takes long and the server accepts no connection.
    pub(super) async fn reach<T>(
        &self,
        doing: &'static str,
        work: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T> {
        let mut work = pin!(work);
        tokio::select! {
            answer = &mut work => answer.map_err(|error| fault(doing, &error)),
            error = self.gone() => {
                Err(Fault::new(Component::Database, FaultKind::Unavailable, doing).caused_by(error))
            }
        }
    }

    /// Waits until the server accepts no connection.
    async fn gone(&self) -> io::Error {
        loop {
            sleep(LOOK_AFTER).await;
            let _alone = self.looking.lock().await;
            if let Err(error) = self.knock().await {
                return error;
            }
        }
    }

    async fn knock(&self) -> io::Result<()> {
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
    fn the_server_is_where_the_url_says() {
        assert_eq!(address("postgres://ada:x@db.example.org:6543/docent"), "db.example.org 6543");
        assert_eq!(address("postgres://ada@[::1]:5432/docent?sslmode=require"), "::1 5432");
        assert_eq!(address("postgres://ada@%2Frun%2Fpg:5433/docent"), "/run/pg/.s.PGSQL.5433");
        assert_eq!(address("postgres://ada@db:5432/docent?host=/run/pg"), "/run/pg/.s.PGSQL.5432");
    }

    #[test]
    fn a_wrong_url_is_refused_without_telling_its_password() {
        for url in
            ["postgres://ada:secret@db:99999/docent", "postgres://ada:secret@db/docent?sslmode=secret-ly"]
        {
            let fault = settings(url).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Rejected, "{fault}");
            assert!(!fault.report().contains("ada:secret"), "{fault}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_away_is_unavailable_while_the_pool_still_waits() {
        // A port that was free a moment ago: nobody listens there.
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
