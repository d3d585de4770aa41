//! Dates, times and durations.

use super::Token;
use chrono::{NaiveDate, TimeDelta};

/// Days after 31 December 9999, the last date of Excel.
const DAYS_END: f64 = 2_958_466.0;

/// The parts of a date or time that are shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DateFormat {
    has_date: bool,
    has_hours: bool,
    has_minutes: bool,
    has_seconds: bool,
    /// The largest unit of a duration and its number of digits, such as `[hh]`.
    elapsed: Option<(char, usize)>,
}

impl DateFormat {
    /// The format of a code with letters of dates; `None` for another code.
    pub(super) fn of(tokens: &[Token]) -> Option<Self> {
        let mut format = Self::default();
        // Runs of equal letters, and whether they are in brackets.
        let mut runs: Vec<(char, usize, bool)> = Vec::new();
        for token in tokens {
            match token {
                Token::Code(c) if c.is_ascii_alphabetic() => {
                    let c = c.to_ascii_lowercase();
                    match runs.last_mut() {
                        Some((last, length, false)) if *last == c => *length += 1,
                        _ => runs.push((c, 1, false)),
                    }
                }
                Token::Bracket(text) => {
                    let c = text.chars().next().filter(|c| text.chars().all(|other| other == *c));
                    runs.extend(c.filter(|c| matches!(c, 'h' | 'm' | 's')).map(|c| (c, text.len(), true)));
                }
                _ => {}
            }
        }
        // `AM/PM` is no month.
        let marks: Vec<usize> =
            (1..runs.len()).filter(|at| runs[*at].0 == 'm' && matches!(runs[at - 1].0, 'a' | 'p')).collect();
        for at in 0..runs.len() {
            let (c, length, is_elapsed) = runs[at];
            let before = at.checked_sub(1).map(|at| runs[at].0);
            let after = runs.get(at + 1).map(|run| run.0);
            if is_elapsed {
                format.elapsed = Some((c, length));
            }
            match c {
                'y' | 'd' | 'e' | 'g' | 'b' => format.has_date = true,
                'h' => format.has_hours = true,
                's' => format.has_seconds = true,
                'm' if marks.contains(&at) => {}
                'm' if is_elapsed || before == Some('h') || after == Some('s') => format.has_minutes = true,
                'm' => format.has_date = true,
                _ => {}
            }
        }
        let is_date = format.has_date || format.has_hours || format.has_minutes || format.has_seconds;
        is_date.then_some(format)
    }

    /// Formats a number of days; `None` for one that is no date.
    pub(super) fn show(&self, days: f64, from_1904: bool) -> Option<String> {
        if let Some((unit, digits)) = self.elapsed {
            return self.show_elapsed(days, unit, digits);
        }
        if !(0.0..DAYS_END).contains(&days) {
            return None;
        }
        let seconds = seconds_of(days);
        let (mut day, mut second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let has_time = self.has_hours || self.has_minutes || self.has_seconds;
        if has_time && !self.has_seconds {
            // Rounding up to a minute can reach the next day.
            let rounded = (seconds + 1) / 60 * 60;
            (day, second) = (rounded.div_euclid(86_400), rounded.rem_euclid(86_400));
        }
        let (hours, minutes, seconds) = (second / 3600, second / 60 % 60, second % 60);
        let time = match (self.has_hours, self.has_seconds) {
            (true, true) => format!("{hours:02}:{minutes:02}:{seconds:02}"),
            (true, false) => format!("{hours:02}:{minutes:02}"),
            (false, _) => format!("{minutes:02}:{seconds:02}"),
        };
        if !self.has_date {
            return Some(time);
        }
        let date = date_of(day, from_1904)?;
        Some(if has_time { format!("{date} {time}") } else { date })
    }

    fn show_elapsed(&self, days: f64, unit: char, digits: usize) -> Option<String> {
        if days.abs() >= DAYS_END {
            return None;
        }
        let seconds = seconds_of(days.abs());
        let sign = if days < 0.0 && seconds > 0 { "-" } else { "" };
        let (total, mut rest) = match unit {
            'h' => (seconds / 3600, format!(":{:02}", seconds / 60 % 60)),
            'm' => (seconds / 60, String::new()),
            _ => (seconds, String::new()),
        };
        if unit == 'h' && !self.has_minutes && !self.has_seconds {
            rest.clear();
        }
        if unit != 's' && self.has_seconds {
            rest.push_str(&format!(":{:02}", seconds % 60));
        }
        Some(format!("{sign}{total:0digits$}{rest}"))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "callers check the range")]
fn seconds_of(days: f64) -> i64 {
    (days * 86_400.0).round() as i64
}

fn date_of(day: i64, from_1904: bool) -> Option<String> {
    let start = match from_1904 {
        true => NaiveDate::from_ymd_opt(1904, 1, 1)?,
        // Excel counts a 29 February 1900.
        false if day < 60 => NaiveDate::from_ymd_opt(1899, 12, 31)?,
        false => NaiveDate::from_ymd_opt(1899, 12, 30)?,
    };
    Some(start.checked_add_signed(TimeDelta::try_days(day)?)?.format("%Y-%m-%d").to_string())
}
