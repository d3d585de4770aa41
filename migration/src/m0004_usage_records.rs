//! The usage ledger.

use crate::steps::{count, create, drop_tables, id, id_null, in_transaction, index, instant};
use sea_orm_migration::{
    prelude::*,
    schema::{string_len, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // No foreign keys: records outlive the account, key and conversation.
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
        let by_user = index("usage_records_user_id_idx", "usage_records", &["user_id", "recorded_at"]);
        create(manager, [usage], [by_user]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["usage_records"]).await
    }
}
