#![doc = include_str!("../README.md")]

use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;

/// The longest wait for a connection; a back end's own limit may be shorter.
const MAX_CONNECT: Duration = Duration::from_secs(10);
/// How long unused connections stay open. Many back ends close them after five seconds, and a request on a connection
/// that is being closed fails.
const IDLE_CONNECTION: Duration = Duration::from_secs(4);
/// Maximum number of unused connections per host.
const MAX_IDLE: usize = 64;

/// An HTTP client could not be created.
#[derive(Debug, Error)]
#[error("cannot create the HTTP client")]
pub struct HttpClientError(#[source] Box<dyn std::error::Error + Send + Sync>);

/// Creates a client for a URL that waits at most `limit` for a connection.
///
/// # Errors
/// If the machine's certificates cannot be loaded.
pub fn http_client(url: &Url, limit: Duration) -> Result<Client, HttpClientError> {
    let mut builder = Client::builder()
        .tls_backend_preconfigured(tls(url)?)
        .connect_timeout(limit.min(MAX_CONNECT))
        .pool_idle_timeout(IDLE_CONNECTION)
        .pool_max_idle_per_host(MAX_IDLE)
        .redirect(Policy::none())
        .user_agent(concat!("docent/", env!("CARGO_PKG_VERSION")));
    if is_loopback(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| HttpClientError(error.without_url().into()))
}

/// The TLS configuration of all clients.
///
/// # Errors
/// If the machine's certificates cannot be loaded.
pub fn tls(url: &Url) -> Result<ClientConfig, HttpClientError> {
    let failed = |error: rustls::Error| HttpClientError(error.into());
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?;
    // Without TLS, no certificates are needed: the machine may have none.
    if url.scheme() == "http" {
        return Ok(builder.with_root_certificates(RootCertStore::empty()).with_no_client_auth());
    }
    let verifier =
        rustls_platform_verifier::Verifier::new(Arc::new(ring::default_provider())).map_err(failed)?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

/// Whether the URL's host is this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_hosts_are_recognized() {
        for host in ["localhost:1", "LOCALHOST", "a.localhost", "127.0.0.1", "127.1.2.3:80", "[::1]:80"] {
            assert!(is_loopback(&Url::parse(&format!("http://{host}")).unwrap()), "{host}");
        }
        for host in ["10.0.0.1", "example.com", "localhost.example.com", "[2001:db8::1]", "0.0.0.0"] {
            assert!(!is_loopback(&Url::parse(&format!("http://{host}")).unwrap()), "{host}");
        }
    }
}
