use crate::change::Change;
use sea_orm_migration::schema::json_binary_null;

pub(crate) fn changes() -> Vec<Change> {
    // Recognizer, recognised and failed pages, as JSON; null if no image of a page was read.
    vec![Change::AddColumn { table: "documents", column: json_binary_null("recognition") }]
}
