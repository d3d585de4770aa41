//! Which documents an actor may use, and how.
//!
//! Use cases that read documents take a [`Scope`], and stores apply it before they rank or count. It can be created only
//! from an actor's roles, or from a permission to see the documents of all accounts.

use crate::access::{Actor, Forbidden, Grant, Operation, ViewDocuments};
use crate::collection::CollectionRole;
use crate::document::Document;
use crate::id::CollectionId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The documents that an actor may use: those of some collections with a role on each, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(Extent);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Extent {
    Everything,
    Collections(Arc<BTreeMap<CollectionId, CollectionRole>>),
}

impl Scope {
    /// The collections that an actor has a role on, with the highest of its roles. Without those that its API key is not
    /// limited to.
    pub fn of(actor: &Actor, roles: impl IntoIterator<Item = (CollectionId, CollectionRole)>) -> Self {
        let mut highest: BTreeMap<CollectionId, CollectionRole> = BTreeMap::new();
        for (collection, role) in roles.into_iter().filter(|(collection, _)| actor.can_use(*collection)) {
            let known = highest.entry(collection).or_insert(role);
            *known = (*known).max(role);
        }
        Self(Extent::Collections(Arc::new(highest)))
    }

    /// All documents, for staff who may see those of all accounts.
    pub fn everything(_grant: Grant<ViewDocuments>) -> Self {
        Self(Extent::Everything)
    }

    /// All documents, for the service's own work, such as evaluations from the command line.
    pub const SERVICE: &'static Self = &Self(Extent::Everything);

    /// Only these collections of the scope. `None` if one of them is not in it.
    pub fn within(&self, collections: &[CollectionId]) -> Option<Self> {
        let roles: Option<BTreeMap<CollectionId, CollectionRole>> =
            collections.iter().map(|id| self.role_in(*id).map(|role| (*id, role))).collect();
        Some(Self(Extent::Collections(Arc::new(roles?))))
    }

    /// The readable collections in the order of their IDs; `None` for all.
    pub fn collections(&self) -> Option<impl ExactSizeIterator<Item = CollectionId>> {
        match &self.0 {
            Extent::Everything => None,
            Extent::Collections(roles) => Some(roles.keys().copied()),
        }
    }

    /// Whether no document can be in it.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Extent::Collections(roles) if roles.is_empty())
    }

    /// The role on a collection, if any.
    pub fn role_in(&self, collection: CollectionId) -> Option<CollectionRole> {
        match &self.0 {
            Extent::Everything => Some(CollectionRole::Manager),
            Extent::Collections(roles) => roles.get(&collection).copied(),
        }
    }

    /// Whether documents in these collections may be read.
    pub fn contains(&self, collections: &BTreeSet<CollectionId>) -> bool {
        match &self.0 {
            Extent::Everything => true,
            Extent::Collections(roles) => collections.iter().any(|collection| roles.contains_key(collection)),
        }
    }

    /// What the actor may do with a document; `None` if it may not know that the document exists.
    pub fn rights_on(&self, document: &Document) -> Option<DocumentRights> {
        if let Extent::Everything = self.0 {
            return Some(DocumentRights { highest: CollectionRole::Manager, manages_all: true });
        }
        let roles = || document.collections.iter().map(|collection| self.role_in(*collection));
        let highest = roles().flatten().max()?;
        Some(DocumentRights {
            highest,
            manages_all: roles().all(|role| role == Some(CollectionRole::Manager)),
        })
    }
}

/// What an actor may do with a document that it can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentRights {
    highest: CollectionRole,
    manages_all: bool,
}

impl DocumentRights {
    /// Whether it may change and delete the document if it owns it.
    pub fn can_change_own(self) -> bool {
        self.highest >= CollectionRole::Contributor
    }

    /// Whether it may change and delete the document, also of another owner: it manages every collection that has the document.
    pub const fn can_change_any(self) -> bool {
        self.manages_all
    }
}

