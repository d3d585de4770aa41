//! The job ledger.

use crate::columns::{count, id, id_null, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{string_len, text_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(table()).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("jobs").take()).await
    }
}

fn table() -> TableCreateStatement {
    Table::create()
        .table("jobs")
        .col(id("id").primary_key())
        .col(string_len("kind", 50))
        .col(id("document_id"))
        .col(id_null("owner_id"))
        .col(string_len("state", 50).default("queued"))
        .col(id_null("lease_id"))
        // When it may be leased: `run_at` while it is queued, the end of the lease while it is leased,
        // none once it is done. One column, so that one index finds what has been due longest.
        .col(instant_null("due_at"))
        .col(count("attempts"))
        .col(count("interruptions"))
        .col(instant("run_at"))
        .col(text_null("last_error"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .check(Expr::cust("state IN ('queued', 'leased', 'done')"))
        .check(Expr::cust("(state = 'leased') = (lease_id IS NOT NULL)"))
        .check(Expr::cust("(state = 'done') = (due_at IS NULL)"))
        // A job is accepted work, so its document cannot be deleted before it. Code that deletes
        // a document deletes its jobs first, in the same transaction, knowing what they were.
        .foreign_key(
            ForeignKey::create()
                .name("jobs_document_id_fkey")
                .from("jobs", "document_id")
                .to("documents", "id")
                .on_delete(ForeignKeyAction::Restrict),
        )
        .foreign_key(
            ForeignKey::create()
                .name("jobs_owner_id_fkey")
                .from("jobs", "owner_id")
                .to("users", "id")
                .on_delete(ForeignKeyAction::SetNull),
        )
        .take()
}

fn indexes() -> [IndexCreateStatement; 4] {
    let index = |name: &'static str| Index::create().name(name).table("jobs").take();
    [
        // What is due, and what is due next.
        index("jobs_due_at_idx").col("due_at").col("id").take(),
        // A document's jobs, newest first; read backwards.
        index("jobs_document_id_idx").col("document_id").col("created_at").col("id").take(),
        // How many there are of each state, how old the oldest is, and which were done long ago.
        index("jobs_state_idx").col("state").col("created_at").col("updated_at").take(),
        // What an account leaves behind when it is deleted.
        index("jobs_owner_id_idx").col("owner_id").take(),
    ]
}
