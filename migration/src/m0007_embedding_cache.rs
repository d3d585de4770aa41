//! The embedding cache, and an index of files by digest.

use crate::steps::{create, drop_index, drop_tables, in_transaction, index, instant};
use sea_orm_migration::{
    prelude::*,
    schema::{binary_len, blob, text},
};

const UNUSED: &str = "embedding_cache_used_at_idx";
const SAME_FILE: &str = "documents_file_sha256_idx";

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let cache = Table::create()
            .table("embedding_cache")
            // The model and its back end. Vectors are comparable within one space.
            .col(text("space"))
            .col(binary_len("text_sha256", 32))
            // 32-bit floating-point numbers, least significant byte first.
            .col(blob("vector"))
            .col(instant("used_at"))
            .primary_key(Index::create().col("space").col("text_sha256"))
            .take();
        let unused = index(UNUSED, "embedding_cache", &["used_at"]);
        let same_file = index(SAME_FILE, "documents", &["file_sha256"]);
        create(manager, [cache], [unused, same_file]).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_index(manager, SAME_FILE, "documents").await?;
        drop_tables(manager, &["embedding_cache"]).await
    }
}
