//! Summaries of documents.

use crate::change::Change;
use crate::table::{id, instant, table};
use sea_orm_migration::schema::json_binary;

pub(crate) fn changes() -> Vec<Change> {
    let summaries = table("document_summaries")
        .columns([
            id("document_id").primary_key().take(),
            // The ingestion that it is of.
            id("version_id"),
            instant("ingested_at"),
            instant("created_at"),
            // Its text.
            json_binary("content"),
        ])
        .owned_by("document_id", "documents");
    vec![Change::CreateTable(summaries)]
}
