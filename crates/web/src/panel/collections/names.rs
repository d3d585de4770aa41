//! Words for roles, kinds and readers of collections.

use crate::language::{self, t};
use crate::times::Time;
use chrono::{DateTime, Utc};
use docent_domain::collection::{Collection, CollectionKind, CollectionRole};

/// Choices of a role.
pub(in crate::panel) fn roles() -> impl Iterator<Item = (String, String)> {
    let label = |role: &CollectionRole| match role {
        CollectionRole::Viewer => t!("role-choice-viewer"),
        CollectionRole::Contributor => t!("role-choice-contributor"),
        CollectionRole::Manager => t!("role-choice-manager"),
    };
    CollectionRole::ALL.iter().map(move |role| (role.name().to_owned(), label(role)))
}

/// Label of a role.
pub(in crate::panel) fn role_name(role: CollectionRole) -> String {
    language::named("role-", role.name())
}

/// Label of a kind.
pub(super) fn kind(kind: CollectionKind) -> String {
    language::named("collection-kind-", kind.name())
}

/// When a collection was created; that of everyone exists from the beginning.
pub(super) fn created(collection: &Collection, now: DateTime<Utc>) -> Option<Time> {
    (collection.kind != CollectionKind::Everyone).then(|| Time::of(collection.created_at, now))
}

/// Who reads the documents of a collection with this number of members, without staff who may view all documents.
pub(in crate::panel) fn readers(collection: &Collection, members: u64) -> String {
    match (collection.role_of_all, collection.owner, members) {
        (Some(_), ..) => t!("reads-every-account"),
        (None, None, 0) => t!("reads-no-account"),
        (None, Some(_), 0) => t!("reads-owner"),
        (None, None, n) => t!("reads-members", count = n),
        (None, Some(_), n) => t!("reads-owner-and-members", count = n),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_domain::id::UserId;

    #[test]
    fn readers_are_everyone_or_owner_and_members() {
        let everyone = Collection::everyone(DateTime::UNIX_EPOCH);
        let owned = Collection::personal(UserId::from_uuid(uuid::Uuid::nil()), DateTime::UNIX_EPOCH);
        let orphaned = Collection { owner: None, ..owned.clone() };
        for (collection, members, expected) in [
            (&everyone, 3, "every account"),
            (&owned, 0, "only its owner"),
            (&owned, 1, "its owner and 1 member"),
            (&orphaned, 2, "2 members"),
            (&orphaned, 0, "no account"),
        ] {
            assert_eq!(readers(collection, members), expected);
        }
    }
}
