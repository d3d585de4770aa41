//! The errors that values and rules of the domain give.

use thiserror::Error;

/// A value that breaks a rule of its type.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{field} {reason}")]
pub struct ValidationError {
    /// The field's name as clients know it.
    pub field: &'static str,
    /// What is wrong, as the end of a sentence that begins with the field's name.
    pub reason: String,
}

impl ValidationError {
    /// Says that `field` breaks a rule.
    pub fn new(field: &'static str, reason: impl Into<String>) -> Self {
        Self { field, reason: reason.into() }
    }
}

/// A document was asked to go to a state that its present one does not lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a document that is {from} cannot become {to}")]
pub struct IllegalTransition {
    /// The present state.
    pub from: &'static str,
    /// The state asked for.
    pub to: &'static str,
}

/// The actor lacks the right to do this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("you do not have permission to do this")]
pub struct Forbidden;
