//! Tasks that one process of an installation runs at a time, such as sweeps.

use crate::steps::{create, drop_tables, id, in_transaction, instant, instant_null};
use sea_orm_migration::{prelude::*, schema::text};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let duties = Table::create()
            .table("duties")
            .col(text("name"))
            // The lease of the last run.
            .col(id("lease_id"))
            .col(instant("held_until"))
            .col(instant_null("done_at"))
            .primary_key(Index::create().col("name"))
            .take();
        create(manager, [duties], []).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["duties"]).await
    }
}
