//! Trace context of the request that created a job.

use crate::steps::{add_columns, drop_columns, in_transaction};
use sea_orm_migration::{prelude::*, schema::string_len_null};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Null for jobs of replicas that run an earlier version.
        let column = string_len_null("traceparent", 55);
        add_columns(manager, "jobs", [column]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_columns(manager, "jobs", &["traceparent"]).await
    }
}
