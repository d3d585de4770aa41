//! `/documents…`

mod create;
mod get;
mod ingestion;
mod list;
mod upload;
