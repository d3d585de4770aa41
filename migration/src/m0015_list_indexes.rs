//! Covering indexes for lists of documents and sums of usage, and indexes for the audit log's other filters.

use crate::change::{Change, Sql};
use crate::table::index;

pub(crate) fn changes() -> Vec<Change> {
    // Lists by action and by kind of record; read backwards for newest first.
    let by_action = index("audit_log_deed_idx", "audit_log", &["deed", "at", "id"]);
    let by_kind = index("audit_log_record_kind_idx", "audit_log", &["record_kind", "at", "id"]);
    // Every column that the sums read. Replaces the index by time alone.
    let sums = ["recorded_at", "user_id", "api_key_id", "prompt_tokens", "completion_tokens"];
    vec![
        Change::DropIndex(index("documents_created_at_idx", "documents", &["created_at", "id"])),
        Change::DropIndex(index("documents_status_idx", "documents", &["status", "created_at", "id"])),
        Change::Execute {
            apply: Sql { sqlite: SQLITE, postgres: POSTGRES },
            revert: Sql { sqlite: SQLITE_BEFORE, postgres: POSTGRES_BEFORE },
        },
        Change::CreateIndex(by_action),
        Change::CreateIndex(by_kind),
        Change::DropIndex(index("usage_records_recorded_at_idx", "usage_records", &["recorded_at"])),
        Change::CreateIndex(index("usage_records_sums_idx", "usage_records", &sums)),
    ]
}

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
DROP INDEX documents_status_idx;\
DROP INDEX documents_created_at_idx;\
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

const POSTGRES_BEFORE: &str = "\
DROP INDEX documents_status_idx;\
DROP INDEX documents_created_at_idx;";
