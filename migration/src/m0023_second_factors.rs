//! Second factors of accounts.

use crate::change::Change;
use sea_orm_migration::schema::text_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "users", column: text_null("second_factor") }]
}
