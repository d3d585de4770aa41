//! What clients of the OpenAI API store: purposes of files, metadata of collections, and batches of files.

use crate::change::Change;
use crate::table::{flag, id, instant, primary_id, table};
use sea_orm_migration::schema::{big_integer_null, json_binary, string_len};

pub(crate) fn changes() -> Vec<Change> {
    let purposes = table("file_purposes")
        .columns([id("document_id").primary_key().take(), string_len("purpose", 20)])
        .owned_by("document_id", "documents");
    let metadata = table("collection_metadata")
        .columns([
            id("collection_id").primary_key().take(),
            json_binary("entries"),
            big_integer_null("expires_after_days"),
            instant("last_active_at"),
        ])
        .owned_by("collection_id", "collections");
    let batches = table("file_batches")
        .columns([
            primary_id(),
            id("collection_id"),
            // Lists of IDs of documents, which can have been deleted.
            json_binary("files"),
            json_binary("cancelled"),
            flag("is_cancelled", false),
            instant("created_at"),
        ])
        .owned_by("collection_id", "collections")
        .index("file_batches_collection_id_idx", &["collection_id"]);
    vec![Change::CreateTable(purposes), Change::CreateTable(metadata), Change::CreateTable(batches)]
}
