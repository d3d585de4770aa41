//! Recognises text with a service behind HTTP, in the protocol of `docs/reference/text-recognition.md`.

mod response;

#[cfg(test)]
mod tests;

use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::recognition::{Languages, RecognitionFailure, RecognizedPage};
use docent_http_client::{HttpClientError, http_client};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// Maximum size of a response.
const MAX_RESPONSE: usize = 8 << 20;
/// Timeouts in a row after which the service counts as unavailable, and not the pages as too difficult.
const MAX_TIMEOUTS: u32 = 3;
/// Upper bound of the pause that the service requests.
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// Recognises text with `POST {url}`.
#[derive(Debug)]
pub struct HttpRecognizer {
    client: Client,
    url: Url,
    authorization: Option<HeaderValue>,
    timeout: Duration,
    name: String,
    state: Mutex<State>,
}

/// The outcome of the last calls.
#[derive(Debug, Default)]
struct State {
    fault: Option<Fault>,
    timeouts: u32,
}

/// The settings of a recognizer are invalid.
#[derive(Debug, Error)]
pub enum InvalidRecognizer {
    /// The URL cannot be parsed.
    #[error("the URL is invalid")]
    Url,
    /// The key contains characters that a header cannot have.
    #[error("the API key contains characters that an HTTP header cannot have")]
    Key,
    /// The HTTP client could not be created.
    #[error(transparent)]
    Client(#[from] HttpClientError),
}

impl HttpRecognizer {
    /// Creates the recognizer without connecting. `timeout` is the longest wait for a page.
    ///
    /// # Errors
    /// If the settings are invalid.
    pub fn new(url: &str, api_key: Option<&str>, timeout: Duration) -> Result<Self, InvalidRecognizer> {
        let url = Url::parse(url).map_err(|_| InvalidRecognizer::Url)?;
        let authorization = api_key.map(|key| HeaderValue::try_from(format!("Bearer {key}"))).transpose();
        let mut authorization = authorization.map_err(|_| InvalidRecognizer::Key)?;
        if let Some(value) = &mut authorization {
            value.set_sensitive(true);
        }
        let host = url.host_str().ok_or(InvalidRecognizer::Url)?;
        let name = match url.port() {
            Some(port) => format!("http {host}:{port}"),
            None => format!("http {host}"),
        };
        let client = http_client(&url, timeout)?;
        Ok(Self { client, url, authorization, timeout, name, state: Mutex::default() })
    }

    fn request(&self, scan: &PageScan<'_>) -> RequestBuilder {
        let mut url = self.url.clone();
        url.query_pairs_mut()
            .append_pair("languages", &scan.languages.to_string())
            .append_pair("dpi", &scan.dpi.to_string());
        let request =
            self.client.post(url).header(CONTENT_TYPE, "image/png").header(ACCEPT, "application/json");
        let request = match &self.authorization {
            Some(value) => request.header(AUTHORIZATION, value.clone()),
            None => request,
        };
        request.body(scan.png.to_vec())
    }

    async fn call(&self, scan: &PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        let response = self.request(scan).send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_success() {
            let body = read_body(response).await?;
            return response::parse(&body).ok_or(RecognitionError::Page(RecognitionFailure::Invalid));
        }
        Err(match status {
            // The service is fine and refuses this image.
            StatusCode::BAD_REQUEST
            | StatusCode::PAYLOAD_TOO_LARGE
            | StatusCode::UNSUPPORTED_MEDIA_TYPE
            | StatusCode::UNPROCESSABLE_ENTITY => RecognitionError::Page(RecognitionFailure::Invalid),
            // It has no data for the languages.
            StatusCode::NOT_IMPLEMENTED => fault(FaultKind::Unconfigured, status_message(status)).into(),
            StatusCode::TOO_MANY_REQUESTS => {
                pausing(fault(FaultKind::RateLimited, status_message(status)), &response).into()
            }
            status if status.is_server_error() || status == StatusCode::REQUEST_TIMEOUT => {
                pausing(fault(FaultKind::Unavailable, status_message(status)), &response).into()
            }
            status => fault(FaultKind::Rejected, status_message(status)).into(),
        })
    }

    /// The result of a call that took too long. A page may be difficult, but not each of several in a row.
    fn late(&self) -> RecognitionError {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.timeouts = state.timeouts.saturating_add(1);
        if state.timeouts < MAX_TIMEOUTS {
            return RecognitionError::Page(RecognitionFailure::Timeout);
        }
        fault(FaultKind::Timeout, "no response within the timeout, several times in a row".to_owned()).into()
    }

    fn record(&self, result: &Result<RecognizedPage, RecognitionError>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match result {
            Err(RecognitionError::Fault(fault)) => state.fault = Some(fault.clone()),
            Err(RecognitionError::Page(RecognitionFailure::Timeout)) => state.fault = None,
            Ok(_) | Err(RecognitionError::Page(_)) => *state = State::default(),
        }
    }
}

fn fault(kind: FaultKind, message: String) -> Fault {
    Fault::new(Component::Recognizer, kind, message)
}

/// Responses may quote text of the page, so that only their status is logged.
fn status_message(status: StatusCode) -> String {
    format!("status {}", status.as_u16())
}

fn unreachable(error: reqwest::Error) -> RecognitionError {
    let fault = fault(FaultKind::Unavailable, "the request failed".to_owned());
    fault.caused_by(error.without_url()).into()
}

/// Adds the pause of `Retry-After`, if it is a number of seconds.
fn pausing(fault: Fault, response: &Response) -> Fault {
    let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    match header.and_then(|seconds| seconds.trim().parse().ok()).map(Duration::from_secs) {
        Some(pause) => fault.with_retry_after(pause.min(MAX_PAUSE)),
        None => fault,
    }
}

async fn read_body(mut response: Response) -> Result<Vec<u8>, RecognitionError> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(unreachable)? {
        if body.len() + piece.len() > MAX_RESPONSE {
            return Err(RecognitionError::Page(RecognitionFailure::Invalid));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

#[async_trait]
impl TextRecognizer for HttpRecognizer {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        let result = match timeout(self.timeout, self.call(&scan)).await {
            Ok(result) => result,
            Err(_) => Err(self.late()),
        };
        self.record(&result);
        result
    }

    /// Returns the fault of the last call, if it had one; makes no call.
    async fn check(&self, _languages: &Languages) -> Result<()> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.fault.clone().map_or(Ok(()), Err)
    }

    fn name(&self) -> &str {
        &self.name
    }
}
