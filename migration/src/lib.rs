#![doc = include_str!("../README.md")]
// `MigrationTrait` elides the lifetime of `SchemaManager`, so its implementations must too.
#![allow(elided_lifetimes_in_paths)]

mod change;
mod m0001_users;
mod m0002_documents;
mod m0003_jobs;
mod m0004_usage_records;
mod m0005_job_traces;
mod m0006_deletion_and_turns;
mod m0007_embedding_cache;
mod m0008_generations;
mod m0009_duties;
mod m0010_access;
mod m0011_credentials;
mod m0012_audit_log;
mod m0013_conversations;
mod m0014_term_statistics;
mod m0015_list_indexes;
mod m0016_webhooks;
mod m0017_refresh_tokens;
mod m0018_job_waits;
mod m0019_account_pages;
mod m0020_account_limits;
mod m0021_audit_retention;
mod m0022_several_links;
mod m0023_second_factors;
mod m0024_collections;
mod m0025_conversation_selections;
mod m0026_versions;
mod m0027_languages;
mod m0028_recognition;
mod m0029_file_types;
mod m0030_feedback;
mod m0031_summaries;
mod m0032_open_collections;
mod m0033_pinned_conversations;
mod m0034_replaced_messages;
mod m0035_conversations_of_keys;
mod m0036_shared_conversations;
mod m0037_account_languages;
mod m0038_open_and_hidden_collections;
mod m0039_fallback_answers;
mod m0040_file_batches;
mod m0041_responses;
mod m0042_identities;
mod m0043_oauth;
mod m0044_page_gaps;
mod m0045_invitations;
mod m0046_group_managers;
mod m0047_external_files;
mod m0048_retention_indexes;
mod m0049_names;
mod state;
mod table;

pub use sea_orm_migration::MigratorTrait;
pub use state::{SchemaState, schema_state, schema_version};

use change::{Change, Migration};
use sea_orm_migration::MigrationTrait;

/// All migrations, in the order they are applied.
#[derive(Clone, Copy, Debug)]
pub struct Migrator;

#[sea_orm_migration::async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            migration("m0001_users", m0001_users::changes),
            migration("m0002_documents", m0002_documents::changes),
            migration("m0003_jobs", m0003_jobs::changes),
            migration("m0004_usage_records", m0004_usage_records::changes),
            migration("m0005_job_traces", m0005_job_traces::changes),
            migration("m0006_deletion_and_turns", m0006_deletion_and_turns::changes),
            migration("m0007_embedding_cache", m0007_embedding_cache::changes),
            migration("m0008_generations", m0008_generations::changes),
            migration("m0009_duties", m0009_duties::changes),
            migration("m0010_access", m0010_access::changes),
            migration("m0011_credentials", m0011_credentials::changes),
            migration("m0012_audit_log", m0012_audit_log::changes),
            migration("m0013_conversations", m0013_conversations::changes),
            migration("m0014_term_statistics", m0014_term_statistics::changes),
            migration("m0015_list_indexes", m0015_list_indexes::changes),
            migration("m0016_webhooks", m0016_webhooks::changes),
            migration("m0017_refresh_tokens", m0017_refresh_tokens::changes),
            migration("m0018_job_waits", m0018_job_waits::changes),
            migration("m0019_account_pages", m0019_account_pages::changes),
            migration("m0020_account_limits", m0020_account_limits::changes),
            migration("m0021_audit_retention", m0021_audit_retention::changes),
            migration("m0022_several_links", m0022_several_links::changes),
            migration("m0023_second_factors", m0023_second_factors::changes),
            migration("m0024_collections", m0024_collections::changes),
            migration("m0025_conversation_selections", m0025_conversation_selections::changes),
            migration("m0026_versions", m0026_versions::changes),
            migration("m0027_languages", m0027_languages::changes),
            migration("m0028_recognition", m0028_recognition::changes),
            migration("m0029_file_types", m0029_file_types::changes),
            migration("m0030_feedback", m0030_feedback::changes),
            migration("m0031_summaries", m0031_summaries::changes),
            migration("m0032_open_collections", m0032_open_collections::changes),
            migration("m0033_pinned_conversations", m0033_pinned_conversations::changes),
            migration("m0034_replaced_messages", m0034_replaced_messages::changes),
            migration("m0035_conversations_of_keys", m0035_conversations_of_keys::changes),
            migration("m0036_shared_conversations", m0036_shared_conversations::changes),
            migration("m0037_account_languages", m0037_account_languages::changes),
            migration("m0038_open_and_hidden_collections", m0038_open_and_hidden_collections::changes),
            migration("m0039_fallback_answers", m0039_fallback_answers::changes),
            migration("m0040_file_batches", m0040_file_batches::changes),
            migration("m0041_responses", m0041_responses::changes),
            migration("m0042_identities", m0042_identities::changes),
            migration("m0043_oauth", m0043_oauth::changes),
            migration("m0044_page_gaps", m0044_page_gaps::changes),
            migration("m0045_invitations", m0045_invitations::changes),
            migration("m0046_group_managers", m0046_group_managers::changes),
            migration("m0047_external_files", m0047_external_files::changes),
            migration("m0048_retention_indexes", m0048_retention_indexes::changes),
            migration("m0049_names", m0049_names::changes),
        ]
    }
}

fn migration(name: &'static str, changes: fn() -> Vec<Change>) -> Box<dyn MigrationTrait> {
    Box::new(Migration { name, changes })
}

#[cfg(test)]
mod tests;
