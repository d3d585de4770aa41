//! Sections of the panel and the permissions they need.

use docent_domain::{access::Actor, permission::Permission};
use serde::Serialize;

/// Root path of the panel.
pub(super) const ROOT: &str = "/admin";

/// Section: path segment, label and required permission.
struct Section {
    name: &'static str,
    label: &'static str,
    requires: Option<Permission>,
}

const fn section(name: &'static str, label: &'static str, requires: Permission) -> Section {
    Section { name, label, requires: Some(requires) }
}

const GROUPS: &[(&str, &[Section])] = &[
    ("", &[Section { name: "", label: "Dashboard", requires: None }]),
    (
        "Content",
        &[
            section("documents", "Documents", Permission::ViewDocument),
            section("conversations", "Conversations", Permission::ViewConversation),
        ],
    ),
    (
        "Access",
        &[
            section("users", "Users", Permission::ViewUser),
            section("groups", "Groups", Permission::ViewGroup),
            section("api-keys", "API keys", Permission::ViewApiKey),
            section("sessions", "Sessions", Permission::ViewSession),
            section("verifications", "Verification tokens", Permission::ViewVerification),
        ],
    ),
    (
        "Operations",
        &[
            section("jobs", "Jobs", Permission::ViewJob),
            section("webhooks", "Webhooks", Permission::ViewWebhook),
            section("usage", "Usage", Permission::ViewUsage),
            section("audit", "Audit log", Permission::ViewAuditEntry),
        ],
    ),
];

/// Group of sections in the menu.
#[derive(Serialize)]
pub(super) struct NavGroup {
    title: &'static str,
    links: Vec<NavLink>,
}

#[derive(Serialize)]
struct NavLink {
    label: &'static str,
    href: String,
    is_current: bool,
}

/// Menu for a user; `current` is the open section.
pub(super) fn of(actor: &Actor, current: &str) -> Vec<NavGroup> {
    let allowed = actor.permissions();
    let is_visible =
        |section: &&Section| section.requires.is_none_or(|permission| allowed.contains(permission));
    let link = |section: &Section| NavLink {
        label: section.label,
        href: if section.name.is_empty() { ROOT.to_owned() } else { format!("{ROOT}/{}", section.name) },
        is_current: section.name == current,
    };
    GROUPS
        .iter()
        .map(|(title, sections)| NavGroup {
            title,
            links: sections.iter().filter(is_visible).map(link).collect(),
        })
        .filter(|group| !group.links.is_empty())
        .collect()
}

#[cfg(test)]
pub(super) fn sample() -> Vec<NavGroup> {
    let link = NavLink { label: "Documents", href: format!("{ROOT}/documents"), is_current: true };
    vec![NavGroup { title: "Content", links: vec![link] }]
}
