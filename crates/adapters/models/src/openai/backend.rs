//! HTTP calls to one back end, and the settings they need.
//!
//! Redirects are not followed: they would turn a POST into a GET, or send the key to another host.

use super::fault::{self, BackendError, CallError};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_http_client::{HttpClientError, http_client};
use docent_ports::clock::Clock;
use docent_ports::trace::TracePropagator;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;
use tracing::Span;

/// Maximum number of bytes read of an error body.
const MAX_ERROR_BODY: usize = 64 * 1024;

/// Address, credentials and model of a back end.
#[derive(Clone)]
pub struct BackendSettings {
    /// The address before `/chat/completions`, `/embeddings` or `/rerank`, as in `http://localhost:11434/v1`.
    /// A query string is kept.
    pub base_url: String,
    /// Sent as bearer token; without a key there is no `Authorization` header.
    pub api_key: Option<String>,
    /// The model to request.
    pub model: String,
    /// For chat the longest time without output, otherwise the time for the whole response.
    pub timeout: Duration,
    /// Adds the context of a trace to each request.
    pub traces: Option<Arc<dyn TracePropagator>>,
}

impl fmt::Debug for BackendSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key is secret, and the address may contain a password.
        f.debug_struct("BackendSettings").field("model", &self.model).finish_non_exhaustive()
    }
}

/// Invalid back-end settings.
#[derive(Debug, Error)]
pub enum InvalidBackend {
    /// Not an HTTP address.
    #[error("the base URL is not an http or https address")]
    BaseUrl,
    /// The key cannot be sent in a header.
    #[error("the API key contains characters that are not allowed in a header")]
    ApiKey,
    /// No model name.
    #[error("the model's name is empty")]
    Model,
    /// No time for a response.
    #[error("the timeout is zero")]
    Timeout,
    /// The HTTP client could not be set up.
    #[error(transparent)]
    Client(#[from] HttpClientError),
}

/// An endpoint of a back end, with its connection pool.
pub(super) struct Endpoint {
    part: Component,
    client: Client,
    url: Url,
    key: Option<String>,
    headers: HeaderMap,
    traces: Option<Arc<dyn TracePropagator>>,
    clock: Arc<dyn Clock>,
}

impl Endpoint {
    /// Creates the endpoint at `path` below the base URL.
    pub(super) fn new(
        part: Component,
        settings: &BackendSettings,
        path: &[&str],
        clock: Arc<dyn Clock>,
    ) -> Result<Self, InvalidBackend> {
        if settings.model.trim().is_empty() {
            return Err(InvalidBackend::Model);
        }
        if settings.timeout.is_zero() {
            return Err(InvalidBackend::Timeout);
        }
        let url = endpoint_url(&settings.base_url, path)?;
        let key = settings.api_key.clone().filter(|key| !key.is_empty());
        let mut headers =
            HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        if let Some(key) = &key {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| InvalidBackend::ApiKey)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = http_client(&url, settings.timeout)?;
        let traces = settings.traces.clone();
        Ok(Self { part, client, url, key, headers, traces, clock })
    }

    /// The resource at a path beside the API: below the base URL without its version, such as `/v1`.
    pub(super) fn beside_api(&self, own_path: &[&str], path: &[&str]) -> Option<Self> {
        let mut url = self.url.clone();
        let is_version =
            |segment: &str| segment.strip_prefix('v').is_some_and(|number| number.parse::<u8>().is_ok());
        let mut segments: Vec<String> = url.path_segments()?.map(str::to_owned).collect();
        segments.truncate(segments.len().saturating_sub(own_path.len()));
        if segments.last().is_some_and(|last| is_version(last)) {
            segments.pop();
        }
        url.path_segments_mut().ok()?.clear().extend(segments).extend(path);
        let (client, traces, clock) = (self.client.clone(), self.traces.clone(), Arc::clone(&self.clock));
        let (key, headers) = (self.key.clone(), self.headers.clone());
        Some(Self { part: self.part, client, url, key, headers, traces, clock })
    }

    /// The host and port, for span attributes.
    pub(super) fn address(&self) -> (&str, u16) {
        (self.url.host_str().unwrap_or_default(), self.url.port_or_known_default().unwrap_or_default())
    }

    /// The address without credentials and query.
    pub(super) fn display_url(&self) -> String {
        let (host, port) = self.address();
        format!("{}://{host}:{port}{}", self.url.scheme(), self.url.path())
    }

    /// The key, to redact it from messages.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// The clock that times pauses.
    pub(super) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// Sends a request and returns the response once its headers report success.
    ///
    /// `limit` is the longest wait for the headers, and for each piece of an error body.
    pub(super) async fn post(&self, body: &impl Serialize, limit: Duration) -> Result<Response, CallError> {
        let body = serde_json::to_vec(body).map_err(|error| {
            Fault::new(self.part, FaultKind::Internal, "cannot serialize the request").caused_by(error)
        })?;
        self.send(self.client.post(self.url.clone()).body(body), limit).await
    }

