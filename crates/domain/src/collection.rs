//! Collections: sets of documents, and who may use them.

use crate::error::ValidationError;
use crate::id::{CollectionId, GroupId, UserId};
use crate::text::{parse_label, parse_name};
use chrono::{DateTime, Utc};
use std::fmt;

/// Maximum length of a [`CollectionName`] in characters.
pub const COLLECTION_NAME_MAX: usize = 150;
/// Maximum length of a [`CollectionDescription`] in characters.
pub const COLLECTION_DESCRIPTION_MAX: usize = 1000;
/// Maximum number of accounts and groups that have a role on one collection.
pub const COLLECTION_MEMBERS_MAX: usize = 1000;
/// Maximum number of collections that one document is in.
pub const COLLECTIONS_OF_DOCUMENT_MAX: usize = 100;

/// Maximum number of shared collections that an account owns.
pub const COLLECTIONS_OF_ACCOUNT_MAX: u64 = 200;
/// Maximum number of collections that are open to all. Every search names them to the vector store.
pub const OPEN_COLLECTIONS_MAX: usize = 1000;
/// Maximum number of collections that an account has hidden.
pub const HIDDEN_COLLECTIONS_MAX: usize = 1000;

/// A set of documents. Only accounts with a role on a collection find its documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collection {
    /// ID of the collection.
    pub id: CollectionId,
    /// What it is for.
    pub kind: CollectionKind,
    /// Name of the collection; names need not be unique.
    pub name: CollectionName,
    /// What it contains; can be empty.
    pub description: CollectionDescription,
    /// Account that is always a manager of it; none if that account was deleted.
    pub owner: Option<UserId>,
    /// Role of every account, if it is open to all.
    pub role_of_all: Option<CollectionRole>,
    /// Creation time.
    pub created_at: DateTime<Utc>,
    /// Time of the last change of its settings.
    pub updated_at: DateTime<Utc>,
}

impl Collection {
    /// The collection that every installation has, as it is at first: each account reads, adds and asks.
    pub fn everyone(at: DateTime<Utc>) -> Self {
        Self {
            id: CollectionId::EVERYONE,
            kind: CollectionKind::Everyone,
            name: CollectionName("Everyone".to_owned()),
            description: CollectionDescription::default(),
            owner: None,
            role_of_all: Some(CollectionRole::Contributor),
            created_at: at,
            updated_at: at,
        }
    }

    /// The personal collection of an account.
    pub fn personal(owner: UserId, at: DateTime<Utc>) -> Self {
        Self {
            id: CollectionId::personal(owner),
            kind: CollectionKind::Personal,
            name: CollectionName("Personal".to_owned()),
            description: CollectionDescription::default(),
            owner: Some(owner),
            role_of_all: None,
            created_at: at,
            updated_at: at,
        }
    }
}

/// What a collection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectionKind {
    /// The one collection that each installation has from the beginning. It cannot be deleted.
    Everyone,
    /// The collection of one account. It cannot be deleted or given members.
    Personal,
    /// Any other.
    Shared,
}

impl CollectionKind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::Everyone, Self::Personal, Self::Shared];

    /// Name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Everyone => "everyone",
            Self::Personal => "personal",
            Self::Shared => "shared",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

/// What an account may do with a collection. Later roles include earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CollectionRole {
    /// Find, read and ask its documents.
    Viewer,
    /// Also add documents, and replace and delete own ones.
    Contributor,
    /// Also change and delete all documents, and change settings and members.
    Manager,
}

impl CollectionRole {
    /// All roles.
    pub const ALL: &[Self] = &[Self::Viewer, Self::Contributor, Self::Manager];

    /// Name of the role.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Contributor => "contributor",
            Self::Manager => "manager",
        }
    }

    /// Parses a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.name() == name)
    }
}

impl fmt::Display for CollectionRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An account or a group that has a role on a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Member {
    /// An account.
    User(UserId),
    /// All accounts of a group.
    Group(GroupId),
}

/// The role of an account or a group on a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The account or group.
    pub member: Member,
    /// Its role.
    pub role: CollectionRole,
}

/// Where a role of an account on a collection comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleSource {
    /// It owns the collection.
    Owner,
    /// It is a member.
    Member,
    /// It is in a group that is a member.
    Group(GroupId),
    /// The collection gives every account this role.
    Everyone,
}

/// A role of an account with its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcedRole {
    /// The collection.
    pub collection: CollectionId,
    /// The role.
    pub role: CollectionRole,
    /// Where it comes from.
    pub source: RoleSource,
}

/// The name of a collection: trimmed, 1 to [`COLLECTION_NAME_MAX`] characters, no control or direction characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionName(String);

impl CollectionName {
    /// Parses a name.
    ///
    /// # Errors
    /// If it is empty after trimming, too long, or contains control or direction characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        parse_name(text, COLLECTION_NAME_MAX).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The description of a collection: trimmed, at most [`COLLECTION_DESCRIPTION_MAX`] characters, no control or direction
/// characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CollectionDescription(String);

impl CollectionDescription {
    /// Parses a description, which can be empty.
    ///
    /// # Errors
    /// If it is too long, or contains control or direction characters.
    pub fn parse(text: &str) -> Result<Self, ValidationError> {
        match text.trim() {
            "" => Ok(Self::default()),
            text => parse_label("description", text, COLLECTION_DESCRIPTION_MAX).map(Self),
        }
    }

    /// The description.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_role_includes_earlier_ones() {
        assert!(CollectionRole::ALL.is_sorted());
        assert!(CollectionRole::Manager > CollectionRole::Viewer);
    }

    #[test]
    fn roles_and_kinds_round_trip_through_their_names() {
        for role in CollectionRole::ALL {
            assert_eq!(CollectionRole::parse(role.name()), Some(*role));
        }
        for kind in CollectionKind::ALL {
            assert_eq!(CollectionKind::parse(kind.name()), Some(*kind));
        }
        assert_eq!((CollectionRole::parse("owner"), CollectionKind::parse("")), (None, None));
    }

    #[test]
    fn description_can_be_empty_but_not_deceive() {
        assert_eq!(CollectionDescription::parse("  ").unwrap().as_str(), "");
        assert_eq!(CollectionDescription::parse(" Reports ").unwrap().as_str(), "Reports");
        for wrong in ["a\u{202e}b", "a\u{0}b", &"x".repeat(1001)] {
            assert!(CollectionDescription::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
