//! Errors of use cases, in the categories that the server maps to responses.

use chrono::{DateTime, Utc};
use docent_domain::access::Forbidden;
use docent_domain::api_key::ApiKeyScope;
use docent_domain::document::Failure;
use docent_domain::error::{IllegalTransition, ValidationError};
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_domain::file_type::{FileType, FileTypes};
use docent_domain::id::UserId;
use docent_domain::limits::LimitReached;
use docent_domain::missing_access::MissingAccess;
use docent_domain::permission::RecordKind;
use std::time::Duration;
use thiserror::Error;

/// The reason why a use case failed.
#[derive(Debug, Error)]
pub enum Error {
    /// The document is not failed, and only failed documents can be retried.
    #[error("Only a failed document can be retried; this one is {state}")]
    NotFailed {
        /// The document's state.
        state: &'static str,
    },
    /// No record of this kind has the given ID.
    #[error("{} not found", singular(*.0))]
    NotFound(RecordKind),
    /// The document has no page with this number.
    #[error("Page not found")]
    PageNotFound,
    /// The document has no summary, because it is not ingested.
    #[error("This document has no summary: it is not ingested")]
    SummaryNotFound,
    /// The collection has no such member.
    #[error("Member not found")]
    MemberNotFound,
    /// The conversation has no answer with this ID.
    #[error("Answer not found")]
    AnswerNotFound,
    /// The webhook has no delivery with this ID.
    #[error("Delivery not found")]
    DeliveryNotFound,
    /// The collection has no batch of files with this ID.
    #[error("Batch not found")]
    BatchNotFound,
    /// The account has no stored response with this ID.
    #[error("Response not found")]
    ResponseNotFound,
    /// The account has reached the maximum number of webhooks.
    #[error("An account may have at most {} webhooks", docent_domain::webhook::WEBHOOKS_MAX)]
    TooManyWebhooks,
    /// The webhook is disabled.
    #[error("This webhook is off; turn it on first")]
    WebhookDisabled,
    /// A delivery to the webhook is in progress.
    #[error("A message is being sent to this webhook; try again in a moment")]
    DeliveryInProgress,
    /// The page cannot be rendered because of the file.
    #[error("This page cannot be drawn: {}", .0.reason)]
    PageNotRenderable(Failure),
    /// Too many pages are being drawn, or one waited too long for its turn.
    #[error("Too many pages are being drawn")]
    DrawingQueueFull {
        /// How long to wait before the next request.
        retry_after: Duration,
    },
    /// Files of this type have no pages that can be drawn.
    #[error("A {} file has no page images; its pages can be read as text", .0.title())]
    NoPageImages(FileType),
    /// No agent has this name.
    #[error("Agent not found")]
    AgentNotFound,
    /// The credential is missing, invalid or expired, or its account is not active.
    #[error("Could not validate credentials")]
    Unauthenticated,
    /// The refresh token is unknown, revoked, expired or of another type, or its account is not active.
    #[error("Invalid refresh token")]
    InvalidRefreshToken,
    /// No active account has this email address and password.
    #[error("Invalid email or password")]
    InvalidCredentials,
    /// The password is correct, and the account has a second factor.
    #[error("A code from your authenticator app is required")]
    CodeRequired {
        /// The account.
        user: UserId,
        /// Time of issue of this proof of the password.
        proof_at: DateTime<Utc>,
    },
    /// The password is correct, and the account cannot use the panel.
    #[error("This account has no access to the panel")]
    NoPanelAccess,
    /// The code of the second factor is wrong, expired or was used before.
    #[error("This code is not valid")]
    InvalidCode,
    /// The account must have a second factor.
    #[error("This account must have a second factor; set it up at /account")]
    SecondFactorRequired,
    /// The account has a second factor.
    #[error("A second factor is already set up")]
    SecondFactorExists,
    /// The setup of the second factor was begun too long ago.
    #[error("The setup has expired; begin it again")]
    SetupExpired,
    /// The account has no second factor.
    #[error("No second factor is set up")]
    SecondFactorMissing,
    /// Another run has removed entries of the audit log that this one has exported.
    #[error(
        "another run is removing entries of the audit log; this one has removed nothing and deleted its export"
    )]
    EntriesRemovedElsewhere,
    /// Too many logins have failed.
    #[error("Too many failed logins")]
    TooManyFailedLogins {
        /// How long to wait before the next attempt.
        retry_after: Duration,
    },
    /// Too many emails were requested.
    #[error("Too many emails requested")]
    TooManyEmails {
        /// How long to wait before the next request.
        retry_after: Duration,
    },
    /// A limit of the account or the API key is reached.
    #[error("{0}")]
    LimitReached(LimitReached),
    /// The link's token is unknown, used, expired, replaced or for another purpose, or its account is not active.
    #[error("This link is not valid: it was used, has expired or was revoked")]
    InvalidLink,
    /// The actor does not have permission for this operation.
    #[error("You do not have permission to do this")]
    Forbidden,
    /// The actor lacks access that the account or group has.
    #[error("You do not have permission to do this: you lack {0}")]
    MissingAccess(MissingAccess),
    /// The actor's API key lacks this scope.
    #[error("The API key lacks the scope `{}`", .0.name())]
    MissingScope(ApiKeyScope),
    /// The last proof of identity of the browser's session is too old for this operation.
    #[error("Enter your password or a code of your second factor again to do this")]
    ProofNeeded,
    /// Without this account no active superuser would be left.
    #[error("this is the last active superuser; create another one first")]
    LastSuperuser,
    /// Another account has this email address.
    #[error("this email address is already in use")]
    EmailTaken,
    /// The collection of everyone and personal ones cannot be deleted, nor can a personal one be shared.
    #[error("{0}")]
    FixedCollection(&'static str),
    /// Documents of the collection are in no other one.
    #[error("{0} of its documents are in no other collection; delete or move them first")]
    CollectionNotEmpty(u64),
    /// The document is in no other collection, and has no other place.
    #[error("the document is in no other collection")]
    OnlyCollection,
    /// The actor may not give every account a role on a collection.
    #[error("Opening a collection to all accounts needs the permission `collections.open_collection`")]
    OpeningForbidden,
    /// The account owns the maximum number of collections.
    #[error(
        "An account may own at most {} collections",
        docent_domain::collection::COLLECTIONS_OF_ACCOUNT_MAX
    )]
    TooManyCollections,
    /// The maximum number of collections is open to all.
    #[error(
        "At most {} collections can be open to all accounts",
        docent_domain::collection::OPEN_COLLECTIONS_MAX
    )]
    TooManyOpenCollections,
    /// The account has hidden the maximum number of collections.
    #[error("An account may hide at most {} collections", docent_domain::collection::HIDDEN_COLLECTIONS_MAX)]
    TooManyHiddenCollections,
    /// Another record of the same kind has this name.
    #[error("this name is already in use")]
    NameTaken,
    /// The uploaded file is of no type that is accepted.
    #[error("Only {accepted} files are supported{}", conversion.map(|how| format!("; {how}")).unwrap_or_default())]
    UnsupportedFileType {
        /// The accepted types.
        accepted: FileTypes,
        /// How to save the file in another format.
        conversion: Option<&'static str>,
    },
    /// The uploaded file exceeds the size limit.
    #[error("The file is larger than {limit} bytes")]
    FileTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// A value violates a rule of its field.
    #[error(transparent)]
    Invalid(#[from] ValidationError),
    /// A component failed, or this program violated one of its own rules.
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// The name of one record of a kind, capitalized.
const fn singular(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Document => "Document",
        RecordKind::Collection => "Collection",
        RecordKind::User => "Account",
        RecordKind::Group => "Group",
        RecordKind::ApiKey => "API key",
        RecordKind::Invitation => "Invitation",
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
    fn from(forbidden: Forbidden) -> Self {
        match forbidden {
            Forbidden::MissingPermission => Self::Forbidden,
            Forbidden::MissingScope(scope) => Self::MissingScope(scope),
            Forbidden::ProofNeeded => Self::ProofNeeded,
        }
    }
}

impl From<MissingAccess> for Error {
    fn from(missing: MissingAccess) -> Self {
        Self::MissingAccess(missing)
    }
}

impl From<IllegalTransition> for Error {
    fn from(error: IllegalTransition) -> Self {
        Self::Fault(Fault::new(Component::Service, FaultKind::Internal, error.to_string()))
    }
}

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;
