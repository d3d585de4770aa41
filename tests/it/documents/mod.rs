//! Documents: `/documents…`.

mod create;
mod delete;
mod file;
mod formats;
mod get;
mod ingestion;
mod list;
mod page_image;
pub(crate) mod recognition;
mod replace;
mod report;
mod retry;
mod reuse;
mod summary;
mod upload;
