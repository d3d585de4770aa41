//! What calls of tools come to.

use docent_app::error::Error;
use docent_http::error::ApiError;
use serde_json::Value;

/// What a tool gives: text for a model, and the same for programs.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) value: Value,
}

/// What a tool is called with, or does, that makes it fail. Models read it.
pub(super) struct Failed(pub(super) String);

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        match error {
            Error::Fault(fault) => {
                tracing::warn!(fault = %fault.report(), "a tool failed");
                Self(fault.public_message())
            }
            other => Self(other.to_string()),
        }
    }
}

impl From<ApiError> for Failed {
    fn from(refusal: ApiError) -> Self {
        Self(refusal.sentences())
    }
}
