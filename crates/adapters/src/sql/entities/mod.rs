//! The rows of each table, as `docent-migration` lays them. They do not leave the `sql` module.
//!
//! Every number is `i64`, the one integer that both databases have for it.

// The derive macros ask for `pub`, although nothing outside can reach these types.
#![allow(unreachable_pub)]

pub(super) mod documents;
pub(super) mod embedding_cache;
pub(super) mod generations;
pub(super) mod jobs;
pub(super) mod usage_records;
pub(super) mod users;
