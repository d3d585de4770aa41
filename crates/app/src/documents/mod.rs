//! What can be done with documents.

pub mod browse;
pub mod bulk;
pub mod create;
pub mod delete;
pub mod file;
pub mod get;
pub mod inspect;
pub mod list;
pub mod page;
pub mod picture;
pub mod retry;
pub mod upload;
