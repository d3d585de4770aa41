//! Documents.

use crate::columns::{id, id_null, instant, instant_null};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer_null, binary_len_null, json_binary_null, string_len, string_len_null, text_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(table()).await?;
        for index in indexes() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_table(Table::drop().table("documents").take()).await
    }
}

fn table() -> TableCreateStatement {
    Table::create()
        .table("documents")
        .col(id("id").primary_key())
        .col(id_null("owner_id"))
        .col(string_len("title", 500))
        // The uploaded file: all of these or none.
        .col(string_len_null("file_path", 1000))
        .col(string_len_null("file_name", 500))
        .col(big_integer_null("file_bytes"))
        .col(binary_len_null("file_sha256", 32))
        // The state, and what each state knows.
        .col(string_len("status", 50).default("pending"))
        .col(string_len_null("vector_doc_id", 200))
        .col(string_len_null("failure_code", 50))
        .col(text_null("failure_reason"))
        .col(instant_null("ended_at"))
        // The coverage: all of these or none.
        .col(big_integer_null("pages"))
        .col(json_binary_null("empty_pages"))
        .col(json_binary_null("unreliable_pages"))
        .col(json_binary_null("truncated_pages"))
        .col(big_integer_null("characters"))
        .col(big_integer_null("chunks"))
        .col(big_integer_null("tokens"))
        .col(instant("created_at"))
        .col(instant("updated_at"))
        .check(Expr::cust("status IN ('pending', 'ingested', 'failed')"))
        .check(Expr::cust("(status = 'ingested') = (vector_doc_id IS NOT NULL)"))
        .check(Expr::cust("(status = 'failed') = (failure_code IS NOT NULL)"))
        .foreign_key(
            ForeignKey::create()
                .name("documents_owner_id_fkey")
                .from("documents", "owner_id")
                .to("users", "id")
                .on_delete(ForeignKeyAction::SetNull),
        )
        .take()
}

fn indexes() -> [IndexCreateStatement; 3] {
    let index = |name: &'static str| Index::create().name(name).table("documents").take();
    [
        // The list, newest first; read backwards.
        index("documents_created_at_idx").col("created_at").col("id").take(),
        // The list of one state, and the count of each.
        index("documents_status_idx").col("status").col("created_at").col("id").take(),
        // What an account leaves behind when it is deleted.
        index("documents_owner_id_idx").col("owner_id").take(),
    ]
}
