//! The tables, as `docent-migration` creates them, and how their rows store records. Private to the `sql` module.
//!
//! Every number is `i64`, the integer type that both databases support.

// The derive macros require `pub`, although these types are unreachable from outside.
#![allow(unreachable_pub)]

/// Completes an entity. Statements name the columns they join by, so that none declares relations.
macro_rules! no_relations {
    () => {
        #[derive(Clone, Copy, Debug, EnumIter, DeriveRelation)]
        pub enum Relation {}

        impl ActiveModelBehavior for ActiveModel {}
    };
}

pub(super) mod api_keys;
pub(super) mod audit_log;
pub(super) mod audit_removals;
pub(super) mod collection_documents;
pub(super) mod collection_groups;
pub(super) mod collection_metadata;
pub(super) mod collection_terms;
pub(super) mod collection_users;
pub(super) mod collections;
pub(super) mod conversation_collections;
pub(super) mod conversations;
pub(super) mod document_collections;
pub(super) mod document_summaries;
pub(super) mod documents;
pub(super) mod duties;
pub(super) mod embedding_cache;
pub(super) mod external_files;
pub(super) mod failed_logins;
pub(super) mod file_batches;
pub(super) mod file_purposes;
pub(super) mod generations;
pub(super) mod group_permissions;
pub(super) mod groups;
pub(super) mod hidden_collections;
pub(super) mod identities;
pub(super) mod invitations;
pub(super) mod jobs;
pub(super) mod messages;
pub(super) mod oauth_clients;
pub(super) mod oauth_codes;
pub(super) mod open_collections;
pub(super) mod provider_sessions;
pub(super) mod refresh_families;
pub(super) mod refresh_tokens;
pub(super) mod responses;
pub(super) mod sessions;
pub(super) mod usage_records;
pub(super) mod user_groups;
pub(super) mod user_permissions;
pub(super) mod users;
pub(super) mod verification_tokens;
pub(super) mod webhook_deliveries;
pub(super) mod webhooks;
