//! Term statistics for vector stores that do not provide them.

use crate::steps::{count, create, drop_tables, id, in_transaction};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let terms = Table::create()
            .table("collection_terms")
            .col(text("collection"))
            // The term's place in sparse vectors; the collection's totals are below 0.
            .col(big_integer("place"))
            .col(big_integer("frequency"))
            .primary_key(Index::create().col("collection").col("place"))
            .take();
        let documents = Table::create()
            .table("collection_documents")
            .col(text("collection"))
            .col(id("document_id"))
            .col(count("chunks"))
            .col(count("length"))
            // Pairs of a place and the number added there, both 32 bits, little-endian.
            .col(blob("places"))
            .primary_key(Index::create().col("collection").col("document_id"))
            .take();
        create(manager, [terms, documents], []).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["collection_documents", "collection_terms"]).await
    }
}
