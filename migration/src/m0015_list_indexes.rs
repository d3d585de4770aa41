//! Indexes that hold what lists of documents are searched and counted by, sums of usage, and the audit log's other
//! filters.

use sea_orm_migration::{
    prelude::*,
    sea_orm::{ConnectionTrait, DbBackend},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_old(manager).await?;
        let documents = match manager.get_database_backend() {
            DbBackend::Sqlite => SQLITE,
            _ => POSTGRES,
        };
        manager.get_connection().execute_unprepared(documents).await?;
        for (name, column) in AUDIT {
            let index = Index::create().name(name).table("audit_log").col(column).col("at").col("id").take();
            manager.create_index(index).await?;
        }
        manager.drop_index(Index::drop().name(USAGE_BEFORE).table("usage_records").to_owned()).await?;
        // All that sums of usage are made of.
        let usage = Index::create()
            .name(USAGE)
            .table("usage_records")
            .col("recorded_at")
            .col("user_id")
            .col("api_key_id")
            .col("prompt_tokens")
            .col("completion_tokens")
            .take();
        manager.create_index(usage).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.drop_index(Index::drop().name(USAGE).table("usage_records").to_owned()).await?;
        let before = Index::create().name(USAGE_BEFORE).table("usage_records").col("recorded_at").take();
        manager.create_index(before).await?;
        for (name, _) in AUDIT {
            manager.drop_index(Index::drop().name(name).table("audit_log").to_owned()).await?;
        }
        drop_old(manager).await?;
        for (name, columns) in DOCUMENTS {
            let mut index = Index::create().name(name).table("documents").take();
            for column in columns {
                index.col(*column);
            }
            manager.create_index(index).await?;
        }
        if manager.get_database_backend() == DbBackend::Sqlite {
            manager.get_connection().execute_unprepared(SQLITE_BEFORE).await?;
        }
        Ok(())
    }
}

async fn drop_old(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    for (name, _) in DOCUMENTS {
        manager.drop_index(Index::drop().name(name).table("documents").to_owned()).await?;
    }
    Ok(())
}

/// The index that takes the place of the one by time alone.
const USAGE: &str = "usage_records_sums_idx";
const USAGE_BEFORE: &str = "usage_records_recorded_at_idx";

/// The lists of one deed and of one kind of record, newest first; read backwards.
const AUDIT: [(&str, &str); 2] =
    [("audit_log_deed_idx", "deed"), ("audit_log_record_kind_idx", "record_kind")];

/// The indexes that are recreated in their previous form.
const DOCUMENTS: [(&str, &[&str]); 2] = [
    ("documents_created_at_idx", &["created_at", "id"]),
    ("documents_status_idx", &["status", "created_at", "id"]),
];

/// SQLite reads what an index holds before it looks for the row, and so passes over rows that do not fit, or are of
/// earlier pages, without reading them.
const SQLITE: &str = "\
CREATE INDEX documents_created_at_idx ON documents (created_at, id, deleted_at, status, title);\
CREATE INDEX documents_status_idx ON documents (status, created_at, id, deleted_at, title);\
DROP INDEX documents_title_idx;\
CREATE INDEX documents_title_idx ON documents (title, id, deleted_at, status);\
DROP INDEX documents_file_bytes_idx;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes, id, deleted_at, status, title);";

/// Those of an earlier step, which SQLite preferred for counts although they do not hold what is counted by.
const SQLITE_BEFORE: &str = "\
DROP INDEX documents_title_idx;\
CREATE INDEX documents_title_idx ON documents (title, id) WHERE deleted_at IS NULL;\
DROP INDEX documents_file_bytes_idx;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes, id) WHERE deleted_at IS NULL;";

/// PostgreSQL does so for counts alone.
const POSTGRES: &str = "\
CREATE INDEX documents_created_at_idx ON documents (created_at, id) INCLUDE (status, title) \
WHERE deleted_at IS NULL;\
CREATE INDEX documents_status_idx ON documents (status, created_at, id) INCLUDE (title) \
WHERE deleted_at IS NULL;";
