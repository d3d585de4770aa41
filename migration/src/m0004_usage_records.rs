//! The usage ledger.

use crate::columns::{count, id, id_null, instant};
use sea_orm_migration::{
    prelude::*,
    schema::{string_len, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // No foreign keys: what was used stays on record when the account, key or conversation is gone.
        let usage = Table::create()
            .table("usage_records")
            .col(id("id").primary_key())
            .col(id("user_id"))
            .col(id_null("api_key_id"))
            .col(id_null("conversation_id"))
            .col(string_len("agent", 64))
            .col(text("model"))
            .col(count("prompt_tokens"))
            .col(count("completion_tokens"))
            .col(instant("recorded_at"))
            .take();
        manager.create_table(usage).await?;
        let index = Index::create()
            .name("usage_records_user_id_idx")
            .table("usage_records")
            .col("user_id")
            .col("recorded_at")
            .take();
        manager.create_index(index).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("usage_records").take()).await
    }
}
