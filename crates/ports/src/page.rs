//! Pagination.

use chrono::{DateTime, Utc};

/// A request for one page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Number of records to skip.
    pub offset: u64,
    /// Maximum number of records on the page.
    pub limit: u64,
}

/// One page of a list and the length of the whole list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// Records of the page in the order of the list.
    pub records: Vec<T>,
    /// Number of records in the whole list at the time of reading.
    pub total: u64,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { records: Vec::new(), total: 0 }
    }
}

/// A period of time: `from` is inclusive, `to` is exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Start, if limited.
    pub from: Option<DateTime<Utc>>,
    /// End, if limited.
    pub to: Option<DateTime<Utc>>,
}

impl Period {
    /// Whether the period contains `at`.
    pub fn contains(&self, at: DateTime<Utc>) -> bool {
        self.from.is_none_or(|from| from <= at) && self.to.is_none_or(|to| at < to)
    }
}
