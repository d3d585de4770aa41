//! HTTP client for a service that is killed while it answers: any failure, a truncated response included, is an error.

use anyhow::{Context, Result};
use reqwest::Method;
use reqwest::multipart::{Form, Part};
use serde_json::Value;
use std::time::Duration;

/// Longer than any answer takes while the stores are up.
const TIMEOUT: Duration = Duration::from_secs(40);

/// A client of one process, with an access token once there is one.
#[derive(Clone)]
pub(super) struct Client {
    http: reqwest::Client,
    pub(super) address: String,
    pub(super) token: String,
}

/// A complete response.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_slice(&self.body).with_context(|| String::from_utf8_lossy(&self.body).into_owned())
    }

    /// Whether the service reports a temporary failure, so that repeating the request may help.
    pub(super) fn is_transient(&self) -> bool {
        matches!(self.status, 429 | 500..=599)
    }
}

/// A request that can be repeated.
pub(super) enum Request<'a> {
    Get(&'a str),
    Delete(&'a str),
    Post(&'a str, &'a Value),
    /// Uploads a document, or another file for the one at this path.
    File {
        of: Option<&'a str>,
        name: &'a str,
        pdf: &'a [u8],
    },
}

impl Client {
    pub(super) fn new(address: String) -> Result<Self> {
        // reqwest needs a cryptography provider although chaos uses no TLS. The call fails if there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // A pooled connection may belong to a process that was killed meanwhile.
        let http = reqwest::Client::builder()
            .tls_certs_only([])
            .no_proxy()
            .pool_max_idle_per_host(0)
            .timeout(TIMEOUT);
        Ok(Self { http: http.build()?, address, token: String::new() })
    }

    /// The same client for another process.
    pub(super) fn at(&self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self.clone() }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Answer> {
        self.send(&Request::Get(path)).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Answer> {
        self.send(&Request::Post(path, body)).await
    }

    pub(super) async fn send(&self, request: &Request<'_>) -> Result<Answer> {
        let to = |method, path: &str| self.http.request(method, format!("http://{}{path}", self.address));
        let builder = match *request {
            Request::Get(path) => to(Method::GET, path),
            Request::Delete(path) => to(Method::DELETE, path),
            Request::Post(path, body) => to(Method::POST, path).json(body),
            Request::File { of, name, pdf } => {
                let part =
                    Part::bytes(pdf.to_vec()).file_name(name.to_owned()).mime_str("application/pdf")?;
                let to_file = match of {
                    Some(document) => to(Method::PUT, &format!("{document}/file")),
                    None => to(Method::POST, "/documents/upload"),
                };
                to_file.multipart(Form::new().part("file", part))
            }
        };
        let builder = if self.token.is_empty() { builder } else { builder.bearer_auth(&self.token) };
        let response = builder.send().await?;
        Ok(Answer { status: response.status().as_u16(), body: response.bytes().await?.to_vec() })
    }
}
