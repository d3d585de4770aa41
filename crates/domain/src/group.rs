//! Groups of accounts and the permissions assigned to accounts.

use crate::error::ValidationError;
use crate::id::GroupId;
use crate::permission::PermissionSet;
use crate::text::parse_name;
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// Maximum length of a [`GroupName`] in characters.
pub const GROUP_NAME_MAX: usize = 150;

/// A group. Its members have its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// ID of the group.
    pub id: GroupId,
    /// Name of the group, unique regardless of case.
    pub name: GroupName,
    /// Permissions of its members.
    pub permissions: PermissionSet,
    /// Creation time.
    pub created_at: DateTime<Utc>,
}

/// The name of a group: trimmed, 1 to [`GROUP_NAME_MAX`] characters, no control or direction characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupName(String);

impl GroupName {
    /// Parses a name.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or contains control or direction characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        parse_name(text, GROUP_NAME_MAX).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the key for case-insensitive comparison.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

/// The permissions and groups assigned to an account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignedPermissions {
    /// Permissions assigned directly.
    pub permissions: PermissionSet,
    /// Groups of the account.
    pub groups: BTreeSet<GroupId>,
    /// Those of its groups whose members it adds and removes.
    pub managed: BTreeSet<GroupId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_trimmed_bounded_and_case_insensitive() {
        assert_eq!(GroupName::parse(" Editors ").unwrap().as_str(), "Editors");
        assert_eq!(GroupName::parse("Éditeurs").unwrap().key(), GroupName::parse("éditeurs").unwrap().key());
        for wrong in ["", "  ", "a\nb", "a\u{7f}", "Staff\u{202e}nimdA", "a\u{2066}b", &"x".repeat(151)] {
            assert!(GroupName::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
