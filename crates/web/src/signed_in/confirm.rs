//! Confirmation page for irreversible actions.

use serde::Serialize;

/// Question with its consequences.
#[derive(Serialize)]
pub(crate) struct ConfirmPage<'c> {
    pub(crate) section: &'static str,
    pub(crate) section_href: String,
    /// Name of the record.
    pub(crate) name: &'c str,
    pub(crate) question: &'static str,
    pub(crate) consequences: &'static [&'static str],
    /// Target of the form.
    pub(crate) action: String,
    pub(crate) verb: &'static str,
    /// Target of the Cancel link.
    pub(crate) cancel: String,
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
