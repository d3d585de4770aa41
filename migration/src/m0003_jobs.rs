//! The job ledger.

use crate::steps::{
    count, create, drop_tables, id, id_null, in_transaction, index, instant, instant_null, reference,
};
use sea_orm_migration::{
    prelude::*,
    schema::{string_len, text_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [table()], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["jobs"]).await
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
        // A document with jobs cannot be deleted: its jobs must be deleted first, in the same transaction.
        .foreign_key(&mut reference("jobs", "document_id", "documents", ForeignKeyAction::Restrict))
        .foreign_key(&mut reference("jobs", "owner_id", "users", ForeignKeyAction::SetNull))
        .take()
}

fn indexes() -> [IndexCreateStatement; 4] {
    [
        // Due jobs, and the next one.
        index("jobs_due_at_idx", "jobs", &["due_at", "id"]),
        // A document's jobs; read backwards for newest first.
        index("jobs_document_id_idx", "jobs", &["document_id", "created_at", "id"]),
        // Counts and the oldest job by state, and the purge of done jobs.
        index("jobs_state_idx", "jobs", &["state", "created_at", "updated_at"]),
        // For the deletion of an account.
        index("jobs_owner_id_idx", "jobs", &["owner_id"]),
    ]
}
