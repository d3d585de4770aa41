//! Sending of webhook messages to user-supplied URLs.

use async_trait::async_trait;
use docent_domain::error::ValidationError;
use docent_domain::webhook::WebhookUrl;
use std::time::Duration;
use thiserror::Error;

/// A signed message for one receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookMessage {
    /// URL of the receiver.
    pub url: WebhookUrl,
    /// Header `webhook-id`.
    pub id: String,
    /// Header `webhook-timestamp`: seconds since 1970.
    pub timestamp: i64,
    /// Header `webhook-signature`.
    pub signature: String,
    /// JSON body.
    pub body: String,
}

/// The response of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// HTTP status.
    pub status: u16,
    /// Requested delay before a retry, if any.
    pub retry_after: Option<Duration>,
}

/// Why there is no response. The messages are for the webhook's owner and do not reveal internal network details.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeliveryError {
    /// Requests to the URL are not allowed. Completes the sentence "the address …".
    #[error("the address {0}")]
    Refused(String),
    /// The host name cannot be resolved, or it resolves to an address that is not allowed.
    #[error("the name of the host cannot be resolved to an allowed address")]
    Unresolved,
    /// The TCP or TLS connection failed.
    #[error("no connection to the receiver could be established")]
    Unreachable,
    /// The receiver did not answer in time.
    #[error("the receiver did not answer in time")]
    Timeout,
    /// The connection was lost, or the response is not valid HTTP.
    #[error("the receiver closed the connection or did not send a valid HTTP response")]
    InvalidResponse,
}

/// Sends signed messages.
///
/// URLs are untrusted, so the sender connects only to hosts on the public internet unless configured otherwise. Every
/// connection is checked after name resolution.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Checks whether a webhook can have this URL. The answer is the same for host names that cannot be resolved and for
    /// those that resolve to addresses that are not allowed, so that nothing is learned about inner hosts.
    ///
    /// # Errors
    /// What is wrong with the field `url`.
    async fn check(&self, url: &WebhookUrl) -> Result<(), ValidationError>;

    /// Sends a message once, within seconds. Redirects are not followed. At most 1 KiB of the response body is read and
    /// discarded.
    ///
    /// # Errors
    /// If there is no response. Except for refused, unresolved and unreachable URLs it is then unknown whether the
    /// receiver got the message.
    async fn send(&self, message: &WebhookMessage) -> Result<ReceiverResponse, DeliveryError>;
}
