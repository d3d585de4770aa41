//! Documents: creation, upload, reading, collections and attributes, retry and deletion.

pub mod access;
pub mod batches;
pub mod browse;
pub mod bulk;
pub mod create;
pub mod delete;
pub mod details;
pub(crate) mod drawing_queue;
pub mod external;
pub mod file;
pub mod find;
pub mod get;
pub mod label;
pub mod list;
pub(crate) mod page_failures;
pub mod page_image;
pub mod page_text;
pub mod page_words;
pub mod pages_text;
pub mod replace;
pub mod retry;
pub mod summary;
pub mod upload;
pub mod upload_text;
pub(crate) mod versions;
pub mod wait;
