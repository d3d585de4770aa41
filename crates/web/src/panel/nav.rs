//! Sections of the panel and the permissions they need.

use crate::language::{Label, t};
use crate::signed_in::area::Area;
use crate::signed_in::layout::Framed;
use crate::signed_in::layout::{NavGroup, NavLink};
use crate::signed_in::page::PageResult;
use crate::signed_in::session::Staff;
use crate::templates::Page;
use actix_web::http::StatusCode;
use docent_domain::access::Actor;
use docent_domain::permission::Permission;
use docent_http::State;

/// Root path of the panel.
pub(super) const ROOT: &str = Area::Panel.root();

/// Path segment of a section, its label, and the permission that it requires.
type Section = (&'static str, Label, Option<Permission>);

const GROUPS: [(Label, &[Section]); 4] = [
    (String::new, &[("", || t!("dashboard"), None)]),
    (
        || t!("menu-content"),
        &[
            ("documents", || t!("documents"), Some(Permission::ViewDocument)),
            // Every account has roles on some.
            ("collections", || t!("collections"), None),
            ("conversations", || t!("conversations"), Some(Permission::ViewConversation)),
            ("search", || t!("search-title"), Some(Permission::ViewDocument)),
            ("answers", || t!("answers-title"), Some(Permission::ViewConversation)),
        ],
    ),
    (
        || t!("menu-access"),
        &[
            ("users", || t!("records-user"), Some(Permission::ViewUser)),
            ("invitations", || t!("records-invitation"), Some(Permission::ViewInvitation)),
            ("groups", || t!("records-group"), Some(Permission::ViewGroup)),
            ("api-keys", || t!("api-keys"), Some(Permission::ViewApiKey)),
            ("sessions", || t!("records-session"), Some(Permission::ViewSession)),
            ("verifications", || t!("records-verificationtoken"), Some(Permission::ViewVerification)),
        ],
    ),
    (
        || t!("menu-operations"),
        &[
            ("service", || t!("component-service"), Some(Permission::ViewJob)),
            ("jobs", || t!("records-job"), Some(Permission::ViewJob)),
            ("model", || t!("component-chat_model"), Some(Permission::ViewJob)),
            ("webhooks", || t!("records-webhook"), Some(Permission::ViewWebhook)),
            ("usage", || t!("records-usagerecord"), Some(Permission::ViewUsage)),
            ("audit", || t!("records-auditentry"), Some(Permission::ViewAuditEntry)),
        ],
    ),
];

/// Label and path of a section, if the user may open it.
fn link_to((name, label, requires): &Section, actor: &Actor) -> Option<(String, String)> {
    let may_open = requires.is_none_or(|permission| actor.permissions().contains(permission));
    let href = || if name.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{name}") };
    may_open.then(|| (label(), href()))
}

/// Labels and paths of the pages in the menu of a user.
pub(super) fn pages(actor: &Actor) -> impl Iterator<Item = (String, String)> {
    let sections = GROUPS.into_iter().flat_map(|(_, sections)| sections);
    let others = OTHER_PAGES.into_iter().map(|(label, href)| (label(), href.to_owned()));
    sections.filter_map(|section| link_to(section, actor)).chain(others)
}

/// Pages outside of the panel.
const OTHER_PAGES: [(Label, &str); 2] =
    [(|| t!("chat"), "/chat"), (|| t!("your-account"), Area::Account.root())];

/// Menu for a user; `current` is the open section.
fn groups(actor: &Actor, current: &str) -> Vec<NavGroup> {
    let link = |section: &Section| {
        let (label, href) = link_to(section, actor)?;
        Some(NavLink { label, href, is_current: section.0 == current })
    };
    let group = |(title, sections): (Label, &[_])| NavGroup {
        title: title(),
        links: sections.iter().filter_map(link).collect(),
    };
    let elsewhere =
        |(label, href): (Label, &str)| NavLink { label: label(), href: href.to_owned(), is_current: false };
    let other = OTHER_PAGES.into_iter().map(elsewhere).collect();
    let groups = GROUPS.into_iter().map(group).filter(|group| !group.links.is_empty());
    groups.chain([NavGroup { title: t!("menu-other"), links: other }]).collect()
}

/// Label of a section.
pub(super) fn label(section: &str) -> String {
    let mut sections = GROUPS.into_iter().flat_map(|(_, sections)| sections);
    sections.find(|(name, ..)| *name == section).map_or_else(String::new, |(_, label, _)| label())
}

impl Staff {
    /// Renders a page of the panel; `section` is its menu entry.
    pub(super) fn show<P>(&self, context: &State, section: &str, page: P) -> PageResult
    where
        Framed<P>: Page,
    {
        self.show_with(StatusCode::OK, context, section, page)
    }

    /// Renders a page with another status than 200.
    pub(super) fn show_with<P>(
        &self,
        status: StatusCode,
        context: &State,
        section: &str,
        page: P,
    ) -> PageResult
    where
        Framed<P>: Page,
    {
        self.render(status, context, Area::Panel, groups(&self.actor, section), page)
    }
}
