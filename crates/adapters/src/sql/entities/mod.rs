//! The rows of each table, as `docent-migration` lays them. They do not leave the `sql` module.
//!
//! Every number is `i64`, the one integer that both databases have for it.

// The derive macros ask for `pub`, although nothing outside can reach these types.
#![allow(unreachable_pub)]

pub(super) mod api_keys;
pub(super) mod audit_log;
pub(super) mod collection_documents;
pub(super) mod collection_terms;
pub(super) mod conversations;
pub(super) mod documents;
pub(super) mod duties;
pub(super) mod embedding_cache;
pub(super) mod generations;
pub(super) mod group_permissions;
pub(super) mod groups;
pub(super) mod jobs;
pub(super) mod messages;
pub(super) mod sessions;
pub(super) mod usage_records;
pub(super) mod user_groups;
pub(super) mod user_permissions;
pub(super) mod users;
pub(super) mod verification_tokens;
pub(super) mod webhook_deliveries;
pub(super) mod webhooks;
