//! Conversations and their messages.

use crate::{
    columns::{count, id, instant},
    m0010_access::owned_by,
};
use sea_orm_migration::{
    prelude::*,
    schema::{boolean, json_binary, string_len, string_len_null, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(conversations()).await?;
        manager.create_table(messages()).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(BY_DAY).table("usage_records").to_owned()).await?;
        manager.drop_table(Table::drop().table("messages").take()).await?;
        manager.drop_table(Table::drop().table("conversations").take()).await
    }
}

/// Usage of all accounts in the order of time.
const BY_DAY: &str = "usage_records_recorded_at_idx";

fn conversations() -> TableCreateStatement {
    Table::create()
        .table("conversations")
        .col(id("id").primary_key())
        .col(id("owner_id"))
        .col(string_len("title", 200))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .foreign_key(&mut owned_by("conversations", "owner_id", "users"))
        .take()
}

fn messages() -> TableCreateStatement {
    Table::create()
        .table("messages")
        .col(id("id").primary_key())
        .col(id("conversation_id"))
        .col(count("ordinal"))
        // The agent that said it; none when the owner did.
        .col(string_len_null("agent", 64))
        .col(text("content"))
        .col(json_binary("sources"))
        .col(count("prompt_tokens"))
        .col(count("completion_tokens"))
        .col(boolean("is_complete").default(true))
        .col(instant("created_at"))
        .foreign_key(&mut owned_by("messages", "conversation_id", "conversations"))
        .take()
}

fn indexes() -> [IndexCreateStatement; 4] {
    let index = |name: &'static str, table: &'static str| Index::create().name(name).table(table).take();
    [
        index("conversations_owner_id_idx", "conversations")
            .col("owner_id")
            .col("updated_at")
            .col("id")
            .take(),
        index("conversations_updated_at_idx", "conversations").col("updated_at").col("id").take(),
        index("messages_conversation_id_ordinal_key", "messages")
            .col("conversation_id")
            .col("ordinal")
            .unique()
            .take(),
        index(BY_DAY, "usage_records").col("recorded_at").take(),
    ]
}
