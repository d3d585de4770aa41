//! Vectors of texts that were embedded before, and whether another document has the same file.

use crate::columns::instant;
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
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let cache = Table::create()
            .table("embedding_cache")
            // Whose vectors may stand for one another: a model at a back end.
            .col(text("space"))
            .col(binary_len("text_sha256", 32))
            // 32-bit floating-point numbers, least significant byte first.
            .col(blob("vector"))
            .col(instant("used_at"))
            .primary_key(Index::create().col("space").col("text_sha256"))
            .take();
        manager.create_table(cache).await?;
        let unused = Index::create().name(UNUSED).table("embedding_cache").col("used_at").take();
        manager.create_index(unused).await?;
        let same_file = Index::create().name(SAME_FILE).table("documents").col("file_sha256").take();
        manager.create_index(same_file).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(SAME_FILE).table("documents").to_owned()).await?;
        manager.drop_table(Table::drop().table("embedding_cache").take()).await
    }
}
