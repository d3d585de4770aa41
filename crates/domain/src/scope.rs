//! Which documents an actor may use, and how.
//!
//! Use cases that read documents take a [`Scope`], and stores apply it before they rank or count. It can be created only
//! from an actor's roles, or from a permission to see the documents of all accounts.

use crate::access::{Actor, Forbidden, Grant, Operation, ViewDocuments};
use crate::collection::CollectionRole;
use crate::document::Document;
use crate::id::CollectionId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// The documents that an actor may use: those of some collections with a role on each, or all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scope(Extent);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Extent {
    Everything,
    Collections(Readable),
}

/// The roles of an account on collections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountRoles {
    /// Roles of the account itself: as owner, as member and through groups. A collection can occur several times.
    pub own: Vec<(CollectionId, CollectionRole)>,
    /// The collections that every account has a role on.
    pub open: Arc<OpenCollections>,
    /// The collections that the account has hidden. It can still use them.
    pub hidden: BTreeSet<CollectionId>,
}

impl AccountRoles {
    /// All roles. A collection can occur several times.
    pub fn iter(&self) -> impl Iterator<Item = (CollectionId, CollectionRole)> {
        self.own.iter().copied().chain(self.open.iter())
    }
}

/// The collections that are open to all, with the role of every account on each. Scopes share it, since there can be many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenCollections(HashMap<CollectionId, CollectionRole>);

impl OpenCollections {
    /// Number of the collections.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no collection is open to all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The collections and the roles, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (CollectionId, CollectionRole)> {
        self.0.iter().map(|(collection, role)| (*collection, *role))
    }
}

impl FromIterator<(CollectionId, CollectionRole)> for OpenCollections {
    fn from_iter<I: IntoIterator<Item = (CollectionId, CollectionRole)>>(roles: I) -> Self {
        Self(roles.into_iter().collect())
    }
}

/// The collections of a scope.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readable {
    /// Collections with a role of the account itself.
    named: Arc<BTreeMap<CollectionId, CollectionRole>>,
    /// Collections with a role of every account.
    open: Arc<OpenCollections>,
    /// Only open collections with at least this role of every account; any role if `None`.
    least: Option<CollectionRole>,
    /// Open collections that do not belong to the scope.
    without: Arc<BTreeSet<CollectionId>>,
    /// Collections that the account has hidden.
    hidden: Arc<BTreeSet<CollectionId>>,
}

impl Readable {
    fn of(named: BTreeMap<CollectionId, CollectionRole>) -> Self {
        Self { named: Arc::new(named), ..Self::default() }
    }

    /// Collections that are listed one by one, in the order of their IDs. Their number is limited by what accounts can own
    /// and be members of.
    pub fn named(&self) -> impl ExactSizeIterator<Item = CollectionId> {
        self.named.keys().copied()
    }

    /// Whether a collection is among [`Self::named`].
    pub fn names(&self, collection: CollectionId) -> bool {
        self.named.contains_key(&collection)
    }

    /// Whether collections that are open to all belong to it.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// The role that every account must have on an open collection that belongs to it, if not just any.
    pub const fn least(&self) -> Option<CollectionRole> {
        self.least
    }

    /// Open collections that do not belong to it, unless they are among [`Self::named`].
    pub fn without(&self) -> impl ExactSizeIterator<Item = CollectionId> {
        self.without.iter().copied()
    }

    /// All collections, in no order. Their number is not limited.
    pub fn iter(&self) -> impl Iterator<Item = CollectionId> {
        let open = self.open.0.keys().copied();
        let open = open.filter(|id| !self.named.contains_key(id) && self.role_of_all(*id).is_some());
        self.named().chain(open)
    }

    fn role_in(&self, collection: CollectionId) -> Option<CollectionRole> {
        self.named.get(&collection).copied().max(self.role_of_all(collection))
    }

