//! HTTP requests of the protocol crate, sent by the clients of this service with a time and a size limit.

use docent_domain::fault::{Component, Fault, FaultKind};
use openidconnect::{HttpRequest, HttpResponse};
use reqwest::{Client, Request, RequestBuilder};
use std::time::Duration;
use thiserror::Error;

/// Limit for a request, including the connection.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum size of a response. Key sets and metadata of large providers have some 20 kB.
const MAX_BODY: usize = 1024 * 1024;

/// Why a request failed.
#[derive(Debug, Error)]
pub(super) enum HttpError {
    #[error("the request failed")]
    Request(#[from] reqwest::Error),
    #[error("the response is larger than {MAX_BODY} bytes")]
    TooLarge,
    #[error("the response is not valid HTTP")]
    Invalid(#[from] openidconnect::http::Error),
}

/// Sends a request. Redirects are not followed.
pub(super) async fn send(client: Client, request: HttpRequest) -> Result<HttpResponse, HttpError> {
    let request = Request::try_from(request)?;
    let request = RequestBuilder::from_parts(client, request).timeout(TIMEOUT);
    let mut response = request.send().await.map_err(reqwest::Error::without_url)?;
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        if body.len() + piece.len() > MAX_BODY {
            return Err(HttpError::TooLarge);
        }
        body.extend_from_slice(&piece);
    }
    let mut answer = openidconnect::http::Response::builder().status(response.status());
    for (name, value) in response.headers() {
        answer = answer.header(name, value);
    }
    Ok(answer.body(body)?)
}

/// A fault of the provider with its cause.
pub(super) fn fault(
    kind: FaultKind,
    message: &'static str,
    cause: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> Fault {
    Fault::new(Component::IdentityProvider, kind, message).caused_by(cause)
}
