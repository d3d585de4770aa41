//! Documents.

use crate::steps::{
    create, drop_tables, id, id_null, in_transaction, index, instant, instant_null, reference,
};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer_null, binary_len_null, json_binary_null, string_len, string_len_null, text_null},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [table()], indexes()).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_tables(manager, &["documents"]).await
    }
}

fn table() -> TableCreateStatement {
    Table::create()
        .table("documents")
        .col(id("id").primary_key())
        .col(id_null("owner_id"))
        .col(string_len("title", 500))
        // The uploaded file: all or none of these.
        .col(string_len_null("file_path", 1000))
        .col(string_len_null("file_name", 500))
        .col(big_integer_null("file_bytes"))
        .col(binary_len_null("file_sha256", 32))
        // The state and its data.
        .col(string_len("status", 50).default("pending"))
        .col(string_len_null("vector_doc_id", 200))
        .col(string_len_null("failure_code", 50))
        .col(text_null("failure_reason"))
        .col(instant_null("ended_at"))
        // The coverage: all or none of these.
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
        .foreign_key(&mut reference("documents", "owner_id", "users", ForeignKeyAction::SetNull))
        .take()
}

fn indexes() -> [IndexCreateStatement; 3] {
    [
        // The list; read backwards for newest first.
        index("documents_created_at_idx", "documents", &["created_at", "id"]),
        // The list and the count by state.
        index("documents_status_idx", "documents", &["status", "created_at", "id"]),
        // For the deletion of an account.
        index("documents_owner_id_idx", "documents", &["owner_id"]),
    ]
}
