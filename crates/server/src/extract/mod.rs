//! What is read out of requests.

pub(crate) mod client;
pub(crate) mod form;
pub(crate) mod granted;
pub(crate) mod json;
pub(crate) mod query;

use crate::error::Refusal;
use docent_app::error::Result;
use std::str::FromStr;

/// Parses an id out of a path.
pub(crate) fn id<Id: FromStr>(name: &'static str, text: &str) -> Result<Id, Refusal> {
    text.parse().map_err(|_| Refusal::invalid_field(&["path", name], "must be a UUID"))
}
