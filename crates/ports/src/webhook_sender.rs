//! Sending messages to addresses that anybody may have named.

use async_trait::async_trait;
use docent_domain::{error::ValidationError, webhook::WebhookUrl};
use std::time::Duration;
use thiserror::Error;

/// A signed message to one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookMessage {
    /// Where it goes.
    pub url: WebhookUrl,
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`: seconds since 1970.
    pub timestamp: i64,
    /// `webhook-signature`.
    pub signature: String,
    /// The body, in JSON.
    pub body: String,
}

/// What a receiver answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverResponse {
    /// The status.
    pub status: u16,
    /// When it asks to be called again, if it does.
    pub retry_after: Option<Duration>,
}

/// Why there is no answer. The sentences are for the webhook's owner and tell nothing of networks in between.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DeliveryError {
    /// The address may not be asked; it ends the sentence "the address …".
    #[error("the address {0}")]
    Refused(String),
    /// Its name leads nowhere.
    #[error("the name of the host cannot be resolved")]
    Unresolved,
    /// Nobody takes the connection, or TLS does not come about.
    #[error("no connection to the receiver comes about")]
    Unreachable,
    /// The receiver took too long, all in all.
    #[error("the receiver did not answer in time")]
    Timeout,
    /// The connection broke, or what came is no HTTP.
    #[error("the receiver broke off or did not answer in HTTP")]
    InvalidResponse,
}

/// Sends signed messages.
///
/// Nobody vouches for the addresses, so it keeps away from hosts that are not on the public internet, unless it was
/// told otherwise: at every connection, whatever names lead to by then.
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// Whether a webhook may have this address, as far as can be seen now. A name that leads nowhere is no reason
    /// to refuse it.
    ///
    /// # Errors
    /// What is wrong, as of the field `url`.
    async fn check(&self, url: &WebhookUrl) -> Result<(), ValidationError>;

    /// Sends a message once. Redirections are answers like others and not followed; of the answer's body at most a
    /// kibibyte is read, and nothing kept. It ends within seconds, whatever the receiver does.
    ///
    /// # Errors
    /// When there is no answer. Whether the receiver took the message is not known then, unless it was refused or
    /// could not be reached.
    async fn send(&self, message: &WebhookMessage) -> Result<ReceiverResponse, DeliveryError>;
}
