//! Documents that are being removed, what ingestions took, and whose turn it is among jobs.

use crate::columns::{count, instant_null};
use sea_orm_migration::{prelude::*, schema::json_binary_null};

const TURN: &str = "jobs_turn_idx";
const OWNER_TURN: &str = "jobs_owner_id_turn_idx";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // When it was deleted; what is left of it is for those who remove it.
        let deleted_at = instant_null("deleted_at");
        manager.alter_table(Table::alter().table("documents").add_column(deleted_at).take()).await?;
        // What its ingestion took, as it is shown.
        manager
            .alter_table(Table::alter().table("documents").add_column(json_binary_null("effort")).take())
            .await?;
        // Jobs of the version before are all equal, and the one due longest is the first of them.
        manager.alter_table(Table::alter().table("jobs").add_column(count("turn")).take()).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in [TURN, OWNER_TURN] {
            manager.drop_index(Index::drop().name(name).table("jobs").to_owned()).await?;
        }
        manager.alter_table(Table::alter().table("jobs").drop_column("turn").take()).await?;
        manager.alter_table(Table::alter().table("documents").drop_column("effort").take()).await?;
        manager.alter_table(Table::alter().table("documents").drop_column("deleted_at").take()).await
    }
}

/// Of jobs that are not done alone, which are few beside those that are.
fn indexes() -> [IndexCreateStatement; 2] {
    let index = |name: &'static str| {
        Index::create().name(name).table("jobs").cond_where(Expr::col("due_at").is_not_null()).take()
    };
    [
        // Whose turn it is.
        index(TURN).col("turn").col("due_at").col("id").take(),
        // The last one in line of an owner.
        index(OWNER_TURN).col("owner_id").col("turn").take(),
    ]
}