    /// Requests the resource and returns the response once its headers report success; `limit` as in [`Self::post`].
    pub(super) async fn get(&self, limit: Duration) -> Result<Response, CallError> {
        self.send(self.client.get(self.url.clone()), limit).await
    }

    async fn send(&self, request: RequestBuilder, limit: Duration) -> Result<Response, CallError> {
        let mut headers = self.headers.clone();
        if let Some(traces) = &self.traces {
            traces.inject(&Span::current(), &mut |name, value| {
                if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
                    headers.insert(name, value);
                }
            });
        }
        let mut response = match timeout(limit, request.headers(headers).send()).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(fault::transport_fault(self.part, error).into()),
            Err(_) => {
                return Err(
                    Fault::new(self.part, FaultKind::Timeout, "no response within the timeout").into()
                );
            }
        };
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = read_error_body(&mut response, limit).await;
        Err(BackendError::from_response(status, response.headers(), &body, self.clock.now()).into())
    }
}

/// Reads a response body of at most `limit` bytes.
pub(super) async fn read_body(part: Component, mut response: Response, limit: usize) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(bytes)) if body.len() + bytes.len() <= limit => body.extend_from_slice(&bytes),
            Ok(Some(_)) => {
                let message = format!("the response is longer than {limit} bytes");
                return Err(Fault::new(part, FaultKind::InvalidResponse, message));
            }
            Ok(None) => return Ok(body),
            Err(error) => return Err(fault::transport_fault(part, error)),
        }
    }
}

/// Reads the beginning of an error body, as far as it arrives in time.
async fn read_error_body(response: &mut Response, limit: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    while body.len() < MAX_ERROR_BODY {
        match timeout(limit, response.chunk()).await {
            Ok(Ok(Some(bytes))) => body.extend_from_slice(&bytes),
            Ok(Ok(None) | Err(_)) | Err(_) => break,
        }
    }
    body
}

fn endpoint_url(base_url: &str, path: &[&str]) -> Result<Url, InvalidBackend> {
    let mut url = Url::parse(base_url.trim()).map_err(|_| InvalidBackend::BaseUrl)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(InvalidBackend::BaseUrl);
    }
    url.path_segments_mut().map_err(|()| InvalidBackend::BaseUrl)?.pop_if_empty().extend(path);
    url.set_fragment(None);
    Ok(url)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use docent_testkit::clock::TestClock;

    /// Settings for tests that do not reach the timeout.
    pub(in crate::openai) fn settings(base_url: &str) -> BackendSettings {
        BackendSettings {
            base_url: base_url.to_owned(),
            api_key: Some("sk-very-secret".to_owned()),
            model: "test-model".to_owned(),
            timeout: Duration::from_secs(600),
            traces: None,
        }
    }

    fn endpoint(settings: &BackendSettings) -> Result<Endpoint, InvalidBackend> {
        Endpoint::new(
            Component::ChatModel,
            settings,
            &["chat", "completions"],
            Arc::new(TestClock::default()),
        )
    }

    #[test]
    fn endpoint_path_is_appended_to_any_base_url() {
        let cases = [
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            (" https://api.example.com/v1/ ", "https://api.example.com/v1/chat/completions"),
            ("http://10.0.0.1", "http://10.0.0.1/chat/completions"),
            ("https://h/a%20b?api-version=2#x", "https://h/a%20b/chat/completions?api-version=2"),
        ];
        for (base, whole) in cases {
            assert_eq!(endpoint_url(base, &["chat", "completions"]).unwrap().as_str(), whole);
        }
    }

    #[test]
    fn invalid_settings_are_reported_by_field() {
        for address in ["", "localhost:8000", "/v1", "ftp://host/", "file:///v1", "http://"] {
            assert!(matches!(endpoint(&settings(address)), Err(InvalidBackend::BaseUrl)), "{address}");
        }
        let good = settings("http://localhost");
        let key = BackendSettings { api_key: Some("a\nb".to_owned()), ..good.clone() };
        assert!(matches!(endpoint(&key), Err(InvalidBackend::ApiKey)));
        let model = BackendSettings { model: " ".to_owned(), ..good.clone() };
        assert!(matches!(endpoint(&model), Err(InvalidBackend::Model)));
        let timeout = BackendSettings { timeout: Duration::ZERO, ..good };
        assert!(matches!(endpoint(&timeout), Err(InvalidBackend::Timeout)));
    }

    #[test]
    fn debug_output_omits_secrets() {
        let shown = format!("{:?}", settings("http://user:password@localhost"));
        assert!(!shown.contains("sk-very-secret") && !shown.contains("password"), "{shown}");
        let endpoint = endpoint(&settings("http://localhost")).unwrap();
        assert!(endpoint.headers[AUTHORIZATION].is_sensitive());
    }

    #[test]
    fn tls_client_is_created_or_error_is_returned() {
        // A machine without root certificates gets an error, not a panic.
        match endpoint(&settings("https://api.example.com/v1")) {
            Ok(endpoint) => assert_eq!(endpoint.address(), ("api.example.com", 443)),
            Err(error) => assert!(matches!(error, InvalidBackend::Client(_)), "{error}"),
        }
    }
}
