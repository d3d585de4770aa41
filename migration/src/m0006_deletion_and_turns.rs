//! Deleted documents, ingestion statistics, and the order of jobs.

use crate::change::Change;
use crate::table::{count, index, instant_null};
use sea_orm_migration::prelude::{ConditionalStatement, Expr, ExprTrait};
use sea_orm_migration::schema::json_binary_null;

pub(crate) fn changes() -> Vec<Change> {
    // Partial indexes, since most jobs are done.
    let of_open_jobs = |name, columns: &[&'static str]| {
        index(name, "jobs", columns).cond_where(Expr::col("due_at").is_not_null()).take()
    };
    vec![
        // When it was deleted. A job removes its chunks and file, and then the row.
        Change::AddColumn { table: "documents", column: instant_null("deleted_at") },
        // Statistics of its ingestion.
        Change::AddColumn { table: "documents", column: json_binary_null("effort") },
        // Jobs of earlier versions have equal turns; of those, the one due longest comes first.
        Change::AddColumn { table: "jobs", column: count("turn") },
        // The next job.
        Change::CreateIndex(of_open_jobs("jobs_turn_idx", &["turn", "due_at", "id"])),
        // An owner's last job.
        Change::CreateIndex(of_open_jobs("jobs_owner_id_turn_idx", &["owner_id", "turn"])),
    ]
}
