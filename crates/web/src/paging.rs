//! Positions in lists.

use docent_domain::listing::PageRequest;
use docent_http::Query;
use docent_http::extract::query::encode_query;
use serde::Serialize;

/// Records per page.
pub(crate) const PER_PAGE: u64 = 50;

/// Page number, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PageNumber(u64);

impl PageNumber {
    pub(crate) const FIRST: Self = Self(1);

    /// Page number of the query; the first page if it is invalid.
    pub(crate) fn of(query: &Query) -> Self {
        let number = query.text("page").and_then(|text| text.parse().ok()).unwrap_or(1);
        Self(number.clamp(1, 1_000_000))
    }

    /// Page request for the store.
    pub(crate) const fn page(self) -> PageRequest {
        PageRequest { offset: (self.0 - 1) * PER_PAGE, limit: PER_PAGE }
    }
}

/// Position in a list, shown by `paging.html`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Paging {
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
    pub(crate) fn of(
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
