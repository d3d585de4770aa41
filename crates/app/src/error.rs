//! What can go wrong in a use case, as the server needs to tell it apart.

use docent_domain::{
    document::Failure,
    error::{Forbidden, IllegalTransition, ValidationError},
    permission::RecordKind,
};
pub use docent_ports::error::{Component, Fault, FaultKind};
use std::time::Duration;
use thiserror::Error;

/// A use case that did not do what was asked.
#[derive(Debug, Error)]
pub enum Error {
    /// Only a failed document can be retried, and this one is in another state.
    #[error("Only a failed document can be retried; this one is {state}")]
    NotFailed {
        /// The state that it is in.
        state: &'static str,
    },
    /// No record of this kind has this id.
    #[error("{} not found", singular(*.0))]
    NotFound(RecordKind),
    /// The document has no page of this number.
    #[error("Page not found")]
    PageNotFound,
    /// The webhook has no delivery with this id.
    #[error("Delivery not found")]
    DeliveryNotFound,
    /// The account has as many webhooks as it may have.
    #[error("An account may have at most {} webhooks", docent_domain::webhook::WEBHOOKS_MAX)]
    TooManyWebhooks,
    /// The webhook is turned off.
    #[error("This webhook is off; turn it on first")]
    WebhookOff,
    /// A message to the webhook is being sent at this moment.
    #[error("A message is being sent to this webhook; try again in a moment")]
    DeliveryUnderWay,
    /// The file is to blame that a page cannot be drawn.
    #[error("This page cannot be drawn: {}", .0.reason)]
    PageNotDrawn(Failure),
    /// No agent has this name.
    #[error("Agent not found")]
    AgentNotFound,
    /// The access token is missing, wrong or expired, or its account is not active.
    #[error("Could not validate credentials")]
    Unauthenticated,
    /// The refresh token is unknown, revoked, expired or of another type, or its account is not active.
    #[error("Invalid refresh token")]
    RefreshTokenRefused,
    /// No active account has this address and password.
    #[error("Invalid email or password")]
    WrongCredentials,
    /// Too many logins failed.
    #[error("Too many failed logins")]
    TooManyLogins {
        /// When the next one is allowed.
        retry_after: Duration,
    },
    /// Too many letters were asked for.
    #[error("Too many letters")]
    TooManyLetters {
        /// When the next one is allowed.
        retry_after: Duration,
    },
    /// The link of a letter is unknown, used, expired or replaced, or for something else, or its account is not
    /// active.
    #[error("This link is not valid: it was used, has expired or was replaced by a newer one")]
    LinkRefused,
    /// The actor may not do this.
    #[error("You do not have permission to do this")]
    Forbidden,
    /// Nobody could give rights any more.
    #[error("this is the last active superuser; make another one first")]
    LastSuperuser,
    /// The address belongs to an account already.
    #[error("an account with this e-mail address exists already")]
    EmailTaken,
    /// The name belongs to a record of its kind already.
    #[error("this name is taken")]
    NameTaken,
    /// The uploaded file is no PDF by its content type.
    #[error("Only PDF files are supported")]
    NotAPdf,
    /// The uploaded file is too large.
    #[error("The file is larger than {limit} bytes")]
    FileTooLarge {
        /// The most bytes allowed.
        limit: u64,
    },
    /// A value breaks a rule.
    #[error(transparent)]
    Invalid(#[from] ValidationError),
    /// Something outside did not work, or we broke a rule of our own.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// A record of a kind, as the beginning of a sentence.
const fn singular(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Document => "Document",
        RecordKind::User => "Account",
        RecordKind::Group => "Group",
        RecordKind::ApiKey => "API key",
        RecordKind::Verification => "Link",
        RecordKind::Session => "Session",
        RecordKind::Conversation => "Conversation",
        RecordKind::Webhook => "Webhook",
        RecordKind::Usage => "Usage",
        RecordKind::Job => "Job",
        RecordKind::AuditEntry => "Entry",
    }
}

impl From<Forbidden> for Error {
    fn from(Forbidden: Forbidden) -> Self {
        Self::Forbidden
    }
}

impl From<IllegalTransition> for Error {
    fn from(error: IllegalTransition) -> Self {
        Self::Fault(Fault::new(Component::Service, FaultKind::Internal, error.to_string()))
    }
}

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;
