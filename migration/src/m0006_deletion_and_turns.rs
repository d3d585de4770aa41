//! Deleted documents, ingestion statistics, and the order of jobs.

use crate::steps::{
    add_columns, count, create, drop_columns, drop_index, in_transaction, index, instant_null,
};
use sea_orm_migration::{prelude::*, schema::json_binary_null};

const TURN: &str = "jobs_turn_idx";
const OWNER_TURN: &str = "jobs_owner_id_turn_idx";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // When it was deleted. A job removes its chunks and file, and then the row.
        let deleted_at = instant_null("deleted_at");
        // Statistics of its ingestion.
        let effort = json_binary_null("effort");
        add_columns(manager, "documents", [deleted_at, effort]).await?;
        // Jobs of earlier versions have equal turns; of those, the one due longest comes first.
        add_columns(manager, "jobs", [count("turn")]).await?;
        create(manager, [], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for name in [TURN, OWNER_TURN] {
            drop_index(manager, name, "jobs").await?;
        }
        drop_columns(manager, "jobs", &["turn"]).await?;
        drop_columns(manager, "documents", &["effort", "deleted_at"]).await
    }
}

/// Partial indexes, since most jobs are done.
fn indexes() -> [IndexCreateStatement; 2] {
    let of_open_jobs = |name, columns: &[&'static str]| {
        index(name, "jobs", columns).cond_where(Expr::col("due_at").is_not_null()).take()
    };
    [
        // The next job.
        of_open_jobs(TURN, &["turn", "due_at", "id"]),
        // An owner's last job.
        of_open_jobs(OWNER_TURN, &["owner_id", "turn"]),
    ]
}
