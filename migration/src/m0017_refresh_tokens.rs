//! Refresh tokens, for installations without Redis.

use crate::steps::{create, drop_tables, id, in_transaction, index, instant, instant_null, owned_by};
use sea_orm_migration::prelude::*;

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [families(), tokens()], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["refresh_tokens", "refresh_families"]).await
    }
}

/// No foreign key to users: the store of tokens is separate from that of accounts.
fn families() -> TableCreateStatement {
    Table::create()
        .table("refresh_families")
        .col(id("id").primary_key())
        .col(id("user_id"))
        // When its last token expires.
        .col(instant("expires_at"))
        .take()
}

fn tokens() -> TableCreateStatement {
    Table::create()
        .table("refresh_tokens")
        .col(id("family_id"))
        .col(id("id"))
        .col(instant("expires_at"))
        // When it got its first successor.
        .col(instant_null("replaced_at"))
        .primary_key(Index::create().col("family_id").col("id"))
        .foreign_key(&mut owned_by("refresh_tokens", "family_id", "refresh_families"))
        .take()
}

fn indexes() -> [IndexCreateStatement; 3] {
    [
        index("refresh_families_user_id_idx", "refresh_families", &["user_id"]),
        index("refresh_families_expires_at_idx", "refresh_families", &["expires_at"]),
        index("refresh_tokens_expires_at_idx", "refresh_tokens", &["family_id", "expires_at"]),
    ]
}
