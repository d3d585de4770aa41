//! The HTTP client for S3 and for AWS's credential services, and the mapping of their errors to faults.

use super::{S3Options, rejected};
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_http_client::{is_loopback, tls};
use futures::StreamExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpResponseBody,
    HttpService,
};
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use std::error::Error as StdError;
use std::time::Duration;
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
            .tls_backend_preconfigured(tls(endpoint).map_err(|error| no_client().caused_by(error))?)
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

/// A permanent error response.
#[derive(Debug, Error)]
#[error("{0}")]
struct Rejection(String);

/// An error response because of a full disk or an exhausted quota.
#[derive(Debug, Error)]
#[error("{0}")]
struct StorageFull(String);

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
        let error = ErrorBody::read(&read_error_body(body).await);
        if error.is_full(status) {
            return Err(HttpError::new(HttpErrorKind::Unknown, StorageFull(error.describe(status))));
        }
        if error.is_rejection(status) {
            return Err(HttpError::new(HttpErrorKind::Unknown, Rejection(error.describe(status))));
        }
        Ok(HttpResponse::from_parts(parts, error.text().into()))
    }
}

async fn read_error_body(body: HttpResponseBody) -> Vec<u8> {
    let mut pieces = body.bytes_stream();
    let mut read = Vec::new();
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
struct ErrorBody {
    code: String,
    message: String,
}

impl ErrorBody {
    fn read(body: &[u8]) -> Self {
        let body = String::from_utf8_lossy(body);
        let element = |name: &str| {
            let (_, rest) = body.split_once(&format!("<{name}>"))?;
            let (text, _) = rest.split_once(&format!("</{name}>"))?;
            Some(text.chars().take(MAX_MESSAGE).collect())
        };
        Self { code: element("Code").unwrap_or_default(), message: element("Message").unwrap_or_default() }
    }

    fn is_rejection(&self, status: StatusCode) -> bool {
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

    fn describe(&self, status: StatusCode) -> String {
        let advice = match status.as_u16() {
            401 | 403 => "; check the credentials and their permissions for the bucket",
            300..=399 => "; check the endpoint and the region",
            _ => "",
        };
        format!("rejected with status {} {}{advice}", status.as_u16(), self.text())
    }
}

/// Converts an error of the object store to a fault.
pub(in super::super) fn fault(doing: &'static str, error: &(dyn StdError + 'static)) -> Fault {
    let mut kind = FaultKind::Unavailable;
    let mut cause = error;
    loop {
        if cause.is::<Rejection>() {
            kind = FaultKind::Rejected;
        }
        if cause.is::<StorageFull>() {
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
    use super::super::S3Credentials;
    use super::*;

    #[test]
    fn error_body_is_reduced_to_code_and_message() {
        let body = b"<?xml version=\"1.0\"?><Error><Code>SignatureDoesNotMatch</Code><Message>It does not \
            match.</Message><CanonicalRequest>x-amz-security-token:secret</CanonicalRequest></Error>";
        let error = ErrorBody::read(body);
        assert_eq!(error.text(), "SignatureDoesNotMatch It does not match.");
        assert!(
            error
                .describe(StatusCode::FORBIDDEN)
                .starts_with("rejected with status 403 SignatureDoesNotMatch It")
        );
        assert_eq!(ErrorBody::read(b"<html>"), ErrorBody::default());
        assert_eq!(ErrorBody::default().text(), "");
    }

    #[test]
    fn rejections_are_distinguished_from_transient_errors() {
        let is_rejection = |status: u16, code: &str| {
            let error = ErrorBody { code: code.to_owned(), ..ErrorBody::default() };
            error.is_rejection(StatusCode::from_u16(status).unwrap())
        };
        for (status, code) in
            [(403, ""), (401, ""), (301, "PermanentRedirect"), (400, "ExpiredToken"), (404, "NoSuchBucket")]
        {
            assert!(is_rejection(status, code), "{status} {code}");
        }
        for (status, code) in
            [(404, ""), (404, "NoSuchKey"), (400, "RequestTimeout"), (409, ""), (429, ""), (503, "SlowDown")]
        {
            assert!(!is_rejection(status, code), "{status} {code}");
        }
    }

    #[test]
    fn tls_is_set_up_or_rejected() {
        // A machine without root certificates gets an error.
        let url = Url::parse("https://s3.us-east-1.amazonaws.com").unwrap();
        if let Err(fault) = Connector::new(&url, &S3Options::new(S3Credentials::keys("id", "secret"))) {
            assert_eq!(fault.kind(), FaultKind::Rejected);
        }
    }
}
