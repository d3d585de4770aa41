//! Confirmation page for irreversible actions.

use serde::Serialize;

/// Question with its consequences.
#[derive(Serialize)]
pub(crate) struct ConfirmPage<'c> {
    pub(crate) section: String,
    pub(crate) section_href: String,
    /// Name of the record.
    pub(crate) name: &'c str,
    pub(crate) question: String,
    pub(crate) consequences: Vec<String>,
    /// Target of the form.
    pub(crate) action: String,
    pub(crate) verb: String,
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
                section: "Groups".to_owned(),
                section_href: "/admin/groups".to_owned(),
                name: "Group",
                question: "Delete this group?".to_owned(),
                consequences: vec!["This cannot be undone.".to_owned()],
                action: "/admin/groups/1/delete".to_owned(),
                verb: "Delete the group".to_owned(),
                cancel: "/admin/groups/1".to_owned(),
            }]
        }
    }
}
