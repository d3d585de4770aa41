//! Webhook delivery over HTTP with protection against server-side request forgery.
//!
//! The client resolves host names through [`GuardedResolver`] for every connection, so DNS rebinding has no effect. Hosts
//! given as IP addresses bypass resolvers and are checked beforehand. Proxies from the environment are not used, because
//! they would connect to unchecked addresses.

mod addresses;

pub use addresses::Reach;

use crate::http_client::tls;
use async_trait::async_trait;
use docent_domain::{error::ValidationError, webhook::WebhookUrl};
use docent_ports::{
    error::{Component, Fault, FaultKind},
    webhook_sender::{DeliveryError, ReceiverResponse, WebhookMessage, WebhookSender},
};
use futures::future::BoxFuture;
use reqwest::{
    Client, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_TYPE, RETRY_AFTER},
    redirect::Policy,
};
use std::{
    error::Error,
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};
use thiserror::Error;
use tokio::time::timeout;

/// Limit for a delivery, including the connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a connection may take to come about.
const CONNECTING: Duration = Duration::from_secs(5);
/// How much of an answer's body is read. It is read at all so that connections end in good order.
const ANSWER_MAX: usize = 1024;
/// What is wrong with a host out of reach.
const OUT_OF_REACH: &str = "leads to a host that is not on the public internet";

/// Resolves a name to addresses.
type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Delivers webhook messages, each over a new connection.
#[derive(Clone)]
#[allow(missing_debug_implementations, reason = "the resolver has no debug form")]
pub struct HttpWebhookSender {
    client: Client,
    guard: Guard,
    patience: Duration,
}

/// Resolves names to allowed addresses only.
#[derive(Clone)]
struct Guard {
    reach: Reach,
    lookup: Lookup,
}

/// A name resolves to an address that is not allowed.
#[derive(Clone, Copy, Debug, Error)]
#[error("the name leads out of reach")]
struct OutOfReach;

/// A name does not resolve.
#[derive(Clone, Copy, Debug, Error)]
#[error("the name leads nowhere")]
struct Nowhere;

impl HttpWebhookSender {
    /// Creates a sender to these hosts that uses the machine's resolver.
    ///
    /// # Errors
    /// `Unavailable` if the machine's certificates cannot be loaded.
    pub fn new(reach: Reach) -> Result<Self, Fault> {
        Self::with_lookup(reach, Arc::new(|name| Box::pin(look_up(name))))
    }

    fn with_lookup(reach: Reach, lookup: Lookup) -> Result<Self, Fault> {
        let guard = Guard { reach, lookup };
        let unusable = |error: Box<dyn Error + Send + Sync>| {
            Fault::new(Component::Service, FaultKind::Unavailable, "the client of webhooks cannot be made")
                .caused_by(error)
        };
        let secure = Url::parse("https://localhost").map_err(|error| unusable(error.into()))?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls(&secure).map_err(|error| unusable(error.into()))?)
            .connect_timeout(CONNECTING)
            .pool_max_idle_per_host(0)
            .redirect(Policy::none())
            .no_proxy()
            .dns_resolver(Arc::new(guard.clone()))
            .user_agent(concat!("docent/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| unusable(error.without_url().into()))?;
        Ok(Self { client, guard, patience: PATIENCE })
    }

    /// Sets the limit for a delivery.
    #[must_use]
    pub fn giving_up_after(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Parses and checks a URL, without resolving its host.
    fn parse(&self, url: &WebhookUrl) -> Result<Url, &'static str> {
        let url = Url::parse(url.as_str()).map_err(|_| "is no URL")?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err("must not hold a user name or a password");
        }
        if url.scheme() != "https" && self.guard.reach == Reach::Public {
            return Err("must begin with https://");
        }
        let host = url.host_str().ok_or("has no host")?;
        let literal = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        if literal.is_ok_and(|address| !self.guard.reach.allows(address)) {
            return Err(OUT_OF_REACH);
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
            if read >= ANSWER_MAX {
                break;
            }
        }
        Ok(answer)
    }
}

#[async_trait]
impl WebhookSender for HttpWebhookSender {
    async fn check(&self, url: &WebhookUrl) -> Result<(), ValidationError> {
        let wrong = |reason: &str| ValidationError::new("url", reason);
        let url = self.parse(url).map_err(wrong)?;
        let host = url.host_str().unwrap_or_default();
        if host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok() {
            return Ok(());
        }
        match timeout(CONNECTING, self.guard.addresses(host.to_owned())).await {
            Ok(Err(error)) if error.is::<OutOfReach>() => Err(wrong(OUT_OF_REACH)),
            _ => Ok(()),
        }
    }

    async fn send(&self, message: &WebhookMessage) -> Result<ReceiverResponse, DeliveryError> {
        let url = self.parse(&message.url).map_err(|reason| DeliveryError::Refused(reason.to_owned()))?;
        timeout(self.patience, self.post(url, message)).await.unwrap_or(Err(DeliveryError::Timeout))
    }
}

impl Guard {
    /// What a name leads to. One address out of reach spoils them all: it may be the one that is taken.
    async fn addresses(&self, name: String) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
        let found = (self.lookup)(name).await.map_err(|_| Nowhere)?;
        if found.is_empty() {
            return Err(Nowhere.into());
        }
        if found.iter().any(|address| !self.reach.allows(*address)) {
            return Err(OutOfReach.into());
        }
        Ok(found)
    }
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.clone();
        Box::pin(async move {
            let found = guard.addresses(name.as_str().to_owned()).await?;
            // The client puts the port in its place.
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
        if error.is::<OutOfReach>() {
            return DeliveryError::Refused(OUT_OF_REACH.to_owned());
        }
        if error.is::<Nowhere>() {
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
