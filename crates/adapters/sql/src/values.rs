//! Conversions between domain values and column values.

use super::fault::corrupt;
use chrono::{DateTime, Utc};
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_ports::records::Stored;
use sea_orm::ColumnTrait;
use sea_orm::entity::prelude::Json;
use sea_orm::sea_query::{Expr, ExprTrait};
use serde::Deserialize;
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

/// Value of a column whose type is that of the value's form.
pub(super) fn stored<T: Stored>(form: T::Form, what: &'static str) -> Result<T> {
    T::from_form(form).map_err(|_| corrupt(what))
}

/// JSON column value of a record.
pub(super) fn json<T: Stored>(value: &T) -> Result<Json> {
    serde_json::to_value(value.to_form()).map_err(|_| corrupt("JSON"))
}

/// Record of a JSON column value.
pub(super) fn of_json<T: Stored>(json: Json, what: &'static str) -> Result<T> {
    stored(T::Form::deserialize(json).map_err(|_| corrupt(what))?, what)
}

/// Record of the value of a text column with JSON.
pub(super) fn of_json_text<T: Stored>(text: &str, what: &'static str) -> Result<T> {
    of_json(serde_json::from_str(text).map_err(|_| corrupt(what))?, what)
}
