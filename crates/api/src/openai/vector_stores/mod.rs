//! `/v1/vector_stores…`: collections with their files.

pub(crate) mod batches;
pub(crate) mod chunking;
pub(crate) mod files;
pub(crate) mod object;
pub(crate) mod search;
pub(crate) mod stores;
