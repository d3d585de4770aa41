//! The language of a document's text, by which lists can be limited.

use crate::change::Change;
use sea_orm_migration::schema::string_null;

pub(crate) fn changes() -> Vec<Change> {
    let column = string_null("language").text().take();
    vec![Change::AddColumn { table: "documents", column }]
}
