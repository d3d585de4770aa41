//! Documents: `/documents…`.

mod create;
mod delete;
mod embedding;
mod file;
mod find;
mod formats;
mod get;
mod ingestion;
mod list;
mod page_image;
mod page_words;
pub(crate) mod recognition;
mod replace;
mod report;
mod retry;
mod reuse;
mod summary;
mod upload;
