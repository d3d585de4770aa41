//! Human-readable times and sizes.

use crate::language::t;
use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

/// A point in time, shown relative and exact by the filter `time` of the templates.
#[derive(Serialize, Deserialize)]
pub(crate) struct Time {
    /// In seconds since 1970.
    at: i64,
    seconds_ago: i64,
}

impl Time {
    pub(crate) fn of(at: DateTime<Utc>, now: DateTime<Utc>) -> Self {
        Self { at: at.timestamp(), seconds_ago: (now - at).num_seconds() }
    }

    /// How long ago it was, or when it will be.
    pub(crate) fn ago(&self) -> String {
        ago(self.seconds_ago)
    }

    /// Date and time in UTC.
    pub(crate) fn exact(&self) -> String {
        let at = DateTime::from_timestamp(self.at, 0).unwrap_or_default();
        let part = |format| at.format(format).to_string();
        t!("time-exact", year = part("%Y"), month = part("%m"), day = part("%d"), time = part("%H:%M:%S"))
    }
}

fn ago(seconds: i64) -> String {
    let is_past = seconds >= 0;
    match (seconds.unsigned_abs(), is_past) {
        // The clocks of two machines may differ slightly.
        (..60, _) if seconds > -10 => t!("time-now"),
        (..60, _) => t!("time-soon"),
        (seconds @ 60..3600, true) => t!("time-minutes-ago", count = seconds / 60),
        (seconds @ 60..3600, false) => t!("time-in-minutes", count = seconds / 60),
        (seconds @ 3600..86_400, true) => t!("time-hours-ago", count = seconds / 3600),
        (seconds @ 3600..86_400, false) => t!("time-in-hours", count = seconds / 3600),
        (seconds, true) => t!("time-days-ago", count = seconds / 86_400),
        (seconds, false) => t!("time-in-days", count = seconds / 86_400),
    }
}

/// Formats a day.
pub(crate) fn date(day: NaiveDate) -> String {
    let part = |format| day.format(format).to_string();
    t!("date", year = part("%Y"), month = part("%m"), day = part("%d"))
}

/// Formats a number with this many decimal places.
pub(crate) fn decimal(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    match text.split_once('.') {
        Some((whole, fraction)) => t!("decimal", whole = whole, fraction = fraction),
        None => text,
    }
}

/// Formats a number of bytes in decimal units, as file managers do: `1.5 MB`.
pub(crate) fn size(bytes: u64) -> String {
    let (mut value, mut unit) = (bytes as f64, "B");
    for next in ["kB", "MB", "GB"] {
        if value < 1000.0 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{} {unit}", decimal(value, 1)) }
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
        assert_eq!(size(999), "999 B");
        assert_eq!(size(1_500_000), "1.5 MB");
    }
}
