//! IDs that other programs, such as chat front ends, gave to the files of documents.

use crate::change::Change;
use crate::table::{id, table};
use sea_orm_migration::schema::{string_len, string_len_null};

pub(crate) fn changes() -> Vec<Change> {
    let files = table("external_files")
        .columns([
            id("document_id").primary_key().take(),
            string_len("external_id", 200),
            string_len_null("entity", 200),
        ])
        .owned_by("document_id", "documents")
        .index("external_files_external_id_idx", &["external_id"]);
    vec![Change::CreateTable(files)]
}
