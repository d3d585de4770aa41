//! Formats the values of cells.

use chrono::{NaiveDate, TimeDelta};

/// How numbers of a style are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum NumberFormat {
    /// As they are.
    #[default]
    General,
    /// As a percentage.
    Percent,
    /// As a date, a time or both.
    Date,
}

impl NumberFormat {
    /// The format that a number stands for if the workbook does not define it.
    pub(super) fn built_in(id: u32) -> Self {
        match id {
            9 | 10 => Self::Percent,
            14..=22 | 27..=36 | 45..=47 | 50..=58 => Self::Date,
            _ => Self::General,
        }
    }

    /// The kind of a format code, such as `yyyy-mm-dd` or `0.00 %`.
    pub(super) fn of_code(code: &str) -> Self {
        // Only the part for positive numbers counts; quoted texts, escaped characters, colours and units do not.
        let mut letters = String::new();
        let mut chars = code.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => drop(chars.by_ref().find(|c| *c == '"')),
                '[' => drop(chars.by_ref().find(|c| *c == ']')),
                '\\' | '_' | '*' => drop(chars.next()),
                ';' => break,
                c => letters.push(c.to_ascii_lowercase()),
            }
        }
        if letters.contains('%') {
            Self::Percent
        } else if letters != "general"
            && letters.contains(['y', 'm', 'd', 'h', 's'])
            && !letters.contains(['0', '#'])
        {
            Self::Date
        } else {
            Self::General
        }
    }

    /// Formats a stored number.
    pub(super) fn show(self, stored: &str, from_1904: bool) -> String {
        let Ok(number) = stored.trim().parse::<f64>() else { return stored.to_owned() };
        match self {
            Self::General => plain(number),
            Self::Percent => format!("{}%", plain(number * 100.0)),
            Self::Date => date(number, from_1904).unwrap_or_else(|| plain(number)),
        }
    }
}

/// A number with at most 15 significant digits, so that `0.1 + 0.2` is `0.3`.
fn plain(number: f64) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let rounded = format!("{number:.14e}").parse::<f64>().unwrap_or(number);
    if rounded != 0.0 && !(1e-7..1e15).contains(&rounded.abs()) {
        format!("{rounded:e}")
    } else {
        rounded.to_string()
    }
}

/// The date and time that a number of days stands for.
fn date(days: f64, from_1904: bool) -> Option<String> {
    if !(0.0..2_958_466.0).contains(&days) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    let seconds = (days * 86_400.0).round() as i64;
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let time = format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
    if day == 0 {
        return Some(time);
    }
    let start = match from_1904 {
        true => NaiveDate::from_ymd_opt(1904, 1, 1)?,
        // Excel counts a 29 February 1900.
        false if day < 60 => NaiveDate::from_ymd_opt(1899, 12, 31)?,
        false => NaiveDate::from_ymd_opt(1899, 12, 30)?,
    };
    let date = start.checked_add_signed(TimeDelta::try_days(day)?)?.format("%Y-%m-%d").to_string();
    Some(if second == 0 { date } else { format!("{date} {time}") })
}

/// The letters of a column, counted from 0.
pub(super) fn column_name(mut column: u32) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'A' + u8::try_from(column % 26).unwrap_or(0)));
        match (column / 26).checked_sub(1) {
            Some(rest) => column = rest,
            None => return name,
        }
    }
}

/// Column, counted from 0, and row, counted from 1, of a reference such as `B12`.
pub(super) fn position(reference: &str) -> Option<(u32, u32)> {
    let letters = reference.bytes().take_while(u8::is_ascii_alphabetic).count();
    if !(1..=3).contains(&letters) {
        return None;
    }
    let column = reference[..letters]
        .bytes()
        .fold(0, |column, letter| column * 26 + u32::from(letter.to_ascii_uppercase() - b'A') + 1);
    let row = reference[letters..].parse().ok().filter(|row| *row > 0)?;
    Some((column - 1, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn format_codes_are_classified() {
        use NumberFormat::{Date, General, Percent};
        for (code, format) in [
            ("General", General),
            ("#,##0.00 \"days\"", General),
            ("[Red]0.0", General),
            ("0.00%", Percent),
            ("yyyy-mm-dd", Date),
            ("[$-407]d. mmmm yyyy;@", Date),
            ("hh:mm", Date),
            ("@", General),
            ("0 \\d", General),
        ] {
            assert_eq!(NumberFormat::of_code(code), format, "{code}");
        }
    }

    #[test]
    fn numbers_and_dates_are_formatted() {
        use NumberFormat::{Date, General, Percent};
        for (format, stored, shown) in [
            (General, "0.30000000000000004", "0.3"),
            (General, "1234567.5", "1234567.5"),
            (General, "1E+20", "1e20"),
            (General, "text", "text"),
            (Percent, "0.125", "12.5%"),
            (Date, "45000", "2023-03-15"),
            (Date, "45000.75", "2023-03-15 18:00:00"),
            (Date, "0.5", "12:00:00"),
            (Date, "1", "1900-01-01"),
            (Date, "-3", "-3"),
            (Date, "1e300", "1e300"),
        ] {
            assert_eq!(format.show(stored, false), shown, "{stored}");
        }
        assert_eq!(Date.show("43538", true), "2023-03-15");
    }

    #[test]
    fn references_name_columns_and_rows() {
        for (column, name) in [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (702, "AAA"), (16_383, "XFD")] {
            assert_eq!(column_name(column), name);
            assert_eq!(position(&format!("{name}7")), Some((column, 7)));
        }
        for wrong in ["", "7", "A", "A0", "AAAA1", "Ä1", "A-1"] {
            assert_eq!(position(wrong), None, "{wrong}");
        }
    }
}
