//! What one process of an installation at a time sees to, such as sweeps.

use crate::columns::{id, instant, instant_null};
use sea_orm_migration::{prelude::*, schema::text};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let duties = Table::create()
            .table("duties")
            .col(text("name"))
            // Who took it last.
            .col(id("lease_id"))
            .col(instant("held_until"))
            .col(instant_null("done_at"))
            .primary_key(Index::create().col("name"))
            .take();
        manager.create_table(duties).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("duties").take()).await
    }
}
