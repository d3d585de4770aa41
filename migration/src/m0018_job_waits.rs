//! Since when and why a job waits for an unavailable component.

use crate::change::Change;
use sea_orm_migration::schema::{big_integer_null, text_null};

pub(crate) fn changes() -> Vec<Change> {
    let columns = [big_integer_null("waiting_since"), text_null("waiting_reason")];
    columns.map(|column| Change::AddColumn { table: "jobs", column }).into()
}
