//! Groups of accounts, and what accounts are allowed.

use crate::{error::ValidationError, id::GroupId, permission::PermissionSet, text::reorders};
use chrono::{DateTime, Utc};
use std::collections::BTreeSet;

/// The most characters that a [`GroupName`] has.
pub const GROUP_NAME_MAX: usize = 150;

/// A group: its members are allowed what it is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// What it is called; no two groups share a name, whatever the case of its letters.
    pub name: GroupName,
    /// What its members are allowed.
    pub permissions: PermissionSet,
    /// When it was created.
    pub created_at: DateTime<Utc>,
}

/// A group's name: trimmed, 1 to [`GROUP_NAME_MAX`] characters, none that control or reorder text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupName(String);

impl GroupName {
    /// Parses a name.
    ///
    /// # Errors
    /// When it is empty after trimming, too long, or holds characters that control or reorder text.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        name(text, GROUP_NAME_MAX).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What names are told apart by.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

/// A name that decides what people allow: it must look like what it is.
pub(crate) fn name(text: &str, longest: usize) -> Result<String, ValidationError> {
    let name = label("name", text, longest)?;
    if name.chars().any(reorders) {
        return Err(ValidationError::new("name", "must not hold characters that reorder text"));
    }
    Ok(name)
}

/// A short text that people call a thing by.
pub(crate) fn label(field: &'static str, text: &str, longest: usize) -> Result<String, ValidationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(ValidationError::new(field, "must not be empty"));
    }
    if text.chars().count() > longest {
        return Err(ValidationError::new(field, format!("must have at most {longest} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(ValidationError::new(field, "must not hold control characters"));
    }
    Ok(text.to_owned())
}

/// What an account was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssignedPermissions {
    /// Permissions of its own.
    pub permissions: PermissionSet,
    /// The groups that it is in.
    pub groups: BTreeSet<GroupId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_trimmed_bounded_and_compared_without_case() {
        assert_eq!(GroupName::parse(" Editors ").unwrap().as_str(), "Editors");
        assert_eq!(GroupName::parse("Éditeurs").unwrap().key(), GroupName::parse("éditeurs").unwrap().key());
        for wrong in ["", "  ", "a\nb", "a\u{7f}", "Staff\u{202e}nimdA", "a\u{2066}b", &"x".repeat(151)] {
            assert!(GroupName::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
