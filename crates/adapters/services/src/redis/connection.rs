//! The connection pool, and the mapping of its errors to faults.

use deadpool_redis::redis::aio::MultiplexedConnection;
use deadpool_redis::redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, FromRedisValue, IntoConnectionInfo, RedisError, RedisResult,
    ScriptInvocation, ServerErrorKind,
};
use deadpool_redis::sentinel::{self, SentinelNodeConnectionInfo, SentinelServerType, TlsMode};
use deadpool_redis::{
    Connection, ConnectionAddr, ConnectionInfo, Manager, Pool, PoolError, RedisConnectionInfo, Runtime,
};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Connection options.
#[derive(Clone, Debug)]
pub struct Options {
    /// Timeout for a whole call: waiting for a connection, connecting, and the answer.
    pub timeout: Duration,
    /// Maximum number of connections; further calls wait for one.
    pub connections: usize,
    /// Prefix of every key.
    pub prefix: String,
    /// What knows the primary of a group of servers; the host of the URL is then the name of the group.
    pub sentinels: Option<Sentinels>,
}

/// Redis Sentinel: processes that watch a group of servers and say which one is the primary.
#[derive(Clone)]
pub struct Sentinels {
    /// Host and port of each, such as `sentinel-1.example.org:26379`.
    pub addresses: Vec<String>,
    /// Their password.
    pub password: Option<String>,
}

impl fmt::Debug for Sentinels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sentinels").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(2),
            connections: 8,
            prefix: "docent:".to_owned(),
            sentinels: None,
        }
    }
}

/// A Redis server, or the primary of a group. Clones share its connections, which are opened when needed and again after a failure.
#[derive(Clone)]
pub struct Redis {
    pool: Servers,
    timeout: Duration,
    prefix: Arc<str>,
}

/// The connections.
#[derive(Clone)]
enum Servers {
    One(Pool),
    /// To the server that the sentinels call the primary when a connection is opened.
    Group(sentinel::Pool),
}

/// A connection that goes back to its pool.
enum Held {
    One(Connection),
    Group(sentinel::Connection),
}

impl Held {
    fn connection(&mut self) -> &mut MultiplexedConnection {
        match self {
            Self::One(connection) => connection.as_mut(),
            Self::Group(connection) => connection.as_mut(),
        }
    }

    /// Closes the connection.
    fn close(self) {
        drop(match self {
            Self::One(connection) => Connection::take(connection),
            Self::Group(connection) => sentinel::Connection::take(connection),
        });
    }
}

// The connection data contains the password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).field("timeout", &self.timeout).finish()
    }
}

impl Redis {
    /// Creates a pool for a URL: `redis://[[user]:password@]host[:port][/database]`, `rediss://…` for TLS with
    /// the system's trusted certificates, or `unix:///path?db=n`. Connects at the first call.
    ///
    /// # Errors
    /// If the URL is invalid, or the address of a sentinel.
    pub fn new(url: &str, options: Options) -> Result<Self> {
        let failed = || Fault::new(Component::KeyValueStore, FaultKind::Rejected, "invalid Redis URL");
        let pool = match &options.sentinels {
            None => server(url, &options).map(Servers::One),
            Some(sentinels) => group(url, sentinels, &options).map(Servers::Group),
        };
        let pool = pool.map_err(|error| failed().caused_by(error))?;
        use_ring();
        Ok(Self { pool, timeout: options.timeout, prefix: options.prefix.into() })
    }

    /// A key, or the beginning of one, with the prefix.
    pub(super) fn key(&self, rest: impl fmt::Display) -> String {
        format!("{}{rest}", self.prefix)
    }

    /// Runs a script, and loads it if the server does not have it.
    pub(super) async fn script<T>(&self, doing: &'static str, script: &ScriptInvocation<'_>) -> Result<T>
    where
        T: FromRedisValue + Send,
    {
        self.with_timeout(doing, async {
            let mut connection = self.connection(doing).await?;
            let answer = script.invoke_async(connection.connection()).await;
            settle(doing, connection, answer)
        })
        .await
    }

