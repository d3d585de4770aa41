//! How often terms occur in collections of a vector store that cannot tell.

use crate::columns::{count, id};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, blob, text},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let terms = Table::create()
            .table("collection_terms")
            .col(text("collection"))
            // Where the vector store keeps a term; below 0 are the collection's totals.
            .col(big_integer("place"))
            .col(big_integer("frequency"))
            .primary_key(Index::create().col("collection").col("place"))
            .take();
        manager.create_table(terms).await?;
        let documents = Table::create()
            .table("collection_documents")
            .col(text("collection"))
            .col(id("document_id"))
            .col(count("chunks"))
            .col(count("length"))
            // Pairs of a place and what was added there, both of 32 bits, least significant byte first.
            .col(blob("places"))
            .primary_key(Index::create().col("collection").col("document_id"))
            .take();
        manager.create_table(documents).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("collection_documents").take()).await?;
        manager.drop_table(Table::drop().table("collection_terms").take()).await
    }
}
