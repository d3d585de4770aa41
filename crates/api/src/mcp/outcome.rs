//! Results of tool calls.

use docent_app::error::Error;
use docent_domain::document::Document;
use docent_http::ApiError;
use serde_json::Value;

/// Result of a tool: text for models and a value for programs.
pub(super) struct Found {
    pub(super) text: String,
    pub(super) value: Value,
}

/// Why a tool call failed, as a message for models.
pub(super) struct Failed(pub(super) String);

impl Failed {
    /// A page that does not exist in a document with this number of pages.
    pub(super) fn no_page(document: &Document, number: u32, pages: u32) -> Self {
        Self(match pages {
            0 => format!("the document has no pages to read: it is {}", document.state.name()),
            pages => format!("there is no page {number}: the document has {pages}"),
        })
    }
}

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