    /// Runs a command.
    pub(super) async fn command<T: FromRedisValue + Send>(
        &self,
        doing: &'static str,
        command: &Cmd,
    ) -> Result<T> {
        self.with_timeout(doing, async {
            let mut connection = self.connection(doing).await?;
            let answer = command.query_async(connection.connection()).await;
            settle(doing, connection, answer)
        })
        .await
    }

    async fn connection(&self, doing: &'static str) -> Result<Held> {
        let held = match &self.pool {
            Servers::One(pool) => pool.get().await.map(Held::One),
            // Its future is large, because it may ask several sentinels.
            Servers::Group(pool) => Box::pin(pool.get()).await.map(Held::Group),
        };
        held.map_err(|error| match error {
            PoolError::Backend(error) => fault(doing, error),
            error => Fault::new(Component::KeyValueStore, FaultKind::Internal, doing).caused_by(error),
        })
    }

    async fn with_timeout<T>(&self, doing: &'static str, call: impl Future<Output = Result<T>>) -> Result<T> {
        let late = |_| {
            let message = format!("{doing}: no answer within {:?}", self.timeout);
            Err(Fault::new(Component::KeyValueStore, FaultKind::Timeout, message))
        };
        timeout(self.timeout, call).await.unwrap_or_else(late)
    }
}

/// Creates the connections to one server.
fn server(url: &str, options: &Options) -> Result<Pool, Box<dyn Error + Send + Sync>> {
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(options.timeout))
        .set_response_timeout(Some(options.timeout));
    let manager = Manager::new_with_config(url, config)?;
    Ok(Pool::builder(manager).max_size(options.connections.max(1)).runtime(Runtime::Tokio1).build()?)
}

/// Creates the connections to the primary of the group that the URL names as its host. The user, password and database of the URL
/// are for the servers; sentinels have the password of their own, and TLS if the servers do.
fn group(
    url: &str,
    sentinels: &Sentinels,
    options: &Options,
) -> Result<sentinel::Pool, Box<dyn Error + Send + Sync>> {
    let ConnectionInfo { addr, redis } = url.into_connection_info()?.into();
    let (name, is_tls) = match addr {
        ConnectionAddr::Tcp(name, _) => (name, false),
        ConnectionAddr::TcpTls { host, .. } => (host, true),
        ConnectionAddr::Unix(_) => return Err("a group of servers has no socket".into()),
    };
    let sentinel = |address: &String| {
        let (host, port) = address.rsplit_once(':').ok_or_else(|| format!("{address:?} has no port"))?;
        let port = port.parse().map_err(|_| format!("{address:?} has no valid port"))?;
        let host = host.trim_matches(['[', ']']).to_owned();
        let addr = match is_tls {
            true => ConnectionAddr::TcpTls { host, port, insecure: false },
            false => ConnectionAddr::Tcp(host, port),
        };
        let redis =
            RedisConnectionInfo { password: sentinels.password.clone(), ..RedisConnectionInfo::default() };
        Ok::<_, String>(ConnectionInfo { addr, redis })
    };
    let addresses = sentinels.addresses.iter().map(sentinel).collect::<Result<Vec<_>, _>>()?;
    let servers = SentinelNodeConnectionInfo {
        tls_mode: is_tls.then_some(TlsMode::Secure),
        redis_connection_info: Some(redis),
    };
    let manager = sentinel::Manager::new(addresses, name, Some(servers), SentinelServerType::Master)?;
    let pool = sentinel::Pool::builder(manager).max_size(options.connections.max(1));
    Ok(pool.runtime(Runtime::Tokio1).build()?)
}

/// Selects the TLS cryptography provider, since several are compiled in. An earlier selection stays.
fn use_ring() {
    // Fails if a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Returns the connection to the pool, unless it is broken or its server is no longer the primary.
fn settle<T>(doing: &'static str, connection: Held, answer: RedisResult<T>) -> Result<T> {
    answer.map_err(|error| {
        let demoted = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly);
        if demoted || error.is_unrecoverable_error() {
            connection.close();
        }
        fault(doing, error)
    })
}

