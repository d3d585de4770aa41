//! Generations of the index.

use crate::columns::{id, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer_null, text},
};

const ONE_OF_A_STATE: &str = "generations_state_idx";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let generations = Table::create()
            .table("generations")
            .col(id("id").primary_key())
            .col(text("model"))
            .col(text("collection"))
            .col(big_integer_null("dimensions"))
            // `building`, `active` or `retired`.
            .col(text("state"))
            .col(instant("created_at"))
            // When it became active or retired.
            .col(instant_null("switched_at"))
            .take();
        manager.create_table(generations).await?;
        // One is active, and one may be being built.
        let one = Index::create()
            .name(ONE_OF_A_STATE)
            .table("generations")
            .col("state")
            .unique()
            .cond_where(Expr::col("state").ne("retired"))
            .take();
        manager.create_index(one).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("generations").take()).await
    }
}
