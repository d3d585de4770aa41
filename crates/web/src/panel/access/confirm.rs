//! Confirmation page for irreversible actions.

use serde::Serialize;

/// Question with its consequences.
#[derive(Serialize)]
pub(super) struct ConfirmPage<'c> {
    pub(super) section: &'static str,
    pub(super) section_href: String,
    /// Name of the record.
    pub(super) name: &'c str,
    pub(super) question: &'static str,
    pub(super) consequences: &'static [&'static str],
    /// Target of the form.
    pub(super) action: String,
    pub(super) verb: &'static str,
    /// Target of the Cancel link.
    pub(super) cancel: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::templates::tests::Samples;

    impl Samples for ConfirmPage<'_> {
        fn samples() -> Vec<Self> {
            vec![Self {
                section: "Groups",
                section_href: "/admin/groups".to_owned(),
                name: "Group",
                question: "Delete this group?",
                consequences: &["This cannot be undone."],
                action: "/admin/groups/1/delete".to_owned(),
                verb: "Delete the group",
                cancel: "/admin/groups/1".to_owned(),
            }]
        }
    }
}
