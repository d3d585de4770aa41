//! What can be done with documents.

pub mod create;
pub mod get;
pub mod inspect;
pub mod list;
pub mod upload;
