//! Words for roles, kinds and readers of collections.

use crate::signed_in::times::Time;
use chrono::{DateTime, Utc};
use docent_domain::collection::{Collection, CollectionKind, CollectionRole};

/// Choices of a role.
pub(super) fn roles() -> impl Iterator<Item = (String, String)> {
    let label = |role: &CollectionRole| match role {
        CollectionRole::Viewer => "viewer: reads documents",
        CollectionRole::Contributor => "contributor: also adds documents and changes own ones",
        CollectionRole::Manager => "manager: also changes all documents, settings and members",
    };
    CollectionRole::ALL.iter().map(move |role| (role.name().to_owned(), label(role).to_owned()))
}

/// Label of a kind.
pub(super) const fn kind(kind: CollectionKind) -> &'static str {
    match kind {
        CollectionKind::Everyone => "for everyone",
        CollectionKind::Personal => "personal",
        CollectionKind::Shared => "shared",
    }
}

/// When a collection was created; that of everyone exists from the beginning.
pub(super) fn created(collection: &Collection, now: DateTime<Utc>) -> Option<Time> {
    (collection.kind != CollectionKind::Everyone).then(|| Time::of(collection.created_at, now))
}

/// Who reads the documents of a collection with this number of members, without staff who may view all documents.
pub(in crate::panel) fn readers(collection: &Collection, members: u64) -> String {
    let of = |n: u64| if n == 1 { "1 member".to_owned() } else { format!("{n} members") };
    match (collection.role_of_all, collection.owner, members) {
        (Some(_), ..) => "every account".to_owned(),
        (None, None, 0) => "no account".to_owned(),
        (None, Some(_), 0) => "only its owner".to_owned(),
        (None, None, n) => of(n),
        (None, Some(_), n) => format!("its owner and {}", of(n)),
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
