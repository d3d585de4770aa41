//! Sections of the panel and the permissions they need.

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
type Section = (&'static str, &'static str, Option<Permission>);

const GROUPS: [(&str, &[Section]); 4] = [
    ("", &[("", "Dashboard", None)]),
    (
        "Content",
        &[
            ("documents", "Documents", Some(Permission::ViewDocument)),
            // Every account has roles on some.
            ("collections", "Collections", None),
            ("conversations", "Conversations", Some(Permission::ViewConversation)),
            ("search", "Try a search", Some(Permission::ViewDocument)),
            ("answers", "Rated answers", Some(Permission::ViewConversation)),
        ],
    ),
    (
        "Access",
        &[
            ("users", "Users", Some(Permission::ViewUser)),
            ("groups", "Groups", Some(Permission::ViewGroup)),
            ("api-keys", "API keys", Some(Permission::ViewApiKey)),
            ("sessions", "Sessions", Some(Permission::ViewSession)),
            ("verifications", "Verification tokens", Some(Permission::ViewVerification)),
        ],
    ),
    (
        "Operations",
        &[
            ("service", "Service", Some(Permission::ViewJob)),
            ("jobs", "Jobs", Some(Permission::ViewJob)),
            ("model", "Chat model", Some(Permission::ViewJob)),
            ("webhooks", "Webhooks", Some(Permission::ViewWebhook)),
            ("usage", "Usage", Some(Permission::ViewUsage)),
            ("audit", "Audit log", Some(Permission::ViewAuditEntry)),
        ],
    ),
];

/// Label and path of a section, if the user may open it.
fn link_to((name, label, requires): &Section, actor: &Actor) -> Option<(&'static str, String)> {
    let may_open = requires.is_none_or(|permission| actor.permissions().contains(permission));
    let href = || if name.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{name}") };
    may_open.then(|| (*label, href()))
}

/// Labels and paths of the pages in the menu of a user.
pub(super) fn pages(actor: &Actor) -> impl Iterator<Item = (&'static str, String)> {
    let sections = GROUPS.into_iter().flat_map(|(_, sections)| sections);
    let others = OTHER_PAGES.into_iter().map(|(label, href)| (label, href.to_owned()));
    sections.filter_map(|section| link_to(section, actor)).chain(others)
}

/// Pages outside of the panel.
const OTHER_PAGES: [(&str, &str); 2] = [("Chat", "/chat"), ("Your account", Area::Account.root())];

/// Menu for a user; `current` is the open section.
fn of(actor: &Actor, current: &str) -> Vec<NavGroup> {
    let link = |section: &Section| {
        let (label, href) = link_to(section, actor)?;
        Some(NavLink { label: label.to_owned(), href, is_current: section.0 == current })
    };
    let group = |(title, sections): (&str, &[_])| NavGroup {
        title: title.to_owned(),
        links: sections.iter().filter_map(link).collect(),
    };
    let elsewhere = |(label, href): (&str, &str)| NavLink {
        label: label.to_owned(),
        href: href.to_owned(),
        is_current: false,
    };
    let other = OTHER_PAGES.into_iter().map(elsewhere).collect();
    let groups = GROUPS.into_iter().map(group).filter(|group| !group.links.is_empty());
    groups.chain([NavGroup { title: "Other pages".to_owned(), links: other }]).collect()
}

/// Label of a section.
pub(super) fn label(section: &str) -> &'static str {
    let mut sections = GROUPS.into_iter().flat_map(|(_, sections)| sections);
    sections.find(|(name, ..)| *name == section).map_or("", |(_, label, _)| label)
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
        self.render(status, context, Area::Panel, of(&self.actor, section), page)
    }
}
