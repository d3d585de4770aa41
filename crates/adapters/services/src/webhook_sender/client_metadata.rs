//! Client ID metadata documents over HTTP, with the protection of webhooks against server-side request forgery.

use super::{AllowedHosts, HttpWebhookSender};
use async_trait::async_trait;
use docent_domain::client_uri::ClientUrl;
use docent_domain::fault::Fault;
use docent_ports::client_metadata::{CLIENT_METADATA_MAX, ClientMetadataError, ClientMetadataSource};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Response, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// Limit for a document, including the connection.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Fetches documents, each over a new connection.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "the resolver has no debug form")]
pub struct HttpClientMetadata(HttpWebhookSender);

impl HttpClientMetadata {
    /// Creates a source of documents on these hosts that uses the machine's resolver.
    ///
    /// # Errors
    /// `Unavailable` if the machine's certificates cannot be loaded.
    pub fn new(allowed_hosts: AllowedHosts) -> Result<Self, Fault> {
        Ok(Self(HttpWebhookSender::new(allowed_hosts)?))
    }

    async fn get(&self, url: &str) -> Result<Vec<u8>, ClientMetadataError> {
        let url = self.0.parse(url).map_err(|_| ClientMetadataError::Unreachable)?;
        let request = self.0.client.get(url).header(ACCEPT, "application/json");
        let response = request.send().await.map_err(|_| ClientMetadataError::Unreachable)?;
        if response.status() != StatusCode::OK || !is_json(&response) {
            return Err(ClientMetadataError::InvalidResponse);
        }
        read(response).await
    }
}

/// Whether a response has a JSON type, such as `application/json` or `application/cimd+json`.
fn is_json(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

async fn read(mut response: Response) -> Result<Vec<u8>, ClientMetadataError> {
    let mut document = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|_| ClientMetadataError::InvalidResponse)? {
        if document.len() + piece.len() > CLIENT_METADATA_MAX {
            return Err(ClientMetadataError::InvalidResponse);
        }
        document.extend_from_slice(&piece);
    }
    Ok(document)
}

#[async_trait]
impl ClientMetadataSource for HttpClientMetadata {
    async fn fetch(&self, url: &ClientUrl) -> Result<Vec<u8>, ClientMetadataError> {
        timeout(TIMEOUT, self.get(url.as_str())).await.unwrap_or(Err(ClientMetadataError::Timeout))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    /// The URL of a server that sends this response to one request.
    async fn server(response: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await.unwrap();
            // The client may close the connection early.
            let _ = stream.write_all(response.as_bytes()).await;
        });
        format!("http://{address}/client.json")
    }

    fn response(head: &str, body: &str) -> String {
        format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }

    async fn get(hosts: AllowedHosts, url: &str) -> Result<Vec<u8>, ClientMetadataError> {
        HttpClientMetadata::new(hosts).unwrap().get(url).await
    }

    #[tokio::test]
    async fn small_json_documents_are_read() {
        for kind in ["application/json", "application/json; charset=utf-8", "application/cimd+json"] {
            let url = server(response(&format!("200 OK\r\ncontent-type: {kind}"), "{}")).await;
            assert_eq!(get(AllowedHosts::PublicAndPrivate, &url).await.unwrap(), b"{}");
        }
    }

    #[tokio::test]
    async fn other_responses_are_refused() {
        let json = "200 OK\r\ncontent-type: application/json";
        for answer in [
            response("200 OK\r\ncontent-type: text/html", "{}"),
            response("200 OK", "{}"),
            response("404 Not Found\r\ncontent-type: application/json", "{}"),
            response("302 Found\r\ncontent-type: application/json\r\nlocation: http://127.0.0.1/x", "{}"),
            response(json, &" ".repeat(CLIENT_METADATA_MAX + 1)),
        ] {
            let url = server(answer).await;
            let refused = get(AllowedHosts::PublicAndPrivate, &url).await;
            assert_eq!(refused, Err(ClientMetadataError::InvalidResponse));
        }
    }

    #[tokio::test]
    async fn hosts_that_are_not_public_are_not_connected_to() {
        for url in [
            "https://127.0.0.1/c.json",
            "https://localhost/c.json",
            "https://169.254.169.254/latest",
            "https://[::1]/c.json",
            "http://example.org/c.json",
        ] {
            assert_eq!(get(AllowedHosts::Public, url).await, Err(ClientMetadataError::Unreachable), "{url}");
        }
    }
}
