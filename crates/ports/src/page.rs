//! Pieces of long lists.

use chrono::{DateTime, Utc};

/// A piece of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Records before it.
    pub offset: u64,
    /// The most records on it.
    pub limit: u64,
}

/// A piece of a list, and how long the whole list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The records of the page, in the order of the list.
    pub records: Vec<T>,
    /// How many records the whole list has, at the moment of reading.
    pub total: u64,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { records: Vec::new(), total: 0 }
    }
}

/// From when until when: `from` belongs to it, `to` does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The first instant; the beginning of time when none.
    pub from: Option<DateTime<Utc>>,
    /// The first instant after it; the end of time when none.
    pub to: Option<DateTime<Utc>>,
}

impl Period {
    /// Whether `at` belongs to it.
    pub fn holds(&self, at: DateTime<Utc>) -> bool {
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at < to)
    }
}
