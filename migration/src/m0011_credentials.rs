//! API keys, sessions and verification tokens.

use crate::steps::{create, drop_tables, id, in_transaction, index, instant, instant_null, owned_by};
use sea_orm_migration::{
    prelude::*,
    schema::{binary_len, string_len, string_len_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [api_keys(), sessions(), verification_tokens()], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["verification_tokens", "sessions", "api_keys"]).await
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
    [
        index("api_keys_prefix_key", "api_keys", &["prefix"]).unique().take(),
        index("api_keys_user_id_idx", "api_keys", &["user_id"]),
        index("api_keys_created_at_idx", "api_keys", &["created_at", "id"]),
        index("sessions_user_id_idx", "sessions", &["user_id"]),
        index("sessions_last_used_at_idx", "sessions", &["last_used_at", "id"]),
        // For the purge of expired sessions.
        index("sessions_expires_at_idx", "sessions", &["expires_at"]),
        // One token per account and purpose.
        index("verification_tokens_user_id_purpose_key", "verification_tokens", &["user_id", "purpose"])
            .unique()
            .take(),
        index("verification_tokens_sha256_key", "verification_tokens", &["sha256"]).unique().take(),
        index("verification_tokens_expires_at_idx", "verification_tokens", &["expires_at"]),
    ]
}
