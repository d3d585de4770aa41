//! Generations of the index.

use crate::steps::{create, drop_tables, id, in_transaction, index, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer_null, text},
};

const STATE: &str = "generations_state_idx";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

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
        // At most one is active, and at most one is being built.
        let state = index(STATE, "generations", &["state"])
            .unique()
            .cond_where(Expr::col("state").ne("retired"))
            .take();
        create(manager, [generations], [state]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["generations"]).await
    }
}
