//! Menu of the account pages.

use crate::language::t;
use crate::signed_in::area::Area;
use crate::signed_in::layout::{Framed, NavGroup, NavLink};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::SignedIn;
use crate::templates::Page;
use actix_web::http::StatusCode;
use docent_app::accounts::single_sign_on::providers;
use docent_domain::access::UseAdminPanel;
use docent_http::State;

/// Root path of the account pages.
pub(super) const ROOT: &str = Area::Account.root();

fn groups(signed_in: &SignedIn, context: &State, current: &str) -> Vec<NavGroup> {
    let has_providers = providers(&context.app).next().is_some();
    // Path segments of the sections and their labels.
    let sections = [
        ("", t!("menu-profile")),
        ("password", t!("password")),
        ("second-factor", t!("second-factor")),
        ("identities", t!("identities")),
        ("groups", t!("records-group")),
        ("sessions", t!("menu-sessions")),
        ("api-keys", t!("api-keys")),
        ("applications", t!("applications")),
        ("delete", t!("menu-delete")),
    ];
    let shown = sections.into_iter().filter(|(name, _)| match *name {
        "identities" => has_providers,
        "password" => signed_in.has_password,
        _ => true,
    });
    let section = |(name, label): (&str, String)| NavLink {
        label,
        href: if name.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{name}") },
        is_current: name == current,
    };
    let elsewhere = |label, href: &str| NavLink { label, href: href.to_owned(), is_current: false };
    let mut other = vec![elsewhere(t!("chat"), "/chat")];
    if signed_in.can::<UseAdminPanel>() {
        other.push(elsewhere(t!("panel"), Area::Panel.root()));
    }
    vec![
        NavGroup { title: t!("your-account"), links: shown.map(section).collect() },
        NavGroup { title: t!("menu-other"), links: other },
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
        self.render(status, context, Area::Account, groups(self, context, section), page)
    }
}
