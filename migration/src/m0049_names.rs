//! Names that people chose for others to see.

use crate::change::Change;
use sea_orm_migration::schema::text_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "users", column: text_null("name") }]
}
