//! Contract of every repository of collections, for those that are open to all or hidden.

use super::collections::{in_collections, listed, named, set};
use super::records::{add_collections, add_documents, add_users};
use crate::builders::{at, collection, collection_id, coverage, document, group, id, user};
use CollectionRole::{Contributor, Manager, Viewer};
use docent_domain::access::Actor;
use docent_domain::collection::{Collection, CollectionKind, CollectionRole, Member};
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::listing::{AccountCollections, CollectionFilter, DocumentFilter};
use docent_domain::scope::Scope;
use docent_ports::store::Store;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The names that the list of an account has, page by page.
async fn names_of_account(store: &dyn Store, query: AccountCollections) -> Vec<String> {
    let (mut query, mut names) = (query, Vec::new());
    loop {
        let page = store.read().await.unwrap().collections().list_of_account(&query).await.unwrap();
        assert!(page.len() as u64 <= query.limit);
        let Some(last) = page.last() else { return names };
        query.after = Some(query.position(&last.collection));
        names.extend(page.iter().map(|of| of.collection.name.as_str().to_owned()));
    }
}

crate::battery! {
    open_collections_contract in open_collections (Arc<dyn Store>);

    /// The role of every account counts from its commit until it is taken, in each kind of read, and not if it is rolled back.
    async fn role_of_all_counts_at_once(store) {
        add_users(&*store, &[user(1)]).await;
        add_collections(&*store, &[collection(1)]).await;
        let open_to = |role: Option<CollectionRole>| Collection { role_of_all: role, ..collection(1) };
        let role = async || {
            let roles = store.read_latest().await.unwrap().collections().roles(user(1).id).await.unwrap();
            let in_view = store.read().await.unwrap().collections().roles(user(1).id).await.unwrap();
            let [latest, in_view] = [roles, in_view].map(|of| of.open.iter().find(|(id, _)| *id == collection_id(1)));
            assert_eq!(latest, in_view);
            latest.map(|(_, role)| role)
        };
        for role_of_all in [Some(Viewer), Some(Manager), None, Some(Viewer), None] {
            let before = role().await;
            let mut unit = store.begin().await.unwrap();
            unit.collections().update(&open_to(role_of_all)).await.unwrap();
            let within = unit.collections().roles(user(1).id).await.unwrap();
            assert_eq!(within.open.iter().any(|(id, _)| id == collection_id(1)), role_of_all.is_some());
            drop(unit);
            assert_eq!(role().await, before, "rolled back");
            let mut unit = store.begin().await.unwrap();
            unit.collections().update(&open_to(role_of_all)).await.unwrap();
            unit.commit().await.unwrap();
            assert_eq!(role().await, role_of_all);
        }
        let open = Collection { role_of_all: Some(Viewer), ..collection(2) };
        add_collections(&*store, std::slice::from_ref(&open)).await;
        let has_open = async || {
            let roles = store.read_latest().await.unwrap().collections().roles(user(1).id).await.unwrap();
            roles.open.iter().any(|(id, _)| id == open.id)
        };
        assert!(has_open().await);
        let mut unit = store.begin().await.unwrap();
        assert!(unit.collections().delete(open.id).await.unwrap());
        unit.commit().await.unwrap();
        assert!(!has_open().await);
    }

    /// A hidden collection stays a role of the account, and hiding is its own.
    async fn hidden_collections_are_those_of_the_account(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let open = Collection { role_of_all: Some(Viewer), ..collection(1) };
        add_collections(&*store, &[open, collection(2)]).await;
        let hide = async |n: u32, of: u32, is_hidden: bool| {
            let mut unit = store.begin().await.unwrap();
            unit.collections().set_hidden(user(n).id, collection_id(of), is_hidden).await.unwrap();
            unit.commit().await.unwrap();
        };
        let hidden = async |n: u32| {
            let roles = store.read_latest().await.unwrap().collections().roles(user(n).id).await.unwrap();
            assert!(roles.open.iter().any(|(id, _)| id == collection_id(1)));
            roles.hidden.into_iter().collect::<Vec<_>>()
        };
        for _ in 0..2 {
            hide(1, 1, true).await;
        }
        hide(1, 2, true).await;
        hide(2, 1, true).await;
        assert_eq!(hidden(1).await, [collection_id(1), collection_id(2)]);
        assert_eq!(hidden(2).await, [collection_id(1)]);
        let by = store.read().await.unwrap().collections().hidden_by(collection_id(1)).await.unwrap();
        let mut users = vec![user(1).id, user(2).id];
        users.sort();
        assert_eq!(by, users);
        hide(1, 1, false).await;
        hide(1, 1, false).await;
        assert_eq!(hidden(1).await, [collection_id(2)]);
        for (of, hides) in [(user(9).id, collection_id(1)), (user(1).id, collection_id(9))] {
            let mut unit = store.begin().await.unwrap();
            assert!(unit.collections().set_hidden(of, hides, true).await.is_err());
        }
        let mut unit = store.begin().await.unwrap();
        unit.collections().delete(collection_id(2)).await.unwrap();
        unit.users().delete(user(2).id).await.unwrap();
        unit.commit().await.unwrap();
        assert!(hidden(1).await.is_empty());
        let by = store.read().await.unwrap().collections().hidden_by(collection_id(1)).await.unwrap();
        assert!(by.is_empty());
    }

    /// The list of an account has its own collections before those that are open to all, each group by name.
    async fn list_of_account_has_own_collections_first(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let owned = |n, name| Collection { owner: Some(user(1).id), ..named(n, name) };
        let open = |n, name| Collection { role_of_all: Some(Viewer), ..named(n, name) };
        add_collections(&*store, &[
            owned(1, "zebra"), owned(2, "Yak"), named(3, "gnu"), named(4, "Ibex"), named(5, "other"),
            open(6, "beta"), open(7, "Alpha"), open(8, "alpha"), open(9, "Ünï"), open(10, "kept"),
            Collection { owner: Some(user(1).id), ..open(11, "aa") },
        ]).await;
        let mut unit = store.begin().await.unwrap();
        unit.groups().insert(&group(1)).await.unwrap();
        let assigned = AssignedPermissions { groups: BTreeSet::from([group(1).id]), ..Default::default() };
        unit.groups().set_assigned_permissions(user(1).id, &assigned).await.unwrap();
        unit.commit().await.unwrap();
        set(&*store, 3, Member::User(user(1).id), Some(Viewer)).await;
        set(&*store, 4, Member::Group(group(1).id), Some(Viewer)).await;
        set(&*store, 10, Member::User(user(1).id), Some(Manager)).await;
        add_documents(&*store, &[in_collections(document(1), &[3, 7])]).await;
        let actor = Actor::of(&user(1)).unwrap();
        let mut roles = store.read().await.unwrap().collections().roles(user(1).id).await.unwrap();
        roles.hidden = BTreeSet::from([collection_id(6), collection_id(4)]);
        let scope = Scope::of(&actor, roles);
        let query = |scope: &Scope, limit: u64| AccountCollections {
            user: user(1).id, scope: scope.clone(), name_contains: None, after: None, limit,
        };
        let own = ["Everyone", "Personal", "aa", "Yak", "zebra", "gnu", "Ibex", "kept"];
        let others = ["Alpha", "alpha", "beta", "Ünï"];
        for limit in [1, 2, 3, 5, 8, 100] {
            assert_eq!(names_of_account(&*store, query(&scope, limit)).await, [&own[..], &others[..]].concat(), "{limit}");
            let shown = names_of_account(&*store, query(&scope.shown(), limit)).await;
            let expected = [&own[..6], &own[7..], &others[..2], &others[3..]].concat();
            assert_eq!(shown, expected, "{limit}");
        }
        let found = AccountCollections { name_contains: Some("AL".to_owned()), ..query(&scope, 1) };
        assert_eq!(names_of_account(&*store, found).await, ["Personal", "Alpha", "alpha"]);
        let managed = query(&scope.at_least(Contributor), 4);
        assert_eq!(names_of_account(&*store, managed).await, ["Everyone", "Personal", "aa", "Yak", "zebra", "kept"]);
        let few = query(&scope.within(&[collection_id(7), collection_id(1)]).unwrap(), 4);
        assert_eq!(names_of_account(&*store, few).await, ["zebra", "Alpha"]);
        let all = store.read().await.unwrap().collections().list_of_account(&query(&scope, 100)).await.unwrap();
        let of = |n| {
            let found = all.iter().find(|of| of.collection.id == collection_id(n)).unwrap();
            (found.is_member, found.size.members, found.size.documents)
        };
        assert_eq!([of(3), of(4), of(7), of(10), of(1)], [
            (true, 1, 1), (false, 1, 0), (false, 0, 1), (true, 1, 0), (false, 0, 0),
        ]);
        let mut view = store.read().await.unwrap();
        assert_eq!(view.collections().count_owned(user(1).id).await.unwrap(), 3, "the personal one is not counted");
        assert_eq!(view.collections().count_owned(user(2).id).await.unwrap(), 0);
    }

    /// Documents and collections are read through open collections as well, unless these are hidden or have a lower role.
    async fn open_collections_are_part_of_the_scope(store) {
        add_users(&*store, &[user(1)]).await;
        let open = |n, role| Collection { role_of_all: Some(role), ..collection(n) };
        add_collections(&*store, &[open(1, Viewer), open(2, Contributor), collection(3), open(4, Viewer)]).await;
        let ingested = |n| document(n).ingested(coverage(), at(5)).unwrap();
        add_documents(&*store, &[
            in_collections(ingested(1), &[1]),
            in_collections(ingested(2), &[2]),
            in_collections(ingested(3), &[3]),
            in_collections(ingested(4), &[3, 4]),
            in_collections(ingested(5), &[1, 4]),
        ]).await;
        let mut roles = store.read().await.unwrap().collections().roles(user(1).id).await.unwrap();
        roles.hidden = BTreeSet::from([collection_id(1)]);
        let scope = Scope::of(&Actor::of(&user(1)).unwrap(), roles);
        let ids = |numbers: &[u32]| numbers.iter().map(|n| id(*n)).collect::<Vec<DocumentId>>();
        for (scope, expected, collections) in [
            (scope.clone(), vec![1, 2, 4, 5], vec![1, 2, 4]),
            (scope.shown(), vec![2, 4, 5], vec![2, 4]),
            (scope.at_least(Contributor), vec![2], vec![2]),
            (scope.at_least(Manager), vec![], vec![]),
        ] {
            assert_eq!(listed(&*store, DocumentFilter::of(scope.clone())).await, ids(&expected));
            let mut view = store.read().await.unwrap();
            let all: Vec<VersionId> = (1..=5).map(id).collect();
            let found = view.documents().searchable(&all, &scope).await.unwrap();
            let found: HashSet<DocumentId> = found.into_values().map(|version| version.document).collect();
            assert_eq!(found, ids(&expected).into_iter().collect());
            let readable = view.documents().readable(&ids(&[1, 2, 3, 4, 5]), &scope).await.unwrap();
            assert_eq!(readable, ids(&expected).into_iter().collect());
            let kind = Some(CollectionKind::Shared);
            let filter = CollectionFilter { scope: Some(scope), kind, ..Default::default() };
            let found = view.collections().list(&filter, 9).await.unwrap();
            let mut found: Vec<_> = found.iter().map(|of| of.id).collect();
            found.sort();
            let mut expected: Vec<_> = collections.into_iter().map(collection_id).collect();
            expected.sort();
            assert_eq!(found, expected);
        }
    }
}
