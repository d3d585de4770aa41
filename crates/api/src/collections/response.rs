//! Responses with collections.

use crate::timestamp::rfc3339;
use docent_domain::collection::{Collection, CollectionKind, CollectionRole};
use serde::Serialize;
use utoipa::ToSchema;

/// A collection of documents.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "01920f3e-5b7a-7c3d-9e21-4f6a8b0c2d4e",
    "kind": "shared",
    "name": "Contracts",
    "description": "",
    "role": "manager",
    "role_of_all": null,
    "created_at": "2026-01-01T00:00:00.000000Z",
    "updated_at": "2026-01-01T00:00:00.000000Z",
}))]
pub(crate) struct CollectionResponse<'a> {
    /// ID of the collection.
    #[schema(format = "uuid")]
    pub(super) id: String,
    /// `everyone` for the one that each installation has, `personal` for that of an account, otherwise `shared`.
    pub(super) kind: KindName,
    /// Name.
    #[schema(min_length = 1, max_length = 150)]
    pub(super) name: &'a str,
    /// Description; can be empty.
    #[schema(max_length = 1000)]
    pub(super) description: &'a str,
    /// Role of the account that asks.
    pub(super) role: RoleName,
    /// Role of every account; `null` if the collection is not open to all.
    #[schema(required)]
    pub(super) role_of_all: Option<RoleName>,
    /// Creation time.
    #[schema(format = "date-time")]
    pub(super) created_at: String,
    /// Time of the last change.
    #[schema(format = "date-time")]
    pub(super) updated_at: String,
}

/// Kind of a collection.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindName {
    /// The collection that each installation has.
    Everyone,
    /// The collection of one account.
    Personal,
    /// Any other.
    Shared,
}

/// What an account may do with a collection: `viewer` reads, `contributor` also adds documents and changes own ones, `manager` changes
/// everything.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleName {
    /// Finds and reads documents.
    Viewer,
    /// Also adds documents, and changes and deletes own ones.
    Contributor,
    /// Also changes and deletes all documents, settings and members.
    Manager,
}

impl From<CollectionRole> for RoleName {
    fn from(role: CollectionRole) -> Self {
        match role {
            CollectionRole::Viewer => Self::Viewer,
            CollectionRole::Contributor => Self::Contributor,
            CollectionRole::Manager => Self::Manager,
        }
    }
}

impl<'a> CollectionResponse<'a> {
    pub(super) fn of(collection: &'a Collection, role: CollectionRole) -> Self {
        Self {
            id: collection.id.to_string(),
            kind: match collection.kind {
                CollectionKind::Everyone => KindName::Everyone,
                CollectionKind::Personal => KindName::Personal,
                CollectionKind::Shared => KindName::Shared,
            },
            name: collection.name.as_str(),
            description: collection.description.as_str(),
            role: role.into(),
            role_of_all: collection.role_of_all.map(RoleName::from),
            created_at: rfc3339(collection.created_at),
            updated_at: rfc3339(collection.updated_at),
        }
    }
}