impl Actor {
    /// Grants an operation that changes a document: its owner if it is a contributor to one of its collections, managers of
    /// all of its collections, and actors with the permission who can see it. An API key must be usable for all of its
    /// collections.
    ///
    /// # Errors
    /// For any other actor or API key scope.
    pub fn authorize_on<A: Operation>(
        &self,
        scope: &Scope,
        document: &Document,
    ) -> Result<Grant<A>, Forbidden> {
        if !document.collections.iter().all(|of| self.can_use(*of)) {
            return Err(Forbidden::MissingPermission);
        }
        let is_own = document.owner == Some(self.user());
        match scope.rights_on(document) {
            Some(rights) if rights.can_change_any() || (is_own && rights.can_change_own()) => {
                self.authorize_for(Some(self.user()))
            }
            Some(_) => self.authorize(),
            None => {
                self.authorize::<ViewDocuments>()?;
                self.authorize()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::DeleteDocuments;
    use crate::access::tests::{key, user};
    use crate::api_key::ApiKey;
    use crate::id::{DocumentId, UserId};
    use crate::text::Title;
    use CollectionRole::{Contributor, Manager, Viewer};
    use chrono::DateTime;
    use uuid::Uuid;

    fn collection(n: u128) -> CollectionId {
        CollectionId::from_uuid(Uuid::from_u128(n))
    }

    fn scope(roles: &[(u128, CollectionRole)]) -> Scope {
        let roles = roles.iter().map(|(n, role)| (collection(*n), *role)).collect();
        Scope(Extent::Collections(Arc::new(roles)))
    }

    fn document(collections: &[u128]) -> Document {
        let owner = UserId::from_uuid(Uuid::from_u128(1));
        let id = DocumentId::from_uuid(Uuid::from_u128(2));
        let collections = collections.iter().map(|n| collection(*n)).collect();
        let document =
            Document::new(id, owner, collection(0), Title::parse("t").unwrap(), None, DateTime::UNIX_EPOCH);
        Document { collections, ..document }
    }

    #[test]
    fn document_outside_is_unknown() {
        assert_eq!(scope(&[(1, Manager)]).rights_on(&document(&[2, 3])), None);
        assert_eq!(scope(&[]).rights_on(&document(&[1])), None);
        assert_eq!(scope(&[(1, Manager)]).rights_on(&document(&[])), None);
        assert!(!scope(&[(1, Manager)]).contains(&document(&[2]).collections));
    }

    #[test]
    fn manager_of_some_collections_cannot_change_documents_of_others() {
        let of = |roles: &[(u128, CollectionRole)]| scope(roles).rights_on(&document(&[1, 2])).unwrap();
        assert!(of(&[(1, Manager), (2, Manager)]).can_change_any());
        assert!(!of(&[(1, Manager), (2, Contributor)]).can_change_any());
        assert!(!of(&[(1, Manager)]).can_change_any());
        assert!(of(&[(1, Viewer), (2, Contributor)]).can_change_own());
        assert!(!of(&[(1, Viewer)]).can_change_own());
    }

    #[test]
    fn narrowed_scope_has_no_other_collection() {
        let wide = scope(&[(1, Viewer), (2, Manager)]);
        let narrow = wide.within(&[collection(2)]).unwrap();
        assert_eq!((narrow.role_in(collection(1)), narrow.role_in(collection(2))), (None, Some(Manager)));
        assert_eq!(wide.within(&[collection(2), collection(3)]), None);
        assert!(wide.within(&[]).unwrap().is_empty());
        assert_eq!(Scope::SERVICE.within(&[collection(9)]), Some(scope(&[(9, Manager)])));
    }

    #[test]
    fn permission_does_not_reach_beyond_the_collections_of_an_api_key() {
        let [inside, outside] = [1, 2].map(|n| CollectionId::from_uuid(uuid::Uuid::from_u128(n)));
        let key = ApiKey { collections: Some(BTreeSet::from([inside])), ..key(&["admin"]) };
        let actor = Actor::of(&user(true, true, true)).unwrap().with_key(&key);
        let id = crate::id::DocumentId::generate(DateTime::UNIX_EPOCH, [4; 10]);
        let owner = UserId::generate(DateTime::UNIX_EPOCH, [2; 10]);
        let title = crate::text::Title::parse("t").unwrap();
        let document = Document::new(id, owner, inside, title, None, DateTime::UNIX_EPOCH);
        let scope = Scope::of(&actor, []);
        assert!(actor.authorize_on::<DeleteDocuments>(&scope, &document).is_ok());
        let both = Document { collections: BTreeSet::from([inside, outside]), ..document };
        assert!(actor.authorize_on::<DeleteDocuments>(&scope, &both).is_err());
    }
}
