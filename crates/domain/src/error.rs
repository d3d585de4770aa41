//! Errors of domain values and rules.

use crate::missing_access::MissingAccess;
use thiserror::Error;

/// A field value that its type does not accept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} {reason}")]
pub struct ValidationError {
    /// Name of the field in the API.
    pub field: &'static str,
    /// Predicate of a sentence whose subject is the field: `must not be empty`.
    pub reason: String,
    /// The violated rule, if it is one of those that pages say in other languages.
    pub rule: Option<Rule>,
}

/// A rule that several fields have, or the forms of the pages. Its text is the predicate of a sentence whose subject is the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[allow(missing_docs, reason = "the texts say it")]
pub enum Rule {
    #[error("must not be empty")]
    NotEmpty,
    #[error("must have at least {0} characters")]
    MinCharacters(usize),
    #[error("must have at most {0} characters")]
    MaxCharacters(usize),
    #[error("must have at most {0} bytes")]
    MaxBytes(usize),
    #[error("must not contain control characters")]
    NoControlCharacters,
    #[error("must not contain characters that change the text direction")]
    NoDirectionCharacters,
    #[error("must not contain \"@\": only email addresses do")]
    NoAddress,
    #[error("must be an email address")]
    EmailAddress,
    #[error("must have an email address in each line: line {0} has none, or an invalid one")]
    LineWithoutAddress(usize),
    #[error("is already the address of this account")]
    OtherAddress,
    #[error("is too easy to guess; choose another one")]
    NotCommon,
    #[error("is too close to the email address; choose another one")]
    NotLikeAddress,
    #[error("must be one or more of read, ingest, chat and admin")]
    Scopes,
    #[error("must be in the future")]
    Future,
    #[error("contains a group that no longer exists")]
    UnknownGroup,
    #[error("can be granted only by a superuser")]
    SuperuserOnly,
    #[error("can be added or removed only if you have all of their permissions and roles; you lack {0}")]
    GroupAccess(MissingAccess),
    #[error("can be granted or revoked only if you have them yourself")]
    OwnPermissions,
    #[error("has access that you do not have; you lack {0}")]
    OtherAccess(MissingAccess),
    #[error("give access to data of the other account, for which you need {0}")]
    DataAccess(MissingAccess),
    #[error("cannot be changed: this takes all access of the account; you lack {0}")]
    AccountAccess(MissingAccess),
    #[error("cannot be removed from your own account")]
    OwnAccess,
    #[error("does not exist")]
    Exists,
    #[error("is deactivated")]
    NotDeactivated,
    #[error("is not active")]
    ActiveAccount,
    #[error("must be manager: this account owns the collection")]
    OwnerManages,
    #[error("must be at most {0}; use a group")]
    MaxMembers(usize),
    #[error("must be at most {0}")]
    MaxCount(usize),
    #[error("keys must have 1 to {0} characters: letters, digits, \"_\", \"-\" and \".\"")]
    AttributeKey(usize),
    #[error("values must have at most {0} characters")]
    AttributeMaxCharacters(usize),
    #[error("values must not contain control characters")]
    AttributeNoControlCharacters,
    #[error("values must be finite numbers")]
    AttributeFinite,
    #[error("must not have the key \"{0}\", which is a built-in attribute")]
    AttributeNotBuiltIn(&'static str),
    #[error("was not processed because a component failed")]
    Processed,
    #[error("is not in the collection")]
    InCollection,
    #[error("is in the collection already")]
    NotInCollection,
    #[error("is in no other collection: move or delete it instead")]
    InOtherCollection,
    #[error("must not be empty: delete the document instead")]
    InSomeCollection,
}

impl ValidationError {
    /// Reports that `field` is invalid.
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into(), rule: None }
    }

    /// Reports that `field` violates a rule.
    pub fn of(field: &'static str, rule: Rule) -> Self {
        Self { rule: Some(rule), ..Self::new(field, rule.to_string()) }
    }
}

/// A document cannot change from its current state to the requested one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a document that is {from} cannot become {to}")]
pub struct IllegalTransition {
    /// Current state.
    pub from: &'static str,
    /// Requested state.
    pub to: &'static str,
}
