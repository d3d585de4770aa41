//! Paged lists with filters in the URL.

use super::nav::{self, ROOT};
use chrono::{NaiveDate, NaiveTime};
use docent_app::error::Error;
use docent_app::{App, listing};
use docent_domain::id::UserId;
use docent_domain::listing::{Page, PageRequest, Period};
use docent_http::Query;
use docent_http::extract::query::encode_query;
use serde::Serialize;
use std::collections::BTreeMap;

/// Records per page.
pub(super) const PER_PAGE: u64 = 50;

/// Page number, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageNumber(u64);

impl PageNumber {
    pub(super) const FIRST: Self = Self(1);

    /// Page number of the query; the first page if it is invalid.
    pub(super) fn of(query: &Query) -> Self {
        let number = query.text("page").and_then(|text| text.parse().ok()).unwrap_or(1);
        Self(number.clamp(1, 1_000_000))
    }

    /// Page request for the store.
    pub(super) const fn page(self) -> PageRequest {
        PageRequest { offset: (self.0 - 1) * PER_PAGE, limit: PER_PAGE }
    }
}

/// Position in a list, shown by `paging.html`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Paging {
    /// First record of the page, counted from 1, and the last.
    first: u64,
    last: u64,
    total: u64,
    page: u64,
    pages: u64,
    start_href: Option<String>,
    previous_href: Option<String>,
    next_href: Option<String>,
    end_href: Option<String>,
}

impl Paging {
    /// Position of a page with `shown` of `total` records of the list at `path` with `filters`.
    pub(super) fn of(
        number: PageNumber,
        shown: usize,
        total: u64,
        path: &str,
        filters: &[(&'static str, Option<&str>)],
    ) -> Self {
        let pages = total.div_ceil(PER_PAGE).max(1);
        let page = number.0;
        let href = |to: u64| {
            let to = (to > 1).then(|| to.to_string());
            let parts: Vec<_> = filters.iter().copied().chain([("page", to.as_deref())]).collect();
            let query = encode_query(&parts);
            if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
        };
        let offset = number.page().offset;
        Self {
            first: if shown == 0 { 0 } else { offset + 1 },
            last: if shown == 0 { 0 } else { offset + shown as u64 },
            total,
            page,
            pages,
            start_href: (page > 2).then(|| href(1)),
            previous_href: (page > 1).then(|| href((page - 1).min(pages))),
            next_href: (page < pages).then(|| href(page + 1)),
            end_href: (page + 1 < pages).then(|| href(pages)),
        }
    }
}

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

    impl Paging {
        /// Position in the middle of a list, with all links.
        pub(crate) fn sample() -> Self {
            Self::of(PageNumber(3), 50, 260, "/admin/list", &[("q", Some("a"))])
        }

        pub(crate) fn empty() -> Self {
            Self::of(PageNumber(1), 0, 0, "/admin/list", &[])
        }
    }

    impl<R> List<R> {
        /// Pages with and without records and filters.
        pub(crate) fn sample_pages<const N: usize>(
            names: [&'static str; N],
            rows: impl Fn() -> Vec<R>,
        ) -> [Self; 3] {
            let list = |value: Option<&str>, total, rows| {
                let filters = names.map(|name| (name, value.map(str::to_owned)));
                Self::of("list", PageNumber(1), filters, total, rows)
            };
            [list(None, 260, rows()), list(Some("a"), 0, Vec::new()), list(None, 0, Vec::new())]
        }
    }

    #[test]
    fn paging_links_keep_filters_and_stay_within_the_list() {
        let filters = [("q", Some("a b")), ("status", None)];
        let of = |page, shown, total| Paging::of(PageNumber(page), shown, total, "/admin/users", &filters);
        let only = of(1, 3, 3);
        assert_eq!((only.first, only.last, only.pages), (1, 3, 1));
        assert_eq!((only.next_href, only.previous_href), (None, None));
        let middle = of(3, 50, 260);
        assert_eq!((middle.first, middle.last, middle.pages), (101, 150, 6));
        assert_eq!(middle.start_href.as_deref(), Some("/admin/users?q=a%20b"));
        assert_eq!(middle.next_href.as_deref(), Some("/admin/users?q=a%20b&page=4"));
        assert_eq!(middle.end_href.as_deref(), Some("/admin/users?q=a%20b&page=6"));
        let beyond = of(99, 0, 60);
        assert_eq!((beyond.first, beyond.last), (0, 0));
        assert_eq!(beyond.previous_href.as_deref(), Some("/admin/users?q=a%20b&page=2"));
    }
}
