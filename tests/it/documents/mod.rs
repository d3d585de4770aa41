//! `/documents…`

mod create;
mod delete;
mod get;
mod ingestion;
mod list;
mod report;
mod retry;
mod upload;
