//! Request extractors.

pub mod base_url;
pub mod body;
pub mod client;
pub mod condition;
pub mod deserialize;
pub mod form;
pub mod granted;
pub mod json;
pub mod path;
pub mod query;
pub mod upload;
