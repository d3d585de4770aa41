//! Human-readable times and sizes.

use chrono::{DateTime, Utc};
use serde::Serialize;

/// A point in time, relative and exact.
#[derive(Serialize)]
pub(crate) struct Time {
    ago: String,
    exact: String,
}

impl Time {
    pub(crate) fn of(at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self { ago: ago((now - at).num_seconds()), exact: at.format("%Y-%m-%d %H:%M:%S UTC").to_string() }
    }
}

fn ago(seconds: i64) -> String {
    let (n, unit) = match seconds.unsigned_abs() {
        // The clocks of two machines may differ slightly.
        ..60 => return if seconds > -10 { "just now" } else { "in a moment" }.to_owned(),
        minutes @ 60..3600 => (minutes / 60, "minute"),
        hours @ 3600..86_400 => (hours / 3600, "hour"),
        days => (days / 86_400, "day"),
    };
    let s = if n == 1 { "" } else { "s" };
    if seconds < 0 { format!("in {n} {unit}{s}") } else { format!("{n} {unit}{s} ago") }
}

/// Formats a number of bytes: `1.5 MiB`.
pub(crate) fn size(bytes: u64) -> String {
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

    impl Time {
        pub(crate) fn sample() -> Self {
            Self::of(DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH)
        }
    }

    #[test]
    fn times_and_sizes_are_rounded_to_one_unit() {
        assert_eq!(ago(-5), "just now");
        assert_eq!(ago(-30), "in a moment");
        assert_eq!(ago(-7_300), "in 2 hours");
        assert_eq!(ago(60), "1 minute ago");
        assert_eq!(ago(7_300), "2 hours ago");
        assert_eq!(ago(90_000), "1 day ago");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1_572_864), "1.5 MiB");
    }
}
