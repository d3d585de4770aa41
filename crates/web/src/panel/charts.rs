//! Bar charts per day, drawn as SVG on the server, with the numbers in a table.

use crate::times::date;
use chrono::NaiveDate;
use serde::Serialize;
use std::collections::HashMap;

/// Dimensions in SVG units.
const COLUMN: u64 = 20;
const HEIGHT: u64 = 100;
const GAP: u64 = 4;

/// Chart, shown by `chart.html`.
#[derive(Serialize)]
pub(super) struct Chart {
    label: String,
    series: Vec<String>,
    width: u64,
    height: u64,
    max: u64,
    total: u64,
    first: String,
    last: String,
    columns: Vec<Column>,
}

/// Column of a day.
#[derive(Serialize)]
struct Column {
    day: String,
    x: u64,
    width: u64,
    /// Sum of the series, and the value of each.
    sum: u64,
    values: Vec<u64>,
    segments: Vec<Segment>,
}

/// Segment of a series in a column.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Segment {
    /// Index of its series.
    series: usize,
    y: u64,
    height: u64,
}

impl Chart {
    /// Chart of these days; days missing in `values` count as 0.
    pub(super) fn of<const N: usize>(
        label: String,
        series: [String; N],
        days: &[NaiveDate],
        values: &HashMap<NaiveDate, [u64; N]>,
    ) -> Self {
        let of = |day: &NaiveDate| values.get(day).copied().unwrap_or([0; N]);
        let max = days.iter().map(|day| of(day).iter().sum()).max().unwrap_or(0);
        let column = |(at, day): (u64, &NaiveDate)| Column {
            day: date(*day),
            x: at * COLUMN + GAP / 2,
            width: COLUMN - GAP,
            sum: of(day).iter().sum(),
            values: of(day).to_vec(),
            segments: stack(&of(day), max),
        };
        let columns: Vec<Column> = (0..).zip(days).map(column).collect();
        let name = |day: Option<&NaiveDate>| day.copied().map(date).unwrap_or_default();
        Self {
            label,
            series: series.into(),
            width: COLUMN * days.len() as u64,
            height: HEIGHT,
            max,
            total: columns.iter().map(|column| column.sum).sum(),
            first: name(days.first()),
            last: name(days.last()),
            columns,
        }
    }
}

/// Stacks the segments; every non-zero segment is at least visible.
fn stack(values: &[u64], max: u64) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut y = HEIGHT;
    for (series, value) in values.iter().enumerate().filter(|(_, value)| **value > 0) {
        let share = u128::from(*value) * u128::from(HEIGHT) / u128::from(max.max(1));
        let height = u64::try_from(share).unwrap_or(HEIGHT).max(1).min(y);
        y -= height;
        segments.push(Segment { series, y, height });
    }
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Chart {
        /// A chart with values and an empty one.
        pub(crate) fn samples() -> Vec<Self> {
            let days = [NaiveDate::MIN];
            let chart = |value| {
                Self::of(
                    "Tokens".to_owned(),
                    ["input".to_owned()],
                    &days,
                    &HashMap::from([(days[0], [value])]),
                )
            };
            vec![chart(7), chart(0)]
        }
    }

    #[test]
    fn segments_are_stacked_and_never_invisible() {
        let segment = |series, y, height| Segment { series, y, height };
        assert_eq!(stack(&[50, 0, 50], 100), [segment(0, 50, 50), segment(2, 0, 50)]);
        assert_eq!(stack(&[1, 999_999], 1_000_000), [segment(0, 99, 1), segment(1, 0, 99)]);
        assert_eq!(stack(&[0, 0], 0), []);
        assert_eq!(stack(&[u64::MAX], u64::MAX), [segment(0, 0, 100)]);
    }

    #[test]
    fn days_without_values_are_zero() {
        let days: Vec<NaiveDate> = NaiveDate::MIN.iter_days().take(3).collect();
        let chart =
            Chart::of("Tokens".to_owned(), ["input".to_owned()], &days, &HashMap::from([(days[1], [7])]));
        assert_eq!(chart.columns.iter().map(|column| column.sum).collect::<Vec<_>>(), [0, 7, 0]);
        assert_eq!((chart.max, chart.total, chart.width), (7, 7, 60));
    }
}
