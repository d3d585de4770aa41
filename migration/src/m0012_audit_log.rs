//! The audit log, which triggers make append-only.

use crate::change::{Change, Sql};
use crate::table::{NewTable, id_null, instant, primary_id, table};
use sea_orm_migration::schema::{json_binary, string_len, string_len_null};

pub(crate) fn changes() -> Vec<Change> {
    vec![
        Change::CreateTable(audit_log()),
        Change::Execute {
            apply: Sql { sqlite: SQLITE_GUARDS, postgres: POSTGRES_GUARDS },
            revert: Sql { sqlite: SQLITE_DROP_GUARDS, postgres: POSTGRES_DROP_GUARDS },
        },
    ]
}

const SQLITE_GUARDS: &str = "\
CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log \
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;\
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log \
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;";

const SQLITE_DROP_GUARDS: &str = "\
DROP TRIGGER audit_log_no_delete;\
DROP TRIGGER audit_log_no_update;";

const POSTGRES_GUARDS: &str = "\
CREATE FUNCTION audit_log_keep() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;\
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log \
FOR EACH ROW EXECUTE FUNCTION audit_log_keep();\
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log \
FOR EACH STATEMENT EXECUTE FUNCTION audit_log_keep();";

const POSTGRES_DROP_GUARDS: &str = "\
DROP TRIGGER audit_log_no_truncate ON audit_log;\
DROP TRIGGER audit_log_append_only ON audit_log;\
DROP FUNCTION audit_log_keep();";

/// No foreign keys: entries outlive the account and the record.
fn audit_log() -> NewTable {
    table("audit_log")
        .columns([
            primary_id(),
            instant("at"),
            // The kind of the actor who caused the entry.
            string_len("author", 20),
            id_null("user_id"),
            string_len_null("user_email", 320),
            id_null("api_key_id"),
            string_len_null("address", 45),
            string_len("deed", 30),
            string_len("record_kind", 30),
            string_len("record_id", 100),
            string_len("record_label", 500),
            // Changed fields with the values before and after.
            json_binary("changes"),
        ])
        .index("audit_log_at_idx", &["at", "id"])
        // The history of a record.
        .index("audit_log_record_idx", &["record_kind", "record_id", "at"])
        // Actions of an account.
        .index("audit_log_user_id_idx", &["user_id", "at"])
}
