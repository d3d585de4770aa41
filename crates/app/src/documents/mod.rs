//! What can be done with documents.

pub mod create;
pub mod get;
pub mod list;
pub mod upload;
