//! Paged lists with filters in the URL.

use super::nav::{self, ROOT};
use crate::paging::{PageNumber, Paging};
use chrono::{NaiveDate, NaiveTime};
use docent_app::error::Error;
use docent_app::{App, listing};
use docent_domain::id::UserId;
use docent_domain::listing::{Page, Period};
use docent_http::Query;
use serde::Serialize;
use std::collections::BTreeMap;

/// The filters `from` and `to` of a list.
pub(super) struct Days {
    pub(super) from: Option<NaiveDate>,
    pub(super) to: Option<NaiveDate>,
}

impl Days {
    pub(super) fn of(query: &mut Query) -> Self {
        let mut day = |name| query.parse(name, "must be a date such as 2026-01-31", |text| text.parse().ok());
        Self { from: day("from"), to: day("to") }
    }

    /// From the start of the first day to the end of the last one (UTC).
    pub(super) fn period(&self) -> Period {
        let start = |day: NaiveDate| day.and_time(NaiveTime::MIN).and_utc();
        Period { from: self.from.map(start), to: self.to.and_then(|day| day.succ_opt()).map(start) }
    }

    pub(super) fn filters(&self) -> Filters<2> {
        [("from", self.from.map(|day| day.to_string())), ("to", self.to.map(|day| day.to_string()))]
    }
}

/// Filters of a list: query parameters and their values.
pub(super) type Filters<const N: usize> = [(&'static str, Option<String>); N];

/// Filters as submitted.
pub(super) fn filters<const N: usize>(query: &Query, names: [&'static str; N]) -> Filters<N> {
    names.map(|name| (name, query.text(name).map(str::to_owned)))
}

/// Account of a filter by email address: none without the filter, `Some(None)` if the account does not exist.
pub(super) async fn account_of(app: &App, email: Option<&str>) -> Result<Option<Option<UserId>>, Error> {
    let Some(email) = email else { return Ok(None) };
    Ok(Some(listing::owner(app, email).await?))
}

/// Finds records of the account with this email address, or of all accounts if there is no address.
pub(super) async fn find_of_account<T>(
    app: &App,
    email: Option<&str>,
    find: impl AsyncFnOnce(Option<UserId>) -> Result<Page<T>, Error>,
) -> Result<Page<T>, Error> {
    match account_of(app, email).await? {
        Some(None) => Ok(Page::default()),
        account => find(account.flatten()).await,
    }
}

/// Page of a list, shown by `list.html`.
#[derive(Serialize)]
pub(super) struct List<R> {
    title: String,
    path: String,
    rows: Vec<R>,
    paging: Paging,
    is_filtered: bool,
    /// Values of the filters by name, empty if not set.
    #[serde(flatten)]
    filters: BTreeMap<&'static str, String>,
}

impl<R> List<R> {
    /// Page of the list of a section with these filters; `order` selects no records and is not a filter.
    pub(super) fn of<const N: usize>(
        section: &str,
        number: PageNumber,
        filters: Filters<N>,
        total: u64,
        rows: Vec<R>,
    ) -> Self {
        let pairs = filters.each_ref().map(|(name, value)| (*name, value.as_deref()));
        let path = format!("{ROOT}/{section}");
        Self {
            paging: Paging::of(number, rows.len(), total, &path, &pairs),
            path,
            title: nav::label(section),
            is_filtered: pairs.iter().any(|(name, value)| *name != "order" && value.is_some()),
            rows,
            filters: filters.map(|(name, value)| (name, value.unwrap_or_default())).into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<R> List<R> {
        /// Pages with and without records and filters.
        pub(crate) fn sample_pages<const N: usize>(
            names: [&'static str; N],
            rows: impl Fn() -> Vec<R>,
        ) -> [Self; 3] {
            let list = |value: Option<&str>, total, rows| {
                let filters = names.map(|name| (name, value.map(str::to_owned)));
                Self::of("list", PageNumber::FIRST, filters, total, rows)
            };
            [list(None, 260, rows()), list(Some("a"), 0, Vec::new()), list(None, 0, Vec::new())]
        }
    }
}
