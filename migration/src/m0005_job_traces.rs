//! The trace of the request that caused a job.

use sea_orm_migration::{prelude::*, schema::string_len_null};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Replicas of the version before leave it out, and it is empty then.
        let column = string_len_null("traceparent", 55);
        manager.alter_table(Table::alter().table("jobs").add_column(column).take()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("jobs").drop_column("traceparent").take()).await
    }
}
