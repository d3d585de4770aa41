//! The audit log, which the database itself keeps from being changed.

use crate::columns::{id, id_null, instant};
use sea_orm_migration::{
    prelude::*,
    schema::{json_binary, string_len, string_len_null},
    sea_orm::DbBackend,
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
        let guards = match manager.get_database_backend() {
            DbBackend::Sqlite => SQLITE_GUARDS,
            _ => POSTGRES_GUARDS,
        };
        manager.get_connection().execute_unprepared(guards).await?;
        Ok(())
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Its triggers go with it; the function of PostgreSQL does not.
        manager.drop_table(Table::drop().table("audit_log").take()).await?;
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

/// No foreign keys: what was done stays on record when the account or the record is gone.
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
        // Each field that changed, with what it was before and after.
        .col(json_binary("changes"))
        .take()
}

fn indexes() -> [IndexCreateStatement; 3] {
    let index = |name: &'static str| Index::create().name(name).table("audit_log").take();
    [
        index("audit_log_at_idx").col("at").col("id").take(),
        // The history of a record.
        index("audit_log_record_idx").col("record_kind").col("record_id").col("at").take(),
        // What an account did.
        index("audit_log_user_id_idx").col("user_id").col("at").take(),
    ]
}
