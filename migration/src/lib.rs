#![doc = include_str!("../README.md")]
// `MigrationTrait` elides the lifetime of `SchemaManager`, so its implementations must too.
#![allow(elided_lifetimes_in_paths)]

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
mod state;
mod steps;

pub use sea_orm_migration::MigratorTrait;
pub use state::{SchemaState, schema_state, schema_version};

use sea_orm_migration::MigrationTrait;

/// All migrations, in the order they are applied.
#[derive(Clone, Copy, Debug)]
pub struct Migrator;

#[sea_orm_migration::async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_users::Migration),
            Box::new(m0002_documents::Migration),
            Box::new(m0003_jobs::Migration),
            Box::new(m0004_usage_records::Migration),
            Box::new(m0005_job_traces::Migration),
            Box::new(m0006_deletion_and_turns::Migration),
            Box::new(m0007_embedding_cache::Migration),
            Box::new(m0008_generations::Migration),
            Box::new(m0009_duties::Migration),
            Box::new(m0010_access::Migration),
            Box::new(m0011_credentials::Migration),
            Box::new(m0012_audit_log::Migration),
            Box::new(m0013_conversations::Migration),
            Box::new(m0014_term_statistics::Migration),
            Box::new(m0015_list_indexes::Migration),
            Box::new(m0016_webhooks::Migration),
            Box::new(m0017_refresh_tokens::Migration),
        ]
    }
}

#[cfg(test)]
mod tests;
