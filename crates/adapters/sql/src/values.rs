//! Conversions between domain values and column values.

use super::fault::corrupt;
use chrono::{DateTime, Utc};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use sea_orm::ColumnTrait;
use sea_orm::sea_query::{Expr, ExprTrait};
use std::net::IpAddr;

/// Column value of an instant: microseconds since 1970.
pub(super) fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// Instant of a column value.
pub(super) fn instant(micros: i64, what: &'static str) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_micros(micros).ok_or_else(|| corrupt(what))
}

/// The later of a column's instant and `at`.
pub(super) fn latest<C: ColumnTrait>(column: C, at: DateTime<Utc>) -> Expr {
    Expr::case(Expr::col(column).lt(micros(at)), micros(at)).finally(Expr::col(column)).into()
}

/// Column value of a number.
///
/// # Errors
/// Above 2^63 - 1, the maximum of a column.
pub(super) fn number(value: u64, what: &'static str) -> Result<i64> {
    i64::try_from(value).map_err(|_| {
        Fault::new(
            Component::Database,
            FaultKind::Internal,
            format!("{what} {value} is too large to be stored"),
        )
    })
}

/// Number of a column value.
pub(super) fn counted<T: TryFrom<i64>>(value: i64, what: &'static str) -> Result<T> {
    T::try_from(value).map_err(|_| corrupt(what))
}

/// SHA-256 of a column value.
pub(super) fn digest(bytes: &[u8], what: &'static str) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| corrupt(what))
}

/// Client address of a column value.
pub(super) fn address(text: Option<&str>) -> Result<Option<IpAddr>> {
    text.map(str::parse).transpose().map_err(|_| corrupt("address of a client"))
}
