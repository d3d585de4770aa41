use crate::change::Change;
use sea_orm_migration::schema::{json_binary_null, string};

pub(crate) fn changes() -> Vec<Change> {
    vec![
        // Files of earlier versions are PDFs.
        Change::AddColumn { table: "documents", column: string("file_type").default("pdf").to_owned() },
        // What the pages are in the file, as JSON; null for PDFs.
        Change::AddColumn { table: "documents", column: json_binary_null("page_labels") },
    ]
}
