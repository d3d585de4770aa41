//! Documents.

pub(crate) mod change;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod file;
pub(crate) mod find;
pub(crate) mod get;
pub(crate) mod list;
pub(crate) mod page_image;
pub(crate) mod page_text;
pub(crate) mod page_words;
pub(crate) mod replace;
pub(crate) mod report;
pub(crate) mod response;
pub(crate) mod retry;
pub(crate) mod summary;
pub(crate) mod upload;

use docent_http::ApiError;
use std::num::NonZeroU32;

/// Parses the number of a page in a path.
fn page_number(text: &str) -> Result<NonZeroU32, ApiError> {
    let wrong = |_| ApiError::invalid_field(&["path", "page"], "must be the number of a page, from 1");
    text.parse().map_err(wrong)
}
