//! The channel to the server, and what its errors mean.

use super::{
    Options, rejected,
    spans::{HeaderHook, add_headers},
};
use docent_ports::error::{Component, Fault, FaultKind, Result};
use qdrant_client::qdrant::{collections_client::CollectionsClient, points_client::PointsClient};
use std::{fmt, future::Future, sync::OnceLock, time::Duration};
use tokio::time::timeout;
use tonic::{
    Code, Request, Response, Status,
    metadata::{Ascii, MetadataValue},
    service::{Interceptor, interceptor::InterceptedService},
    transport::{Channel, ClientTlsConfig, Endpoint},
};

/// A connection on which nothing comes back for so long, pings included, is given up.
const PING_EVERY: Duration = Duration::from_secs(10);
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest answer that is taken: some hundred candidates with their texts are a hundredth of it.
const ANSWER_MAX: usize = 64 << 20;

/// One channel, which carries any number of calls at a time, connects when it is needed and does so
/// again after a failure.
pub(super) struct Connection {
    endpoint: Endpoint,
    // Made with the first call, since it needs the runtime that it will live in.
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

/// Adds the API key, and what the hook names, to calls.
#[derive(Clone)]
pub(super) struct Headers {
    key: Option<MetadataValue<Ascii>>,
    hook: Option<HeaderHook>,
}

impl Interceptor for Headers {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(hook) = self.hook {
            add_headers(hook, request.metadata_mut());
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
                .map_err(|_| rejected("the Qdrant API key has characters that no key can have"))?;
            key.set_sensitive(true);
            Ok::<_, Fault>(key)
        });
        let failed = |error| rejected("the Qdrant URL cannot be used").caused_by(error);
        let mut endpoint = Endpoint::from_shared(url.to_owned()).map_err(failed)?;
        match endpoint.uri().scheme_str() {
            Some("http") => {}
            Some("https") => {
                let tls = ClientTlsConfig::new().with_native_roots();
                endpoint = endpoint.tls_config(tls).map_err(failed)?;
            }
            _ => return Err(rejected("the Qdrant URL must begin with http:// or https://")),
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
            headers: Headers { key: key.transpose()?, hook: options.header_hook },
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

    pub(super) fn collections(&self) -> CollectionsClient<Calls> {
        CollectionsClient::new(self.calls())
    }

    /// Waits for a call that changes nothing.
    pub(super) fn read<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> impl Future<Output = Result<T, Status>> {
        // The calls' futures are large, and would be so in each future around them.
        in_time(self.read_timeout, Box::pin(call))
    }

    /// Waits for a call that changes something.
    pub(super) fn write<T>(
        &self,
        call: impl Future<Output = Result<Response<T>, Status>>,
    ) -> impl Future<Output = Result<T, Status>> {
        in_time(self.write_timeout, Box::pin(call))
    }
}

async fn in_time<T>(
    limit: Duration,
    call: impl Future<Output = Result<Response<T>, Status>>,
) -> Result<T, Status> {
    let late = |_| Err(Status::deadline_exceeded(format!("no answer within {limit:?}")));
    timeout(limit, call).await.unwrap_or_else(late).map(Response::into_inner)
}

pub(super) fn fault(doing: &'static str, status: Status) -> Fault {
    let pause = status.metadata().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
    let fault = Fault::new(Component::VectorStore, kind(&status), doing);
    let fault = match pause {
        Some(seconds) => fault.with_retry_after(Duration::from_secs(seconds)),
        None => fault,
    };
    fault.caused_by(status)
}

pub(super) fn kind(status: &Status) -> FaultKind {
    match status.code() {
        Code::DeadlineExceeded => FaultKind::Timeout,
        Code::ResourceExhausted => FaultKind::RateLimited,
        // The server's own troubles, a full disk among them, and connections that break.
        Code::Unavailable | Code::Internal | Code::Unknown | Code::Aborted | Code::Cancelled => {
            FaultKind::Unavailable
        }
        Code::DataLoss | Code::Ok => FaultKind::InvalidResponse,
        Code::InvalidArgument
        | Code::NotFound
        | Code::AlreadyExists
        | Code::PermissionDenied
        | Code::FailedPrecondition
        | Code::OutOfRange
        | Code::Unimplemented
        | Code::Unauthenticated => FaultKind::Rejected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_say_whether_trying_again_can_help() {
        let kinds = [
            (Code::Unavailable, FaultKind::Unavailable),
            (Code::DeadlineExceeded, FaultKind::Timeout),
            (Code::ResourceExhausted, FaultKind::RateLimited),
            (Code::InvalidArgument, FaultKind::Rejected),
            (Code::Unauthenticated, FaultKind::Rejected),
        ];
        for (code, kind) in kinds {
            assert_eq!(fault("test", Status::new(code, "?")).kind(), kind);
        }
    }

    #[test]
    fn the_server_says_when_to_come_back() {
        let mut status = Status::resource_exhausted("slow down");
        status.metadata_mut().insert("retry-after", MetadataValue::from_static("7"));
        assert_eq!(fault("test", status).retry_after(), Some(Duration::from_secs(7)));
    }

    #[test]
    fn addresses_and_keys_that_cannot_be_used_are_refused() {
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
