//! API keys, sessions and verification tokens.

use crate::{
    columns::{id, instant, instant_null},
    m0010_access::owned_by,
};
use sea_orm_migration::{
    prelude::*,
    schema::{binary_len, string_len, string_len_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [api_keys(), sessions(), verification_tokens()] {
            manager.create_table(table).await?;
        }
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["verification_tokens", "sessions", "api_keys"] {
            manager.drop_table(Table::drop().table(table).take()).await?;
        }
        Ok(())
    }
}

fn api_keys() -> TableCreateStatement {
    Table::create()
        .table("api_keys")
        .col(id("id").primary_key())
        .col(id("user_id"))
        .col(string_len("name", 100))
        .col(string_len("prefix", 12))
        .col(binary_len("sha256", 32))
        // Names with spaces between them.
        .col(string_len("scopes", 100))
        .col(instant("created_at"))
        .col(instant_null("expires_at"))
        .col(instant_null("last_used_at"))
        .col(instant_null("revoked_at"))
        .foreign_key(&mut owned_by("api_keys", "user_id", "users"))
        .take()
}

fn sessions() -> TableCreateStatement {
    Table::create()
        .table("sessions")
        .col(id("id").primary_key())
        .col(id("user_id"))
        .col(string_len("kind", 10))
        .col(string_len_null("address", 45))
        .col(string_len_null("agent", 300))
        .col(instant("started_at"))
        .col(instant("last_used_at"))
        .col(instant("expires_at"))
        .col(instant_null("revoked_at"))
        .check(Expr::cust("kind IN ('api', 'panel')"))
        .foreign_key(&mut owned_by("sessions", "user_id", "users"))
        .take()
}

fn verification_tokens() -> TableCreateStatement {
    Table::create()
        .table("verification_tokens")
        .col(id("id").primary_key())
        .col(id("user_id"))
        .col(string_len("purpose", 20))
        .col(binary_len("sha256", 32))
        .col(instant("created_at"))
        .col(instant("expires_at"))
        .foreign_key(&mut owned_by("verification_tokens", "user_id", "users"))
        .take()
}

fn indexes() -> [IndexCreateStatement; 9] {
    let index = |name: &'static str, table: &'static str| Index::create().name(name).table(table).take();
    [
        index("api_keys_prefix_key", "api_keys").col("prefix").unique().take(),
        index("api_keys_user_id_idx", "api_keys").col("user_id").take(),
        index("api_keys_created_at_idx", "api_keys").col("created_at").col("id").take(),
        index("sessions_user_id_idx", "sessions").col("user_id").take(),
        index("sessions_last_used_at_idx", "sessions").col("last_used_at").col("id").take(),
        // What is over.
        index("sessions_expires_at_idx", "sessions").col("expires_at").take(),
        // One live token for each purpose.
        index("verification_tokens_user_id_purpose_key", "verification_tokens")
            .col("user_id")
            .col("purpose")
            .unique()
            .take(),
        index("verification_tokens_sha256_key", "verification_tokens").col("sha256").unique().take(),
        index("verification_tokens_expires_at_idx", "verification_tokens").col("expires_at").take(),
    ]
}
