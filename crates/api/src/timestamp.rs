//! Times in responses.

use chrono::{DateTime, SecondsFormat, Utc};

/// Formats a time with microseconds: `2026-01-01T00:00:00.000000Z`.
pub(crate) fn rfc3339(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Micros, true)
}
