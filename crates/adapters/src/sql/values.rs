//! Between the domain's values and those that columns hold.

use super::fault::corrupt;
use chrono::{DateTime, Utc};
use docent_ports::error::{Component, Fault, FaultKind, Result};
use std::net::IpAddr;

/// An instant as its column holds it: microseconds since 1970.
pub(super) fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// The instant that a column holds.
pub(super) fn instant(micros: i64, what: &'static str) -> Result<DateTime<Utc>> {
    DateTime::from_timestamp_micros(micros).ok_or_else(|| corrupt(what))
}

/// A number as its column holds it.
///
/// # Errors
/// Above 2^63 - 1, which databases cannot hold.
pub(super) fn number(value: u64, what: &'static str) -> Result<i64> {
    i64::try_from(value).map_err(|_| {
        Fault::new(
            Component::Database,
            FaultKind::Internal,
            format!("{what} {value} is too large to be stored"),
        )
    })
}

/// The number that a column holds.
pub(super) fn counted<T: TryFrom<i64>>(value: i64, what: &'static str) -> Result<T> {
    T::try_from(value).map_err(|_| corrupt(what))
}

/// The SHA-256 that a column holds.
pub(super) fn digest(bytes: &[u8], what: &'static str) -> Result<[u8; 32]> {
    bytes.try_into().map_err(|_| corrupt(what))
}

/// The address of a client that a column holds.
pub(super) fn address(text: Option<&str>) -> Result<Option<IpAddr>> {
    text.map(str::parse).transpose().map_err(|_| corrupt("address of a client"))
}
