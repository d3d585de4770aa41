//! The audit log, which triggers make append-only.

use crate::steps::{create, drop_tables, id, id_null, in_transaction, index, instant};
use sea_orm_migration::{
    prelude::*,
    schema::{json_binary, string_len, string_len_null},
    sea_orm::DbBackend,
};

#[derive(DeriveMigrationName)]
pub(crate) struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    in_transaction!();

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        create(manager, [table()], indexes()).await?;
        let guards = match manager.get_database_backend() {
            DbBackend::Sqlite => SQLITE_GUARDS,
            _ => POSTGRES_GUARDS,
        };
        manager.get_connection().execute_unprepared(guards).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Drops its triggers too, but not PostgreSQL's function.
        drop_tables(manager, &["audit_log"]).await?;
        if manager.get_database_backend() != DbBackend::Sqlite {
            manager.get_connection().execute_unprepared("DROP FUNCTION audit_log_keep()").await?;
        }
        Ok(())
    }
}

const SQLITE_GUARDS: &str = "\
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log \
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;\
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log \
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;";

const POSTGRES_GUARDS: &str = "\
CREATE FUNCTION audit_log_keep() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;\
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log \
FOR EACH ROW EXECUTE FUNCTION audit_log_keep();\
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log \
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_keep();";

/// No foreign keys: entries outlive the account and the record.
fn table() -> TableCreateStatement {
    Table::create()
        .table("audit_log")
        .col(id("id").primary_key())
        .col(instant("at"))
        // user, command_line or nobody. tidy: allow-word
        .col(string_len("author", 20))
        .col(id_null("user_id"))
        .col(string_len_null("user_email", 320))
        .col(id_null("api_key_id"))
        .col(string_len_null("address", 45))
        .col(string_len("deed", 30))
        .col(string_len("record_kind", 30))
        .col(string_len("record_id", 100))
        .col(string_len("record_label", 500))
        // Changed fields with the values before and after.
        .col(json_binary("changes"))
        .take()
}

fn indexes() -> [IndexCreateStatement; 3] {
    [
        index("audit_log_at_idx", "audit_log", &["at", "id"]),
        // The history of a record.
        index("audit_log_record_idx", "audit_log", &["record_kind", "record_id", "at"]),
        // Actions of an account.
        index("audit_log_user_id_idx", "audit_log", &["user_id", "at"]),
    ]
}
