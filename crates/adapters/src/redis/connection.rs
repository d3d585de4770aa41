//! The pool of connections that the adapters share, and what its errors mean.

use deadpool_redis::{
    Connection, Manager, Pool, PoolError, Runtime,
    redis::{
        AsyncConnectionConfig, Cmd, ErrorKind, FromRedisValue, RedisError, RedisResult, ScriptInvocation,
        ServerErrorKind,
    },
};
use docent_ports::error::{Component, Fault, FaultKind, Result};
use std::{fmt, future::Future, sync::Arc, time::Duration};
use tokio::time::timeout;

/// How calls reach the server.
#[derive(Clone, Debug)]
pub struct Options {
    /// What a call may take altogether: waiting for a connection, making one, and the answer.
    pub timeout: Duration,
    /// The most connections at a time; further calls wait for one.
    pub connections: usize,
    /// What every key begins with.
    pub prefix: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(2), connections: 8, prefix: "docent:".to_owned() }
    }
}

/// A Redis server. Clones share its connections, which are made when calls need them and made anew
/// when the server comes back.
#[derive(Clone)]
pub struct Redis {
    pool: Pool,
    timeout: Duration,
    prefix: Arc<str>,
}

// Connection data holds the password.
impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("prefix", &self.prefix).field("timeout", &self.timeout).finish()
    }
}

impl Redis {
    /// Takes a URL: `redis://[[user]:password@]host[:port][/database]`, `rediss://…` for TLS, which
    /// trusts the system's certificates, or `unix:///path?db=n`. Connects to nothing yet.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub fn new(url: &str, options: Options) -> Result<Self> {
        let failed =
            || Fault::new(Component::KeyValueStore, FaultKind::Rejected, "the Redis URL cannot be used");
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(options.timeout))
            .set_response_timeout(Some(options.timeout));
        let manager = Manager::new_with_config(url, config).map_err(|error| failed().caused_by(error))?;
        let pool = Pool::builder(manager)
            .max_size(options.connections.max(1))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| failed().caused_by(error))?;
        use_ring();
        Ok(Self { pool, timeout: options.timeout, prefix: options.prefix.into() })
    }

    /// A key, or the beginning of one.
    pub(super) fn key(&self, rest: impl fmt::Display) -> String {
        format!("{}{rest}", self.prefix)
    }

    /// Runs a script, which the server is given when it does not have it.
    pub(super) async fn script<T>(&self, doing: &'static str, script: &ScriptInvocation<'_>) -> Result<T>
    where
        T: FromRedisValue + Send,
    {
        self.in_time(doing, async {
            let mut connection = self.connection(doing).await?;
            let answer = script.invoke_async(&mut connection).await;
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
        self.in_time(doing, async {
            let mut connection = self.connection(doing).await?;
            let answer = command.query_async(&mut connection).await;
            settle(doing, connection, answer)
        })
        .await
    }

    async fn connection(&self, doing: &'static str) -> Result<Connection> {
        self.pool.get().await.map_err(|error| match error {
            PoolError::Backend(error) => fault(doing, error),
            error => Fault::new(Component::KeyValueStore, FaultKind::Internal, doing).caused_by(error),
        })
    }

    async fn in_time<T>(&self, doing: &'static str, call: impl Future<Output = Result<T>>) -> Result<T> {
        let late = |_| {
            let message = format!("{doing}: no answer within {:?}", self.timeout);
            Err(Fault::new(Component::KeyValueStore, FaultKind::Timeout, message))
        };
        timeout(self.timeout, call).await.unwrap_or_else(late)
    }
}

/// TLS needs to be told its cryptography where several are compiled in; whoever chose before is heeded.
fn use_ring() {
    // It fails when there is a choice already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Gives the connection back, unless it leads nowhere or to a server that is no longer the primary.
fn settle<T>(doing: &'static str, connection: Connection, answer: RedisResult<T>) -> Result<T> {
    answer.map_err(|error| {
        let demoted = error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly);
        if demoted || error.is_unrecoverable_error() {
            drop(Connection::take(connection));
        }
        fault(doing, error)
    })
}

fn fault(doing: &'static str, error: RedisError) -> Fault {
    let kind = if error.is_timeout() { FaultKind::Timeout } else { meaning(&error) };
    Fault::new(Component::KeyValueStore, kind, doing).caused_by(error)
}

fn meaning(error: &RedisError) -> FaultKind {
    match error.kind() {
        ErrorKind::Io => FaultKind::Unavailable,
        ErrorKind::Parse | ErrorKind::UnexpectedReturnType => FaultKind::InvalidResponse,
        ErrorKind::AuthenticationFailed | ErrorKind::InvalidClientConfig => FaultKind::Rejected,
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
            // Out of memory, out of disk, too few copies, a script that does not end.
            Some("OOM" | "MISCONF" | "NOREPLICAS" | "BUSY" | "UNKILLABLE") => FaultKind::Unavailable,
            _ => FaultKind::Rejected,
        },
        _ => FaultKind::Internal,
    }
}

/// Whether the server has no room for another connection.
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
    fn faults_say_whether_trying_again_can_help() {
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
    fn a_url_that_cannot_be_read_is_refused_without_its_password() {
        for url in ["http://localhost", "redis://:hunter2@localhost/x", "nonsense hunter2"] {
            let fault = Redis::new(url, Options::default()).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Rejected);
            assert!(!fault.report().contains("hunter2"), "{fault}");
        }
        let redis = Redis::new("rediss://user:hunter2@localhost:6380/3", Options::default()).unwrap();
        assert!(!format!("{redis:?}").contains("hunter2"));
    }
}
