//! Pages of a document with pictures that were not read, and with formulas without a saved result.

use crate::change::Change;
use sea_orm_migration::schema::json_binary_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "documents", column: json_binary_null("page_gaps") }]
}
