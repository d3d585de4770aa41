//! Failed logins by network and hour, and the removal of old entries of the audit log.
//!
//! Entries remain append-only, except that those older than a recorded removal can be deleted. A removal is recorded in
//! `audit_removals` in the transaction that deletes the entries.

use crate::change::{Change, Sql};
use crate::table::{count, instant, primary_id, table};
use sea_orm_migration::schema::string_len;

pub(crate) fn changes() -> Vec<Change> {
    let failed_logins = table("failed_logins")
        .columns([string_len("network", 50), instant("hour"), count("attempts")])
        .primary_key(&["network", "hour"])
        .index("failed_logins_hour_idx", &["hour"]);
    let removals = table("audit_removals").columns([
        primary_id(),
        instant("at"),
        // Entries before this time were removed.
        instant("before"),
    ]);
    vec![
        Change::CreateTable(failed_logins),
        Change::CreateTable(removals),
        Change::Execute {
            apply: Sql { sqlite: SQLITE_GUARD, postgres: POSTGRES_GUARD },
            revert: Sql { sqlite: SQLITE_STRICT_GUARD, postgres: POSTGRES_STRICT_GUARD },
        },
    ]
}

const SQLITE_GUARD: &str = "\
DROP TRIGGER audit_log_no_delete;\
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log \
WHEN OLD.\"at\" >= COALESCE((SELECT MAX(\"before\") FROM audit_removals), OLD.\"at\") \
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;";

const SQLITE_STRICT_GUARD: &str = "\
DROP TRIGGER audit_log_no_delete;\
CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log \
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;";

const POSTGRES_GUARD: &str = "\
CREATE OR REPLACE FUNCTION audit_log_keep() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN IF TG_OP = 'DELETE' THEN IF OLD.\"at\" < (SELECT MAX(\"before\") FROM audit_removals) THEN RETURN OLD; END IF; END IF; \
RAISE EXCEPTION 'the audit log is append-only'; END $$;";

const POSTGRES_STRICT_GUARD: &str = "\
CREATE OR REPLACE FUNCTION audit_log_keep() RETURNS trigger LANGUAGE plpgsql AS \
$$ BEGIN RAISE EXCEPTION 'the audit log is append-only'; END $$;";