fn fault(doing: &'static str, error: RedisError) -> Fault {
    let kind = if error.is_timeout() { FaultKind::Timeout } else { kind_of(&error) };
    Fault::new(Component::KeyValueStore, kind, doing).caused_by(error)
}

fn kind_of(error: &RedisError) -> FaultKind {
    match error.kind() {
        ErrorKind::Io => FaultKind::Unavailable,
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => FaultKind::InvalidResponse,
        ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig => FaultKind::Rejected,
        // The name may be wrong, or the group may have no primary at the moment.
        ErrorKind::MasterNameNotFoundBySentinel => FaultKind::Unavailable,
        ErrorKind::Server(kind) => match kind {
            ServerErrorKind::BusyLoading
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::TryAgain
            | ServerErrorKind::NoScript
            | ServerErrorKind::ReadOnly => FaultKind::Unavailable,
            ServerErrorKind::ResponseError if is_full(error) => FaultKind::Unavailable,
            _ => FaultKind::Rejected,
        },
        ErrorKind::Extension => match error.code() {
            // Lack of memory, disk or replicas; a script that does not end.
            Some("OOM" | "MISCONF" | "NOREPLICAS" | "BUSY" | "UNKILLABLE") => FaultKind::Unavailable,
            _ => FaultKind::Rejected,
        },
        _ => FaultKind::Internal,
    }
}

/// Whether the server has reached its limit of connections.
fn is_full(error: &RedisError) -> bool {
    error.detail().is_some_and(|detail| detail.contains("max number of clients"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn kind(error: impl Into<RedisError>) -> FaultKind {
        fault("test", error.into()).kind()
    }

    #[test]
    fn errors_map_to_fault_kinds() {
        assert_eq!(kind(io::Error::from(io::ErrorKind::ConnectionRefused)), FaultKind::Unavailable);
        assert_eq!(kind(io::Error::from(io::ErrorKind::TimedOut)), FaultKind::Timeout);
        assert_eq!(kind((ErrorKind::Parse, "?")), FaultKind::InvalidResponse);
        assert_eq!(kind((ErrorKind::AuthenticationFailed, "no")), FaultKind::Rejected);
        assert_eq!(
            kind((ErrorKind::Server(ServerErrorKind::BusyLoading), "loading")),
            FaultKind::Unavailable
        );
        assert_eq!(kind((ErrorKind::Server(ServerErrorKind::ReadOnly), "replica")), FaultKind::Unavailable);
        assert_eq!(kind((ErrorKind::Server(ServerErrorKind::NoPerm), "no")), FaultKind::Rejected);
        let full = "max number of clients reached".to_owned();
        let error = (ErrorKind::Server(ServerErrorKind::ResponseError), "refused", full);
        assert_eq!(kind(error), FaultKind::Unavailable);
    }

    #[test]
    fn invalid_url_error_hides_password() {
        for url in ["http://localhost", "redis://:hunter2@localhost/x", "nonsense hunter2"] {
            let fault = Redis::new(url, Options::default()).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Rejected);
            assert!(!fault.report().contains("hunter2"), "{fault}");
        }
        let sentinels = |address: &str| {
            let sentinels =
                Sentinels { addresses: vec![address.to_owned()], password: Some("hunter2".to_owned()) };
            Options { sentinels: Some(sentinels), ..Options::default() }
        };
        for (url, address) in [
            ("redis://docent", "sentinel"),
            ("redis://docent", "sentinel:port"),
            ("unix:///run/redis", "sentinel:26379"),
            ("redis://:hunter2@docent/x", "sentinel:26379"),
        ] {
            let fault = Redis::new(url, sentinels(address)).unwrap_err();
            assert!(fault.kind() == FaultKind::Rejected && !fault.report().contains("hunter2"), "{fault}");
        }
        let options = sentinels("[::1]:26379");
        assert!(!format!("{options:?}").contains("hunter2"));
        Redis::new("rediss://:hunter2@docent/1", options).unwrap();
        let redis = Redis::new("rediss://user:hunter2@localhost:6380/3", Options::default()).unwrap();
        assert!(!format!("{redis:?}").contains("hunter2"));
    }
}
