//! Second factors of accounts, and when the user of a session last proved who they are.

use crate::change::Change;
use crate::table::count;
use sea_orm_migration::schema::text_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![
        Change::AddColumn { table: "users", column: text_null("second_factor") },
        Change::AddColumn { table: "sessions", column: count("verified_at") },
    ]
}
