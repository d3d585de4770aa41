//! Mapping of database errors to faults.

use docent_domain::fault::{Component, Fault, FaultKind};
use sea_orm::sqlx::error::DatabaseError;
use sea_orm::sqlx::postgres::PgDatabaseError;
use sea_orm::sqlx::sqlite::SqliteError;
use sea_orm::sqlx::{self};
use sea_orm::{ConnAcquireErr, DbErr, RuntimeErr};
use std::borrow::Cow;

/// The fault of a failed operation.
pub(super) fn fault(doing: impl Into<Cow<'static, str>>, error: &DbErr) -> Fault {
    Fault::new(Component::Database, kind(error), doing).caused_by(message(error))
}

/// The fault of a driver's error that did not pass through the ORM.
pub(super) fn driver_fault(doing: impl Into<Cow<'static, str>>, error: &sqlx::Error) -> Fault {
    Fault::new(Component::Database, driver_kind(error), doing).caused_by(error.to_string())
}

/// The fault of a stored value that no version of this program writes.
pub(super) fn corrupt(what: &'static str) -> Fault {
    Fault::new(Component::Database, FaultKind::Internal, format!("invalid stored value: {what}"))
}

/// The fault of a statement that exceeded its timeout.
pub(super) fn late(doing: impl Into<Cow<'static, str>>) -> Fault {
    Fault::new(Component::Database, FaultKind::Timeout, doing).caused_by("timed out")
}

fn kind(error: &DbErr) -> FaultKind {
    match error {
        DbErr::ConnectionAcquire(ConnAcquireErr::Timeout) => FaultKind::Timeout,
        DbErr::ConnectionAcquire(ConnAcquireErr::ConnectionClosed) => FaultKind::Unavailable,
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => driver_kind(error),
        DbErr::Conn(RuntimeErr::Internal(_)) => FaultKind::Unavailable,
        _ => FaultKind::Internal,
    }
}

fn driver_kind(error: &sqlx::Error) -> FaultKind {
    match error {
        sqlx::Error::Database(error) => database_kind(error.as_ref()),
        sqlx::Error::PoolTimedOut => FaultKind::Timeout,
        sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::BeginFailed => FaultKind::Unavailable,
        sqlx::Error::Configuration(_) => FaultKind::Rejected,
        _ => FaultKind::Internal,
    }
}

fn database_kind(error: &dyn DatabaseError) -> FaultKind {
    if let Some(error) = error.try_downcast_ref::<PgDatabaseError>() {
        return postgres_kind(error.code());
    }
    let code = error.code().and_then(|code| code.parse().ok());
    match (error.try_downcast_ref::<SqliteError>(), code) {
        (Some(_), Some(code)) => sqlite_kind(code),
        _ => FaultKind::Internal,
    }
}

/// Maps PostgreSQL's error codes, whose first two characters are the class.
fn postgres_kind(code: &str) -> FaultKind {
    match (code.get(..2).unwrap_or_default(), code) {
        // Statement timeout or lock timeout.
        (_, "57014" | "55P03") => FaultKind::Timeout,
        // Idle session timeout; a read-only server, after a failover.
        (_, "25P03" | "25006") => FaultKind::Unavailable,
        // The disk is full.
        (_, "53100") => FaultKind::Full,
        // Lost connections, deadlocks, lack of memory or connections, shutdown or startup, system errors.
        ("08" | "40" | "53" | "57" | "58", _) => FaultKind::Unavailable,
        // Wrong name or password, unknown database, missing privileges.
        ("28", _) | (_, "3D000" | "42501") => FaultKind::Rejected,
        _ => FaultKind::Internal,
    }
}

/// Maps SQLite's result codes. The low byte of an extended code is its primary code.
fn sqlite_kind(code: u32) -> FaultKind {
    const BUSY: u32 = 5;
    const LOCKED: u32 = 6;
    const INTERRUPT: u32 = 9;
    const FULL: u32 = 13;
    // PERM, NOMEM, READONLY, IOERR, CANTOPEN, PROTOCOL: the file or its disk is unavailable.
    const UNAVAILABLE: [u32; 6] = [3, 7, 8, 10, 14, 15];
    match code & 0xff {
        BUSY | LOCKED | INTERRUPT => FaultKind::Timeout,
        FULL => FaultKind::Full,
        primary if UNAVAILABLE.contains(&primary) => FaultKind::Unavailable,
        _ => FaultKind::Internal,
    }
}

/// The innermost message: each layer repeats the one below it.
fn message(error: &DbErr) -> String {
    match error {
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => match error.as_ref() {
            sqlx::Error::Database(error) => error.to_string(),
            other => other.to_string(),
        },
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sqlite_codes_map_to_fault_kinds() {
        for (code, kind) in [
            (5, FaultKind::Timeout),       // SQLITE_BUSY
            (517, FaultKind::Timeout),     // SQLITE_BUSY_SNAPSHOT
            (13, FaultKind::Full),         // SQLITE_FULL
            (778, FaultKind::Unavailable), // SQLITE_IOERR_WRITE
            (14, FaultKind::Unavailable),  // SQLITE_CANTOPEN
            (787, FaultKind::Internal),    // SQLITE_CONSTRAINT_FOREIGNKEY
            (2067, FaultKind::Internal),   // SQLITE_CONSTRAINT_UNIQUE
            (11, FaultKind::Internal),     // SQLITE_CORRUPT
        ] {
            assert_eq!(sqlite_kind(code), kind, "{code}");
        }
    }

    #[test]
    fn postgresql_codes_map_to_fault_kinds() {
        for (code, kind) in [
            ("57014", FaultKind::Timeout),     // query_canceled
            ("55P03", FaultKind::Timeout),     // lock_not_available
            ("08006", FaultKind::Unavailable), // connection_failure
            ("57P01", FaultKind::Unavailable), // admin_shutdown
            ("57P03", FaultKind::Unavailable), // cannot_connect_now
            ("53100", FaultKind::Full),        // disk_full
            ("53300", FaultKind::Unavailable), // too_many_connections
            ("40001", FaultKind::Unavailable), // serialization_failure
            ("40P01", FaultKind::Unavailable), // deadlock_detected
            ("25006", FaultKind::Unavailable), // read_only_sql_transaction
            ("28P01", FaultKind::Rejected),    // invalid_password
            ("3D000", FaultKind::Rejected),    // invalid_catalog_name
            ("23505", FaultKind::Internal),    // unique_violation
            ("42P01", FaultKind::Internal),    // undefined_table
            ("", FaultKind::Internal),
        ] {
            assert_eq!(postgres_kind(code), kind, "{code}");
        }
    }

    #[test]
    fn connection_acquire_timeout_is_timeout() {
        let fault = fault("begin", &DbErr::ConnectionAcquire(ConnAcquireErr::Timeout));
        assert_eq!((fault.component(), fault.kind()), (Component::Database, FaultKind::Timeout));
    }
}
