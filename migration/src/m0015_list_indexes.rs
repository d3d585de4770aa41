//! Covering indexes for lists of documents and sums of usage, and indexes for the audit log's other filters.

use crate::steps::{drop_index, in_transaction, index};
use sea_orm_migration::{
    prelude::*,
    sea_orm::{ConnectionTrait, DbBackend},
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_old(manager).await?;
        let documents = match manager.get_database_backend() {
            DbBackend::Sqlite => SQLITE,
            _ => POSTGRES,
        };
        manager.get_connection().execute_unprepared(documents).await?;
        for (name, column) in AUDIT {
            manager.create_index(index(name, "audit_log", &[column, "at", "id"])).await?;
        }
        drop_index(manager, USAGE_BEFORE, "usage_records").await?;
        // Every column that the sums read.
        let usage = index(
            USAGE,
            "usage_records",
            &["recorded_at", "user_id", "api_key_id", "prompt_tokens", "completion_tokens"],
        );
        manager.create_index(usage).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        drop_index(manager, USAGE, "usage_records").await?;
        let before = index(USAGE_BEFORE, "usage_records", &["recorded_at"]);
        manager.create_index(before).await?;
        for (name, _) in AUDIT {
            drop_index(manager, name, "audit_log").await?;
        }
        drop_old(manager).await?;
        for (name, columns) in DOCUMENTS {
            manager.create_index(index(name, "documents", columns)).await?;
        }
        if manager.get_database_backend() == DbBackend::Sqlite {
            manager.get_connection().execute_unprepared(SQLITE_BEFORE).await?;
        }
        Ok(())
    }
}

async fn drop_old(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    for (name, _) in DOCUMENTS {
        drop_index(manager, name, "documents").await?;
    }
    Ok(())
}

/// Replaces the index by time alone.
const USAGE: &str = "usage_records_sums_idx";
const USAGE_BEFORE: &str = "usage_records_recorded_at_idx";

/// Lists by action and by kind of record; read backwards for newest first.
const AUDIT: [(&str, &str); 2] =
    [("audit_log_deed_idx", "deed"), ("audit_log_record_kind_idx", "record_kind")];

/// The indexes that are replaced, with their earlier columns.
const DOCUMENTS: [(&str, &[&str]); 2] = [
    ("documents_created_at_idx", &["created_at", "id"]),
    ("documents_status_idx", &["status", "created_at", "id"]),
];

/// Covering indexes: SQLite skips rows that do not match, or belong to earlier pages, without reading them.
const SQLITE: &str = "\
CREATE INDEX documents_created_at_idx ON documents (created_at, id, deleted_at, status, title);\
CREATE INDEX documents_status_idx ON documents (status, created_at, id, deleted_at, title);\
DROP INDEX documents_title_idx;\
CREATE INDEX documents_title_idx ON documents (title, id, deleted_at, status);\
DROP INDEX documents_file_bytes_idx;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes, id, deleted_at, status, title);";

/// The indexes of migration 10, which SQLite chose for counts although they do not cover them.
const SQLITE_BEFORE: &str = "\
DROP INDEX documents_title_idx;\
CREATE INDEX documents_title_idx ON documents (title, id) WHERE deleted_at IS NULL;\
DROP INDEX documents_file_bytes_idx;\
CREATE INDEX documents_file_bytes_idx ON documents (file_bytes, id) WHERE deleted_at IS NULL;";

/// Covering indexes, which PostgreSQL uses for counts only.
const POSTGRES: &str = "\
CREATE INDEX documents_created_at_idx ON documents (created_at, id) INCLUDE (status, title) \
WHERE deleted_at IS NULL;\
CREATE INDEX documents_status_idx ON documents (status, created_at, id) INCLUDE (title) \
WHERE deleted_at IS NULL;";
