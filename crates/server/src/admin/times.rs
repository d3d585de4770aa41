//! Times and sizes as people read them.

use chrono::{DateTime, Utc};
use serde::Serialize;

/// A time: how long ago, and exactly.
#[derive(Serialize)]
pub(super) struct Time {
    ago: String,
    exact: String,
}

impl Time {
    pub(super) fn of(at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self { ago: ago((now - at).num_seconds()), exact: at.format("%Y-%m-%d %H:%M:%S UTC").to_string() }
    }
}

fn ago(seconds: i64) -> String {
    let (n, unit) = match seconds {
        ..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{n} {unit}{} ago", if n == 1 { "" } else { "s" })
}

/// A number of bytes: `1.5 MiB`.
pub(super) fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in ["KiB", "MiB", "GiB"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_short() {
        assert_eq!(ago(-5), "just now");
        assert_eq!(ago(60), "1 minute ago");
        assert_eq!(ago(7_300), "2 hours ago");
        assert_eq!(ago(90_000), "1 day ago");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1_572_864), "1.5 MiB");
    }
}
