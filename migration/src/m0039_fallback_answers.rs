//! Answers that quote documents because the chat model could not answer, with the cause.

use crate::change::Change;
use sea_orm_migration::schema::string_len_null;

pub(crate) fn changes() -> Vec<Change> {
    vec![Change::AddColumn { table: "messages", column: string_len_null("fallback", 30) }]
}
