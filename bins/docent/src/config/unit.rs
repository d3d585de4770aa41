//! Parsing of durations and sizes with units.

use super::check::{Context, Refusal};
use super::value::Value;
use std::time::Duration;

const MILLIS: &[(&str, u64)] = &[("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

const BYTES: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1000),
];

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// Sums numbers with units, such as `1h 30m`. A number without a unit is multiplied by `plain`.
fn parse(text: &str, units: &[(&str, u64)], plain: u64) -> Result<u64, String> {
    if let Ok(number) = text.parse::<u64>() {
        return number.checked_mul(plain).ok_or_else(|| "is too large".to_owned());
    }
    let (mut rest, mut sum) = (text, 0_u64);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number: u64 = rest[..digits].parse().map_err(|_| "is not a number with a unit".to_owned())?;
        rest = rest[digits..].trim_start();
        let letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let unit = &rest[..letters];
        let known = units.iter().find(|(known, _)| known.eq_ignore_ascii_case(unit));
        let (_, size) = known.ok_or_else(|| match unit {
            "" => "has a number without a unit".to_owned(),
            unit => format!("has the unknown unit {unit:?}"),
        })?;
        let part = number.checked_mul(*size);
        sum = part.and_then(|part| sum.checked_add(part)).ok_or_else(|| "is too large".to_owned())?;
        rest = rest[letters..].trim_start();
    }
    Ok(sum)
}

/// Formats a number in the given units, largest first; the last unit must be 1.
fn show(mut number: u64, units: &[(&str, u64)]) -> String {
    let mut text = String::new();
    for (unit, size) in units {
        if number >= *size {
            text += &format!("{}{unit}", number / size);
            number %= size;
        }
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// Parses a duration such as `15m`.
///
/// # Errors
/// What is wrong with the text, to follow a name.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    <Duration as Value>::parse(text)
}

impl Value for Duration {
    const KIND: &'static str = "duration";

    fn accepted() -> String {
        "a number of seconds, or numbers with the units ms, s, m, h or d, such as 15m".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse(text, MILLIS, 1000).map(Self::from_millis)
    }

    fn show(&self) -> String {
        show(u64::try_from(self.as_millis()).unwrap_or(u64::MAX), MILLIS)
    }
}

impl Value for ByteSize {
    const KIND: &'static str = "size";

    fn accepted() -> String {
        "a number of bytes, or a number with the unit B, KiB, MiB, GiB, kB, MB or GB, such as 50MiB"
            .to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        parse(text, BYTES, 1).map(Self)
    }

    fn show(&self) -> String {
        show(self.0, &BYTES[..4])
    }
}

/// Checks that a size is not zero.
pub(super) fn check_not_zero(value: &ByteSize, _: &Context) -> Result<(), Refusal> {
    if value.0 == 0 {
        return Err(Refusal {
            wrong: "is 0".to_owned(),
            accepted: format!("{}, more than 0", ByteSize::accepted()),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_accept_units_and_plain_seconds() {
        for (text, millis) in [
            ("0", 0),
            ("60", 60_000),
            ("15m", 900_000),
            ("1h30m", 5_400_000),
            ("1H 30 m", 5_400_000),
            ("30d", 2_592_000_000),
            ("250ms", 250),
        ] {
            assert_eq!(Duration::parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in
            ["", "m", "-1", "1.5h", "5 minutes", "10m5", "1h,30m", "99999999999999999999", "999999999999d"]
        {
            assert!(text.is_empty() || Duration::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_accept_units_and_plain_bytes() {
        for (text, bytes) in [("10", 10), ("50MiB", 52_428_800), ("1 kB", 1000), ("2gib", 2 << 30), ("7B", 7)]
        {
            assert_eq!(ByteSize::parse(text), Ok(ByteSize(bytes)), "{text}");
        }
        for text in ["50M", "1.5GiB", "MiB", "18446744073709551615KiB"] {
            assert!(ByteSize::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shown_values_parse_to_the_same_value() {
        for millis in [0, 1, 999, 1000, 61_000, 90_061_001] {
            let value = Duration::from_millis(millis);
            assert_eq!(Duration::parse(&value.show()), Ok(value));
        }
        for bytes in [0, 1, 1023, 1024, 52_428_800, u64::MAX] {
            assert_eq!(ByteSize::parse(&ByteSize(bytes).show()), Ok(ByteSize(bytes)));
        }
        assert_eq!(ByteSize(52_428_800).show(), "50MiB");
    }
}
