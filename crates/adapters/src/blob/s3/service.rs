//! The HTTP client for S3 and for AWS's credential services, and the mapping of their errors to faults.

use super::{S3Options, rejected};
use async_trait::async_trait;
use docent_ports::error::{Component, Fault, FaultKind, Result};
use futures::StreamExt;
use object_store::{
    ClientOptions,
    client::{
        HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
        HttpService,
    },
};
use reqwest::{Client, StatusCode, Url, redirect::Policy};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use std::{error::Error as StdError, net::IpAddr, sync::Arc, time::Duration};
use thiserror::Error;

/// How long unused connections stay open; shorter than the timeout of common services.
const IDLE_CONNECTION: Duration = Duration::from_secs(15);
/// Maximum number of bytes read of an error body.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// Maximum length of a reported error message, in characters.
const MAX_MESSAGE: usize = 300;

/// Provides the HTTP client of a bucket and of its credential services.
#[derive(Debug)]
pub(super) struct Connector(Client);

impl Connector {
    pub(super) fn new(endpoint: &Url, options: &S3Options) -> Result<Self> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls(endpoint)?)
            .connect_timeout(options.connect_timeout)
            .read_timeout(options.read_timeout)
            .pool_idle_timeout(IDLE_CONNECTION)
            .http1_only()
            // A signature is valid for one URL only.
            .redirect(Policy::none())
            .user_agent(concat!("docent/", env!("CARGO_PKG_VERSION")));
        if is_loopback(endpoint) {
            builder = builder.no_proxy();
        }
        builder.build().map(Self).map_err(|error| no_client().caused_by(error.without_url()))
    }
}

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Service(self.0.clone())))
    }
}

fn no_client() -> Fault {
    rejected("the HTTP client for S3 cannot be set up")
}

fn tls(endpoint: &Url) -> Result<ClientConfig> {
    let failed = |error: rustls::Error| no_client().caused_by(error);
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    // A service without TLS is usable on machines that have no certificates at all.
    if endpoint.scheme() == "http" {
        return Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let verifier = rustls_platform_verifier::Verifier::new(provider).map_err(failed)?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// What the service will not do, however often it is asked.
#[derive(Debug, Error)]
#[error("{0}")]
struct Refused(String);

/// An error response because of a full disk or an exhausted quota.
#[derive(Debug, Error)]
#[error("{0}")]
struct NoRoom(String);

/// Sends requests and reduces error responses to code and message: their full body can repeat session tokens.
#[derive(Debug)]
struct Service(Client);

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let response = HttpService::call(&self.0, request).await?;
        let status = response.status();
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        let said = Said::read(&read_some(body).await);
        if said.is_full(status) {
            return Err(HttpError::new(HttpErrorKind::Unknown, NoRoom(said.told(status))));
        }
        if said.is_refusal(status) {
            return Err(HttpError::new(HttpErrorKind::Unknown, Refused(said.told(status))));
        }
        Ok(HttpResponse::from_parts(parts, said.text().into()))
    }
}

async fn read_some(body: HttpResponseBody) -> Vec<u8> {
    let mut pieces = body.bytes_stream();
    let mut read = Vec::new();
    // What cannot be read of the words is missing from the message, that is all.
    while let Some(Ok(piece)) = pieces.next().await {
        let room = MAX_ERROR_BODY - read.len();
        read.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() >= room {
            break;
        }
    }
    read
}

/// Code and message of an error response; empty if it has no XML body, as with `HEAD`.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said {
    code: String,
    message: String,
}

impl Said {
    fn read(body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        let element = |name: &str| {
            let (_, rest) = body.split_once(&format!("<{name}>"))?;
            let (text, _) = rest.split_once(&format!("</{name}>"))?;
            Some(text.chars().take(MAX_MESSAGE).collect())
        };
        Self { code: element("Code").unwrap_or_default(), message: element("Message").unwrap_or_default() }
    }

    fn is_refusal(&self, status: StatusCode) -> bool {
        match status.as_u16() {
            404 => self.code == "NoSuchBucket",
            // Conflicts, timeouts and rate limits are temporary.
            408 | 409 | 429 => false,
            400 => self.code != "RequestTimeout",
            300..=499 => true,
            _ => false,
        }
    }

    /// Whether a disk is full or a quota exhausted; some services report this with an unrelated status.
    fn is_full(&self, status: StatusCode) -> bool {
        status.as_u16() == 507 || matches!(self.code.as_str(), "QuotaExceeded" | "XMinioStorageFull")
    }

    fn text(&self) -> String {
        [self.code.as_str(), &self.message].map(str::trim).join(" ").trim().to_owned()
    }

    fn told(&self, status: StatusCode) -> String {
        let advice = match status.as_u16() {
            401 | 403 => "; check the keys, and what they may do in the bucket",
            300..=399 => "; check the endpoint and the region",
            _ => "",
        };
        format!("refused with {} {}{advice}", status.as_u16(), self.text())
    }
}

/// Converts an error of the object store to a fault.
pub(in super::super) fn fault(doing: &'static str, error: &(dyn StdError + 'static)) -> Fault {
    let mut kind = FaultKind::Unavailable;
    let mut cause = error;
    loop {
        if cause.is::<Refused>() {
            kind = FaultKind::Rejected;
        }
        if cause.is::<NoRoom>() {
            kind = FaultKind::Full;
        }
        if cause.downcast_ref::<HttpError>().is_some_and(|error| error.kind() == HttpErrorKind::Timeout) {
            kind = FaultKind::Timeout;
        }
        match cause.source() {
            Some(source) => cause = source,
            // Each error repeats its source; the innermost message is complete.
            None => return Fault::new(Component::BlobStore, kind, doing).caused_by(cause.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_read_without_what_it_repeats() {
        let body = b"<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>It does not \
            match.</Message><CanonicalRequest>x-amz-security-token:secret</CanonicalRequest></Error>";
        let said = Said::read(body);
        assert_eq!(said.text(), "SignatureDoesNotMatch It does not match.");
        assert!(said.told(StatusCode::FORBIDDEN).starts_with("refused with 403 SignatureDoesNotMatch It"));
        assert_eq!(Said::read(b"<html>"), Said::default());
        assert_eq!(Said::default().text(), "");
    }

    #[test]
    fn refusals_are_told_from_what_may_pass() {
        let is_refusal = |status: u16, code: &str| {
            let said = Said { code: code.to_owned(), ..Said::default() };
            said.is_refusal(StatusCode::from_u16(status).unwrap())
        };
        for (status, code) in
            [(403, ""), (401, ""), (301, "PermanentRedirect"), (400, "ExpiredToken"), (404, "NoSuchBucket")]
        {
            assert!(is_refusal(status, code), "{status} {code}");
        }
        for (status, code) in
            [(404, ""), (404, "NoSuchKey"), (400, "RequestTimeout"), (409, ""), (429, ""), (503, "SlowDown")]
        {
            assert!(!is_refusal(status, code), "{status} {code}");
        }
    }

    #[test]
    fn tls_is_set_up_or_the_reason_is_told() {
        // Machines without certificates exist.
        let url = Url::parse("https://s3.us-east-1.amazonaws.com").unwrap();
        if let Err(fault) = Connector::new(&url, &S3Options::new("id", "secret")) {
            assert_eq!(fault.kind(), FaultKind::Rejected);
        }
    }
}
