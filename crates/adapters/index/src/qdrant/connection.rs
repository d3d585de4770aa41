//! The gRPC channel, and the mapping of its errors to faults.

use super::spans::add_headers;
use super::{Options, rejected};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::trace::TracePropagator;
use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::points_client::PointsClient;
use qdrant_client::qdrant::qdrant_client::QdrantClient;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::timeout;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status};

/// Keep-alive pings: a connection without an answer to a ping is closed.
const PING_EVERY: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum size of a response, about a hundred times that of a usual search.
const ANSWER_MAX: usize = 64 << 20;

/// A channel for any number of concurrent calls. It connects when needed, and again after a failure.
pub(super) struct Connection {
    endpoint: Endpoint,
    // Created at the first call, since it needs a runtime.
    channel: OnceLock<Channel>,
    headers: Headers,
    read_timeout: Duration,
    write_timeout: Duration,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection").field("uri", self.endpoint.uri()).finish_non_exhaustive()
    }
}

/// Adds the API key and the trace context to calls.
#[derive(Clone)]
pub(super) struct Headers {
    key: Option<MetadataValue<Ascii>>,
    traces: Option<Arc<dyn TracePropagator>>,
}

impl Interceptor for Headers {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(traces) = &self.traces {
            add_headers(&**traces, request.metadata_mut());
        }
        if let Some(key) = &self.key {
            request.metadata_mut().insert("api-key", key.clone());
        }
        Ok(request)
    }
}

type Calls = InterceptedService<Channel, Headers>;

impl Connection {
    pub(super) fn new(url: &str, api_key: Option<&str>, options: &Options) -> Result<Self> {
        let key = api_key.map(|key| {
            let mut key = MetadataValue::try_from(key)
                .map_err(|_| rejected("the Qdrant API key contains invalid characters"))?;
            key.set_sensitive(true);
            Ok::<_, Fault>(key)
        });
        let failed = |error| rejected("invalid Qdrant URL").caused_by(error);
        let mut endpoint = Endpoint::from_shared(url.to_owned()).map_err(failed)?;
        match endpoint.uri().scheme_str() {
            Some("http") => {}
            Some("https") => {
                let tls = ClientTlsConfig::new().with_native_roots();
                endpoint = endpoint.tls_config(tls).map_err(failed)?;
            }
            _ => return Err(rejected("the Qdrant URL must start with http:// or https://")),
        }
        let endpoint = endpoint
            .connect_timeout(options.connect_timeout)
            .http2_keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        Ok(Self {
            endpoint,
            channel: OnceLock::new(),
            headers: Headers { key: key.transpose()?, traces: options.traces.clone() },
            read_timeout: options.read_timeout,
            write_timeout: options.write_timeout,
        })
    }

    fn calls(&self) -> Calls {
        let channel = self.channel.get_or_init(|| self.endpoint.connect_lazy());
        InterceptedService::new(channel.clone(), self.headers.clone())
    }

    pub(super) fn points(&self) -> PointsClient<Calls> {
        PointsClient::new(self.calls()).max_decoding_message_size(ANSWER_MAX)
    }

    /// The server's address.
    pub(super) fn url(&self) -> String {
        self.endpoint.uri().to_string()
    }

    pub(super) fn server(&self) -> QdrantClient<Calls> {
        QdrantClient::new(self.calls())
    }

    pub(super) fn collections(&self) -> CollectionsClient<Calls> {
        CollectionsClient::new(self.calls())
    }

    /// Runs a call that only reads.
    pub(super) fn read<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> impl Future<Output = Result<T, Status>> {
        // Boxed, since the futures of calls are large.
        with_timeout(self.read_timeout, Box::pin(call))
    }

    /// Runs a call that changes something.
    pub(super) fn write<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> impl Future<Output = Result<T, Status>> {
        with_timeout(self.write_timeout, Box::pin(call))
    }
}

async fn with_timeout<T>(
    limit: Duration,
    call: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Status> {
    let late = |_| Err(Status::deadline_exceeded(format!("no answer within {limit:?}")));
    timeout(limit, call).await.unwrap_or_else(late).map(Response::into_inner)
}

pub(super) fn fault(doing: &'static str, status: Status) -> Fault {
    if matches!(status.code(), Code::Unauthenticated | Code::PermissionDenied) {
        return unconfigured("the server refuses the API key; check DOCENT_QDRANT_API_KEY").caused_by(status);
    }
    let pause = status.metadata().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let fault = Fault::new(Component::VectorStore, kind(&status), doing);
    let fault = match pause {
        Some(seconds) => fault.with_retry_after(Duration::from_secs(seconds)),
        None => fault,
    };
    fault.caused_by(status)
}

/// What a server with a full disk answers to every write; searches still work. The code is that of any error
/// of the server.
const DISK_FULL: &str = "No space left on device";

pub(super) fn kind(status: &Status) -> FaultKind {
    match status.code() {
        Code::Internal | Code::Unknown | Code::Unavailable | Code::ResourceExhausted
            if status.message().contains(DISK_FULL) =>
        {
            FaultKind::Full
        }
        Code::DeadlineExceeded => FaultKind::Timeout,
        Code::ResourceExhausted => FaultKind::RateLimited,
        // Errors of the server, and broken connections.
        Code::Unavailable | Code::Internal | Code::Unknown | Code::Aborted | Code::Cancelled => {
            FaultKind::Unavailable
        }
        Code::DataLoss | Code::Ok => FaultKind::InvalidResponse,
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unimplemented => FaultKind::Rejected,
        Code::Unauthenticated | Code::PermissionDenied => FaultKind::Unconfigured,
    }
}

pub(super) fn unconfigured(message: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Component::VectorStore, FaultKind::Unconfigured, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes_map_to_fault_kinds() {
        let kinds = [
            (Code::Unavailable, FaultKind::Unavailable),
            (Code::DeadlineExceeded, FaultKind::Timeout),
            (Code::ResourceExhausted, FaultKind::RateLimited),
            (Code::InvalidArgument, FaultKind::Rejected),
            (Code::Unauthenticated, FaultKind::Unconfigured),
        ];
        for (code, kind) in kinds {
            assert_eq!(fault("test", Status::new(code, "?")).kind(), kind);
        }
    }

    #[test]
    fn full_disk_is_recognised_by_the_message_of_an_error_of_the_server() {
        let message =
            "Service internal error: No space left on device: WAL buffer size exceeds available disk space";
        assert_eq!(fault("test", Status::internal(message)).kind(), FaultKind::Full);
        // A rejected request may contain any text.
        assert_eq!(fault("test", Status::invalid_argument(message)).kind(), FaultKind::Rejected);
        assert_eq!(fault("test", Status::internal("OutputTooSmall")).kind(), FaultKind::Unavailable);
    }

    #[test]
    fn retry_after_metadata_sets_pause() {
        let mut status = Status::resource_exhausted("slow down");
        status.metadata_mut().insert("retry-after", MetadataValue::from_static("7"));
        assert_eq!(fault("test", status).retry_after(), Some(Duration::from_secs(7)));
    }

    #[test]
    fn invalid_url_or_key_is_rejected_without_secrets() {
        for url in ["localhost:6334", "ftp://localhost", "", "http://"] {
            let fault = Connection::new(url, None, &Options::default()).unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Rejected, "{url}");
        }
        let fault = Connection::new("http://localhost", Some("sec\nret"), &Options::default()).unwrap_err();
        assert!(!fault.report().contains("sec"), "{fault}");
        let connection = Connection::new("https://localhost", Some("secret"), &Options::default()).unwrap();
        assert!(!format!("{connection:?}").contains("secret"));
    }
}
