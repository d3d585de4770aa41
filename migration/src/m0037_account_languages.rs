//! The language of the pages that an account has chosen.

use crate::change::Change;
use sea_orm_migration::schema::string_len_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "users", column: string_len_null("language", 35) }]
}
