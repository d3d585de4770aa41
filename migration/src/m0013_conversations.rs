//! Conversations and their messages.

use crate::steps::{count, create, drop_index, drop_tables, id, in_transaction, index, instant, owned_by};
use sea_orm_migration::{
    prelude::*,
    schema::{boolean, json_binary, string_len, string_len_null, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [conversations(), messages()], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_index(manager, BY_DAY, "usage_records").await?;
        drop_tables(manager, &["messages", "conversations"]).await
    }
}

/// Usage by time.
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
        // The agent, or null for a message of the owner.
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
    [
        index("conversations_owner_id_idx", "conversations", &["owner_id", "updated_at", "id"]),
        index("conversations_updated_at_idx", "conversations", &["updated_at", "id"]),
        index("messages_conversation_id_ordinal_key", "messages", &["conversation_id", "ordinal"])
            .unique()
            .take(),
        index(BY_DAY, "usage_records", &["recorded_at"]),
    ]
}
