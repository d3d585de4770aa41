//! Menu of the account pages.

use crate::signed_in::area::Area;
use crate::signed_in::layout::{Framed, NavGroup, NavLink};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::SignedIn;
use crate::templates::Page;
use actix_web::http::StatusCode;
use docent_domain::access::UseAdminPanel;
use docent_http::State;

/// Root path of the account pages.
pub(super) const ROOT: &str = Area::Account.root();

/// Path segments of the sections and their labels.
const SECTIONS: [(&str, &str); 6] = [
    ("", "Profile"),
    ("password", "Password"),
    ("second-factor", "Second factor"),
    ("sessions", "Sessions"),
    ("api-keys", "API keys"),
    ("delete", "Delete account"),
];

fn of(signed_in: &SignedIn, current: &str) -> Vec<NavGroup> {
    let section = |(name, label): (&str, &'static str)| NavLink {
        label,
        href: if name.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{name}") },
        is_current: name == current,
    };
    let elsewhere = |label, href: &str| NavLink { label, href: href.to_owned(), is_current: false };
    let mut other = vec![elsewhere("Chat", "/chat")];
    if signed_in.can::<UseAdminPanel>() {
        other.push(elsewhere("Admin panel", Area::Panel.root()));
    }
    vec![
        NavGroup { title: "Your account", links: SECTIONS.into_iter().map(section).collect() },
        NavGroup { title: "Other pages", links: other },
    ]
}

impl SignedIn {
    /// Renders an account page; `section` is its menu entry.
    pub(super) fn show_account<P>(
        &self,
        status: StatusCode,
        context: &State,
        section: &str,
        page: P,
    ) -> PageResult
    where
        Framed<P>: Page,
    {
        self.render(status, context, Area::Account, of(self, section), page)
    }
}
