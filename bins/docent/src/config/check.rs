//! Checks of setting values.

use super::Profile;
use super::value::Value;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Context of defaults and checks.
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) profile: Profile,
    pub(super) debug: bool,
    pub(super) data_dir: PathBuf,
    /// Whether the relational database is SQLite, which one process can use.
    pub(super) is_sqlite: bool,
    pub(super) cores: usize,
}

/// A check of a value. On failure, it returns what is wrong and what is accepted.
pub(super) type Check<'c, T> = &'c dyn Fn(&T, &Context) -> Result<(), Refusal>;

/// Why a value is invalid.
pub(super) struct Refusal {
    pub(super) wrong: String,
    pub(super) accepted: String,
}

/// Checks that a value is within bounds.
pub(super) fn within<T>(bounds: RangeInclusive<T>) -> impl Fn(&T, &Context) -> Result<(), Refusal>
where
    T: PartialOrd + fmt::Display,
{
    move |value, _| {
        if bounds.contains(value) {
            return Ok(());
        }
        let accepted = format!("a whole number from {} to {}", bounds.start(), bounds.end());
        Err(Refusal { wrong: format!("is {value}"), accepted })
    }
}

/// Checks that a value, if there is one, is within bounds.
pub(super) fn within_if_set<T>(
    bounds: RangeInclusive<T>,
) -> impl Fn(&Option<T>, &Context) -> Result<(), Refusal>
where
    T: PartialOrd + fmt::Display,
{
    let check = within(bounds);
    move |value, context| value.as_ref().map_or(Ok(()), |value| check(value, context))
}

/// Checks that a duration is at most a day, which a process can wait for without an overflow.
pub(super) fn at_most_a_day(value: &Duration, _: &Context) -> Result<(), Refusal> {
    if *value > Duration::from_secs(86_400) {
        let accepted = format!("{}, at most 24h", Duration::accepted());
        return Err(Refusal { wrong: "is more than a day".to_owned(), accepted });
    }
    Ok(())
}

/// Checks that a duration is not zero.
pub(super) fn positive(value: &Duration, _: &Context) -> Result<(), Refusal> {
    if value.is_zero() {
        let accepted = format!("{}, more than 0", Duration::accepted());
        return Err(Refusal { wrong: "is 0".to_owned(), accepted });
    }
    Ok(())
}
