//! Trace context of the request that created a job.

use crate::change::Change;
use sea_orm_migration::schema::string_len_null;

pub(crate) fn changes() -> Vec<Change> {
    // Null for jobs of replicas that run an earlier version.
    let column = string_len_null("traceparent", 55);
    vec![Change::AddColumn { table: "jobs", column }]
}