    fn role_of_all(&self, collection: CollectionId) -> Option<CollectionRole> {
        let role = self.open.0.get(&collection).copied().filter(|role| Some(*role) >= self.least)?;
        (!self.without.contains(&collection)).then_some(role)
    }
}

impl Scope {
    /// The collections that an actor has a role on, with the highest of its roles. Without those that its API key is not
    /// limited to.
    pub fn of(actor: &Actor, roles: AccountRoles) -> Self {
        let AccountRoles { own, open, hidden } = roles;
        let mut named: BTreeMap<CollectionId, CollectionRole> = BTreeMap::new();
        let mut add = |collection, role: CollectionRole| {
            let known = named.entry(collection).or_insert(role);
            *known = (*known).max(role);
        };
        for (collection, role) in own.into_iter().filter(|(collection, _)| actor.can_use(*collection)) {
            add(collection, role);
        }
        let Some(limits) = actor.limited_to() else {
            let (named, hidden) = (Arc::new(named), Arc::new(hidden));
            return Self(Extent::Collections(Readable { named, open, hidden, ..Readable::default() }));
        };
        // An API key names its collections, also hidden ones.
        for collection in limits {
            if let Some(role) = open.0.get(collection) {
                add(*collection, *role);
            }
        }
        Self(Extent::Collections(Readable::of(named)))
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
        Some(Self(Extent::Collections(Readable::of(roles?))))
    }

    /// Without the collections that the account has hidden.
    #[must_use]
    pub fn shown(&self) -> Self {
        match &self.0 {
            Extent::Collections(all) if !all.hidden.is_empty() => {
                let is_shown = |id: &CollectionId| !all.hidden.contains(id);
                let named = all.named.iter().filter(|(id, _)| is_shown(id));
                let named = Arc::new(named.map(|(id, role)| (*id, *role)).collect());
                Self(Extent::Collections(Readable { named, without: Arc::clone(&all.hidden), ..all.clone() }))
            }
            Extent::Collections(_) | Extent::Everything => self.clone(),
        }
    }

    /// Whether the account has hidden a collection.
    pub fn is_hidden(&self, collection: CollectionId) -> bool {
        matches!(&self.0, Extent::Collections(all) if all.hidden.contains(&collection))
    }

    /// Only collections with at least this role.
    #[must_use]
    pub fn at_least(&self, role: CollectionRole) -> Self {
        match &self.0 {
            Extent::Everything => self.clone(),
            Extent::Collections(all) => {
                let named = all.named.iter().filter(|(_, of)| **of >= role);
                let named = Arc::new(named.map(|(id, role)| (*id, *role)).collect());
                Self(Extent::Collections(Readable { named, least: Some(role), ..all.clone() }))
            }
        }
    }

    /// The readable collections; `None` for all.
    pub fn collections(&self) -> Option<&Readable> {
        match &self.0 {
            Extent::Everything => None,
            Extent::Collections(readable) => Some(readable),
        }
    }

