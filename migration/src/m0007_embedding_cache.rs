//! The embedding cache, and an index of files by digest.

use crate::change::Change;
use crate::table::{index, instant, table};
use sea_orm_migration::schema::{binary_len, blob, text};

pub(crate) fn changes() -> Vec<Change> {
    let cache = table("embedding_cache")
        .columns([
            // The model and its back end. Vectors are comparable within one space.
            text("space"),
            binary_len("text_sha256", 32),
            // 32-bit floating-point numbers, least significant byte first.
            blob("vector"),
            instant("used_at"),
        ])
        .primary_key(&["space", "text_sha256"])
        .index("embedding_cache_used_at_idx", &["used_at"]);
    let same_file = index("documents_file_sha256_idx", "documents", &["file_sha256"]);
    vec![Change::CreateTable(cache), Change::CreateIndex(same_file)]
}
