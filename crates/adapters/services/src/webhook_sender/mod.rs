//! Webhook delivery over HTTP with protection against server-side request forgery.
//!
//! The client resolves host names through [`GuardedResolver`] for every connection, so DNS rebinding has no effect. Hosts
//! given as IP addresses bypass resolvers and are checked beforehand. Proxies from the environment are not used, because
//! they would connect to unchecked addresses.

mod addresses;
mod client_metadata;

pub use addresses::AllowedHosts;
pub use client_metadata::HttpClientMetadata;

use async_trait::async_trait;
use docent_domain::error::ValidationError;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::webhook::WebhookUrl;
use docent_http_client::tls;
use docent_ports::webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage, WebhookSender};
use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use std::error::Error;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// Limit for a delivery, including the connection.
const TIMEOUT: Duration = Duration::from_secs(10);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a response body is read, so that connections are closed properly.
const MAX_BODY: usize = 1024;
/// The reason for rejecting an address.
const NOT_PUBLIC: &str = "leads to a host that is not on the public internet";
/// The reason for rejecting a name. The same for unknown names and for those of inner hosts, which are not revealed.
const NOT_RESOLVED: &str = "has a host name that does not resolve to an allowed address";

/// Resolves a name to addresses.
type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Delivers webhook messages, each over a new connection.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "the resolver has no debug form")]
pub struct HttpWebhookSender {
    client: Client,
    resolver: GuardedResolver,
    timeout: Duration,
}

/// Resolves names to allowed addresses only.
#[derive(Clone)]
struct GuardedResolver {
    allowed_hosts: AllowedHosts,
    lookup: Lookup,
}

/// A name does not resolve, or it resolves to an address that is not allowed.
#[derive(Clone, Copy, Debug, Error)]
#[error("the name does not resolve to an allowed address")]
struct Unresolved;

impl HttpWebhookSender {
    /// Creates a sender to these hosts that uses the machine's resolver.
    ///
    /// # Errors
    /// `Unavailable` if the machine's certificates cannot be loaded.
    pub fn new(allowed_hosts: AllowedHosts) -> Result<Self, Fault> {
        Self::with_lookup(allowed_hosts, Arc::new(|name| Box::pin(look_up(name))))
    }

    fn with_lookup(allowed_hosts: AllowedHosts, lookup: Lookup) -> Result<Self, Fault> {
        let resolver = GuardedResolver { allowed_hosts, lookup };
        let unusable = |error: Box<dyn Error + Send + Sync>| {
            Fault::new(
                Component::Service,
                FaultKind::Unavailable,
                "cannot create the HTTP client for webhooks",
            )
            .caused_by(error)
        };
        let secure = Url::parse("https://localhost").map_err(|error| unusable(error.into()))?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls(&secure).map_err(|error| unusable(error.into()))?)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_max_idle_per_host(0)
            .redirect(Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(resolver.clone()))
            .user_agent(concat!("docent/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| unusable(error.without_url().into()))?;
        Ok(Self { client, resolver, timeout: TIMEOUT })
    }

    /// Sets the limit for a delivery.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Parses and checks a URL, without resolving its host.
    fn parse(&self, url: &str) -> Result<Url, &'static str> {
        // The parser would take the path of a URL without host for the host.
        let has_host = url.split_once("://").is_some_and(|(_, rest)| !rest.starts_with(['/', '\\']));
        let url = Url::parse(url).ok().filter(|_| has_host).ok_or("is not a valid URL")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not contain a user name or a password");
        }
        if url.scheme() != "https" && self.resolver.allowed_hosts == AllowedHosts::Public {
            return Err("must begin with https://");
        }
        let host = url.host_str().ok_or("has no host")?;
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if literal.is_ok_and(|address| !self.resolver.allowed_hosts.allows(address)) {
            return Err(NOT_PUBLIC);
        }
        Ok(url)
    }

    async fn post(&self, url: Url, message: &WebhookMessage) -> Result<ReceiverResponse, DeliveryError> {
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", message.timestamp)
            .header("webhook-signature", &message.signature)
            .body(message.body.clone());
        let mut response = request.send().await.map_err(|error| undelivered(&error))?;
        let answer =
            ReceiverResponse { status: response.status().as_u16(), retry_after: retry_after(&response) };
        let mut read = 0;
        // Errors in the body are ignored: the status has been received.
        while let Ok(Some(piece)) = response.chunk().await {
            read += piece.len();
            if read >= MAX_BODY {
                break;
            }
        }
        Ok(answer)
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn check(&self, url: &WebhookUrl) -> Result<(), ValidationError> {
        let invalid = |reason: &str| ValidationError::new("url", reason);
        let url = self.parse(url.as_str()).map_err(invalid)?;
        let host = url.host_str().unwrap_or_default();
        if host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok() {
            return Ok(());
        }
        match timeout(CONNECT_TIMEOUT, self.resolver.addresses(host.to_owned())).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(Unresolved)) | Err(_) => Err(invalid(NOT_RESOLVED)),
        }
    }

    async fn send(&self, message: &WebhookMessage) -> Result<ReceiverResponse, DeliveryError> {
        let url =
            self.parse(message.url.as_str()).map_err(|reason| DeliveryError::Refused(reason.to_owned()))?;
        timeout(self.timeout, self.post(url, message)).await.unwrap_or(Err(DeliveryError::Timeout))
    }
}

impl GuardedResolver {
    /// Resolves a name. A single forbidden address rejects the name, because the client may choose any of them.
    async fn addresses(&self, name: String) -> Result<Vec<IpAddr>, Unresolved> {
        let found = (self.lookup)(name).await.map_err(|_| Unresolved)?;
        let is_allowed = !found.is_empty() && found.iter().all(|address| self.allowed_hosts.allows(*address));
        if is_allowed { Ok(found) } else { Err(Unresolved) }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let found = resolver.addresses(name.as_str().to_owned()).await?;
            // The client sets the port.
            Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

async fn look_up(name: String) -> io::Result<Vec<IpAddr>> {
    Ok(tokio::net::lookup_host((name, 0)).await?.map(|address| address.ip()).collect())
}

fn retry_after(response: &Response) -> Option<Duration> {
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn undelivered(error: &reqwest::Error) -> DeliveryError {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<Unresolved>() {
            return DeliveryError::Unresolved;
        }
        cause = error.source();
    }
    if error.is_timeout() {
        DeliveryError::Timeout
    } else if error.is_connect() {
        DeliveryError::Unreachable
    } else {
        DeliveryError::InvalidResponse
    }
}

#[cfg(test)]
mod tests;
