//! Permissions to view, add, change, open or delete records of a kind.

use std::fmt;

/// What a permission allows on records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Action {
    /// Viewing records.
    View,
    /// Adding records.
    Add,
    /// Changing records.
    Change,
    /// Opening records to all accounts.
    Open,
    /// Deleting or revoking records.
    Delete,
}

impl Action {
    /// Name of the action: the first part of a permission's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::View => "view",
            Self::Add => "add",
            Self::Change => "change",
            Self::Open => "open",
            Self::Delete => "delete",
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident: $area:literal $name:literal, [$($action:ident $permission:ident),+];)+) => {
        /// A kind of record.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum RecordKind {
            $($(#[$doc])* $kind,)+
        }

        impl RecordKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// Area of the service that it belongs to.
            pub const fn area(self) -> &'static str {
                match self { $(Self::$kind => $area,)+ }
            }

            /// Name of the kind: one word in lower case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }
        }

        /// A permission. Not every kind of record has every action.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[allow(missing_docs, reason = "a name says the action and the kind of record")]
        pub enum Permission {
            $($($permission,)+)+
        }

        impl Permission {
            /// All permissions, grouped by kind.
            pub const ALL: &[Self] = &[$($(Self::$permission),+),+];

            /// The action that it allows.
            pub const fn action(self) -> Action {
                match self { $($(Self::$permission => Action::$action,)+)+ }
            }

            /// The kind of record that it applies to.
            pub const fn kind(self) -> RecordKind {
                match self { $($(Self::$permission)|+ => RecordKind::$kind,)+ }
            }
        }
    };
}

kinds! {
    /// Documents.
    Document: "documents" "document",
        [View ViewDocument, Add AddDocument, Change ChangeDocument, Delete DeleteDocument];
    /// Collections of documents and their members.
    Collection: "collections" "collection",
        [
            View ViewCollection, Add AddCollection, Change ChangeCollection, Open OpenCollection,
            Delete DeleteCollection
        ];
    /// Accounts.
    User: "accounts" "user", [View ViewUser, Add AddUser, Change ChangeUser, Delete DeleteUser];
    /// Groups of accounts.
    Group: "accounts" "group", [View ViewGroup, Add AddGroup, Change ChangeGroup, Delete DeleteGroup];
    /// API keys.
    ApiKey: "accounts" "apikey", [View ViewApiKey, Add AddApiKey, Delete DeleteApiKey];
    /// Invitations.
    Invitation: "accounts" "invitation",
        [View ViewInvitation, Add AddInvitation, Delete DeleteInvitation];
    /// Verification tokens.
    Verification: "accounts" "verificationtoken",
        [View ViewVerification, Add AddVerification, Delete DeleteVerification];
    /// Sessions.
    Session: "accounts" "session", [View ViewSession, Delete DeleteSession];
    /// Conversations and their messages.
    Conversation: "chat" "conversation", [View ViewConversation, Delete DeleteConversation];
    /// Usage records.
    Usage: "usage" "usagerecord", [View ViewUsage];
    /// Webhooks and their deliveries.
    Webhook: "webhooks" "webhook",
        [View ViewWebhook, Change ChangeWebhook, Delete DeleteWebhook];
    /// Background jobs.
    Job: "jobs" "job", [View ViewJob];
    /// Audit log entries.
    AuditEntry: "audit" "auditentry", [View ViewAuditEntry];
}

impl RecordKind {
    /// Returns the kind with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl Permission {
    /// Returns the permission with this name, such as `documents.view_document`, or `None` if it is unknown.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|permission| permission.to_string() == name)
    }
}

impl fmt::Display for Permission {
    /// Writes the name, such as `documents.view_document`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        write!(f, "{}.{}_{}", kind.area(), self.action().name(), kind.name())
    }
}

/// A set of permissions.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct PermissionSet(u64);

// One bit per permission.
const _: () = assert!(Permission::ALL.len() <= 64);

impl PermissionSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set of all permissions.
    pub fn all() -> Self {
        Permission::ALL.iter().copied().collect()
    }

    /// Whether the set contains `permission`.
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & (1 << permission as u32) != 0
    }

    /// Whether the set contains all permissions of `other`.
    pub const fn contains_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the permissions in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the permissions in this set but not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Iterates over the permissions in the order of [`Permission::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |set, permission| set | 1 << permission as u32))
    }
}

impl fmt::Debug for PermissionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_round_trips_through_name() {
        assert_eq!(Permission::ViewDocument.to_string(), "documents.view_document");
        assert_eq!(Permission::DeleteApiKey.to_string(), "accounts.delete_apikey");
        for permission in Permission::ALL {
            assert_eq!(Permission::parse(&permission.to_string()), Some(*permission));
        }
        assert_eq!(Permission::parse("documents.eat_document"), None);
    }

    #[test]
    fn permission_set_contains_only_added_permissions() {
        let set: PermissionSet = [Permission::ViewAuditEntry, Permission::ViewDocument].into_iter().collect();
        assert!(set.contains(Permission::ViewDocument) && !set.contains(Permission::AddDocument));
        let names: Vec<String> = set.iter().map(|permission| permission.to_string()).collect();
        assert_eq!(names, ["documents.view_document", "audit.view_auditentry"]);
        assert!(PermissionSet::all().contains_all(set) && !set.contains_all(PermissionSet::all()));
        assert!(set.without(PermissionSet::all()).is_empty());
    }
}
