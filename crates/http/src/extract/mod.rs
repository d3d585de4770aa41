//! Request extractors.

pub mod client;
pub mod deserialize;
pub mod form;
pub mod granted;
pub mod json;
pub mod query;
pub mod upload;

use crate::error::ApiError;
use docent_app::error::Result;
use std::str::FromStr;

/// Parses an ID from the path.
pub fn id<Id: FromStr>(name: &'static str, text: &str) -> Result<Id, ApiError> {
    text.parse().map_err(|_| ApiError::invalid_field(&["path", name], "must be a UUID"))
}