    /// Whether no document can be in it.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Extent::Collections(all) if all.named.is_empty() && all.iter().next().is_none())
    }

    /// The role on a collection, if any.
    pub fn role_in(&self, collection: CollectionId) -> Option<CollectionRole> {
        match &self.0 {
            Extent::Everything => Some(CollectionRole::Manager),
            Extent::Collections(readable) => readable.role_in(collection),
        }
    }

    /// Whether documents in these collections may be read.
    pub fn contains(&self, collections: &BTreeSet<CollectionId>) -> bool {
        match &self.0 {
            Extent::Everything => true,
            Extent::Collections(readable) => collections.iter().any(|id| readable.role_in(*id).is_some()),
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
        Scope(Extent::Collections(Readable::of(roles)))
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

    /// A scope of a role of its own on 1, and of open collections: 2 for contributors, 3 and 4 for viewers. 1 and 3 are hidden.
    fn scope_with_open(actor: &Actor) -> Scope {
        let open = [(2, Contributor), (3, Viewer), (4, Viewer), (1, Viewer)];
        let open = open.map(|(n, role)| (collection(n), role)).into_iter().collect();
        let hidden = BTreeSet::from([collection(1), collection(3)]);
        Scope::of(actor, AccountRoles { own: vec![(collection(1), Manager)], open: Arc::new(open), hidden })
    }

    fn roles_of(scope: &Scope) -> Vec<(u128, CollectionRole)> {
        let roles: Vec<_> = (0..6).filter_map(|n| Some((n, scope.role_in(collection(n))?))).collect();
        let mut ids: Vec<_> = scope.collections().unwrap().iter().collect();
        ids.sort_unstable();
        assert_eq!(ids, roles.iter().map(|(n, _)| collection(*n)).collect::<Vec<_>>());
        for n in 0..6 {
            let is_in = roles.iter().any(|(id, _)| *id == n);
            assert_eq!(scope.contains(&BTreeSet::from([collection(n), collection(9)])), is_in);
        }
        roles
    }

    #[test]
    fn scope_has_own_and_open_collections() {
        let actor = Actor::of(&user(true, false, false)).unwrap();
        let scope = scope_with_open(&actor);
        assert_eq!(roles_of(&scope), [(1, Manager), (2, Contributor), (3, Viewer), (4, Viewer)]);
        assert_eq!(roles_of(&scope.at_least(Contributor)), [(1, Manager), (2, Contributor)]);
        assert_eq!(roles_of(&scope.within(&[collection(3)]).unwrap()), [(3, Viewer)]);
        assert_eq!(scope.within(&[collection(5)]), None);
        let open = scope_of_open([collection(2)]);
        assert!(!open.is_empty() && open.at_least(Manager).is_empty());
    }

    #[test]
    fn hidden_collections_are_usable_but_not_shown() {
        let actor = Actor::of(&user(true, false, false)).unwrap();
        let scope = scope_with_open(&actor);
        assert!(scope.is_hidden(collection(3)) && !scope.is_hidden(collection(2)));
        let shown = scope.shown();
        assert_eq!(roles_of(&shown), [(2, Contributor), (4, Viewer)]);
        assert_eq!(roles_of(&shown.at_least(Contributor)), [(2, Contributor)]);
        assert!(!shown.is_empty());
        assert_eq!(Scope::SERVICE.shown(), *Scope::SERVICE);
        let hidden = BTreeSet::from([collection(2)]);
        let only = AccountRoles { hidden, ..AccountRoles::default() };
        let all = AccountRoles {
            open: Arc::clone(&scope_of_open([collection(2)]).collections().unwrap().open),
            ..only
        };
        assert!(Scope::of(&actor, all).shown().is_empty());
    }

    fn scope_of_open(open: impl IntoIterator<Item = CollectionId>) -> Scope {
        let open = Arc::new(open.into_iter().map(|id| (id, Viewer)).collect());
        let actor = Actor::of(&user(true, false, false)).unwrap();
        Scope::of(&actor, AccountRoles { open, ..AccountRoles::default() })
    }

    #[test]
    fn limited_api_key_has_only_its_collections() {
        let limits = [1, 3, 5].map(collection);
        let key = ApiKey { collections: Some(BTreeSet::from(limits)), ..key(&["read"]) };
        let actor = Actor::of(&user(true, false, false)).unwrap().with_key(&key);
        let scope = scope_with_open(&actor);
        assert_eq!(roles_of(&scope), [(1, Manager), (3, Viewer)]);
        assert_eq!(scope.shown(), scope, "the key names its collections");
        assert!(!scope.collections().unwrap().has_open());
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
        let scope = Scope::of(&actor, AccountRoles::default());
        assert!(actor.authorize_on::<DeleteDocuments>(&scope, &document).is_ok());
        let both = Document { collections: BTreeSet::from([inside, outside]), ..document };
        assert!(actor.authorize_on::<DeleteDocuments>(&scope, &both).is_err());
    }
}
