//! Errors of domain values and rules.

use thiserror::Error;

/// A field value that its type does not accept.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} {reason}")]
pub struct ValidationError {
    /// Name of the field in the API.
    pub field: &'static str,
    /// Predicate of a sentence whose subject is the field: `must not be empty`.
    pub reason: String,
}

impl ValidationError {
    /// Reports that `field` is invalid.
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
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

/// The actor is not allowed to perform the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("you do not have permission to do this")]
pub struct Forbidden;
