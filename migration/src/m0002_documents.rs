//! Documents.

use crate::change::Change;
use crate::table::{id_null, instant, instant_null, primary_id, table};
use sea_orm_migration::prelude::ForeignKeyAction;
use sea_orm_migration::schema::{
    big_integer_null, binary_len_null, json_binary_null, string_len, string_len_null, text_null,
};

pub(crate) fn changes() -> Vec<Change> {
    let documents = table("documents")
        .columns([
            primary_id(),
            id_null("owner_id"),
            string_len("title", 500),
            // The uploaded file: all or none of these.
            string_len_null("file_path", 1000),
            string_len_null("file_name", 500),
            big_integer_null("file_bytes"),
            binary_len_null("file_sha256", 32),
            // The state and its data.
            string_len("status", 50).default("pending").take(),
            string_len_null("vector_doc_id", 200),
            string_len_null("failure_code", 50),
            text_null("failure_reason"),
            instant_null("ended_at"),
            // The coverage: all or none of these.
            big_integer_null("pages"),
            json_binary_null("empty_pages"),
            json_binary_null("unreliable_pages"),
            json_binary_null("truncated_pages"),
            big_integer_null("characters"),
            big_integer_null("chunks"),
            big_integer_null("tokens"),
            instant("created_at"),
            instant("updated_at"),
        ])
        .check("status IN ('pending', 'ingested', 'failed')")
        .check("(status = 'ingested') = (vector_doc_id IS NOT NULL)")
        .check("(status = 'failed') = (failure_code IS NOT NULL)")
        .references("owner_id", "users", ForeignKeyAction::SetNull)
        // The list; read backwards for newest first.
        .index("documents_created_at_idx", &["created_at", "id"])
        // The list and the count by state.
        .index("documents_status_idx", &["status", "created_at", "id"])
        // For the deletion of an account.
        .index("documents_owner_id_idx", &["owner_id"]);
    vec![Change::CreateTable(documents)]
}
