//! The job ledger.

use crate::change::Change;
use crate::table::{count, id, id_null, instant, instant_null, primary_id, table};
use sea_orm_migration::prelude::ForeignKeyAction;
use sea_orm_migration::schema::{string_len, text_null};

pub(crate) fn changes() -> Vec<Change> {
    let jobs = table("jobs")
        .columns([
            primary_id(),
            string_len("kind", 50),
            id("document_id"),
            id_null("owner_id"),
            string_len("state", 50).default("queued").take(),
            id_null("lease_id"),
            // When it may be leased: `run_at` while it is queued, the end of the lease while it is leased,
            // none once it is done. One column, so that one index finds what has been due longest.
            instant_null("due_at"),
            count("attempts"),
            count("interruptions"),
            instant("run_at"),
            text_null("last_error"),
            instant("created_at"),
            instant("updated_at"),
        ])
        .check("state IN ('queued', 'leased', 'done')")
        .check("(state = 'leased') = (lease_id IS NOT NULL)")
        .check("(state = 'done') = (due_at IS NULL)")
        // A document with jobs cannot be deleted: its jobs must be deleted first, in the same transaction.
        .references("document_id", "documents", ForeignKeyAction::Restrict)
        .references("owner_id", "users", ForeignKeyAction::SetNull)
        // Due jobs, and the next one.
        .index("jobs_due_at_idx", &["due_at", "id"])
        // A document's jobs; read backwards for newest first.
        .index("jobs_document_id_idx", &["document_id", "created_at", "id"])
        // Counts and the oldest job by state, and the purge of done jobs.
        .index("jobs_state_idx", &["state", "created_at", "updated_at"])
        // For the deletion of an account.
        .index("jobs_owner_id_idx", &["owner_id"]);
    vec![Change::CreateTable(jobs)]
}
