//! What an actor lacks to manage an account or a group.

use crate::permission::PermissionSet;
use std::fmt;

/// The part of an access that an actor does not have itself. It names no collection: the actor may not know
/// that it exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MissingAccess {
    /// Whether only superusers have the access.
    pub is_superuser: bool,
    /// The permissions that the actor lacks.
    pub permissions: PermissionSet,
    /// Whether the access includes a role on a collection that the actor has neither itself nor by
    /// permissions.
    pub has_roles: bool,
}

impl MissingAccess {
    /// Whether nothing is missing.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// The names of the permissions, separated by commas.
    pub fn permission_names(self) -> String {
        self.permissions.iter().map(|permission| permission.to_string()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for MissingAccess {
    /// Writes an object of "you lack": `the permissions documents.view_document, and a role on a collection`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.is_superuser {
            parts.push("the status of a superuser".to_owned());
        }
        if !self.permissions.is_empty() {
            parts.push(format!("the permissions {}", self.permission_names()));
        }
        if self.has_roles {
            let instead = "collections.view_collection and collections.change_collection";
            parts.push(format!("a role on a collection (or {instead})"));
        }
        f.write_str(&parts.join(", and "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::permission::Permission::{ViewConversation, ViewDocument};

    #[test]
    fn text_names_everything_that_is_missing() {
        let permissions: PermissionSet = [ViewDocument, ViewConversation].into_iter().collect();
        let missing = MissingAccess { permissions, has_roles: true, ..MissingAccess::default() };
        assert_eq!(
            missing.to_string(),
            "the permissions documents.view_document, chat.view_conversation, and a role on a collection \
             (or collections.view_collection and collections.change_collection)"
        );
        assert!(!missing.is_empty() && MissingAccess::default().is_empty());
        let superuser = MissingAccess { is_superuser: true, ..MissingAccess::default() };
        assert_eq!(superuser.to_string(), "the status of a superuser");
    }
}
