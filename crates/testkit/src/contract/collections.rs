//! Contract of every repository of collections, and of the scopes of documents.

use super::records::{add_collections, add_documents, add_users, first};
use crate::builders::{at, collection, collection_id, coverage, document, group, id, user};
use CollectionRole::{Contributor, Manager, Viewer};
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::collection::{
    Collection, CollectionDescription, CollectionKind, CollectionName, CollectionRole, Member, Membership,
    RoleSource, SourcedRole,
};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::document::Document;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::{CollectionId, DocumentId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::listing::{CollectionFilter, DocumentFilter, DocumentQuery};
use docent_domain::scope::{AccountRoles, Scope};
use docent_ports::collections::CollectionSize;
use docent_ports::store::Store;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

pub(super) fn named(n: u32, name: &str) -> Collection {
    Collection { name: CollectionName::parse(name).unwrap(), ..collection(n) }
}

pub(super) fn in_collections(document: Document, collections: &[u32]) -> Document {
    Document { collections: collections.iter().map(|n| collection_id(*n)).collect(), ..document }
}

fn scope(collections: &[u32]) -> Scope {
    Scope::SERVICE.within(&collections.iter().map(|n| collection_id(*n)).collect::<Vec<_>>()).unwrap()
}

pub(super) async fn set(store: &dyn Store, n: u32, member: Member, role: Option<CollectionRole>) {
    let mut unit = store.begin().await.unwrap();
    unit.collections().set_member(collection_id(n), member, role).await.unwrap();
    unit.commit().await.unwrap();
}

/// All roles in a fixed order.
fn all(roles: AccountRoles) -> Vec<(CollectionId, CollectionRole)> {
    let mut all: Vec<_> = roles.iter().collect();
    all.sort();
    all
}

pub(super) async fn listed(store: &dyn Store, filter: DocumentFilter) -> Vec<DocumentId> {
    let found = store.read().await.unwrap().documents().list(&filter).await.unwrap();
    let mut ids: Vec<_> = found.iter().map(|document| document.id).collect();
    ids.sort();
    ids
}

crate::battery! {
    collections_contract in collections (Arc<dyn Store>);

    /// All fields are stored and replaced.
    async fn collection_round_trips(store) {
        add_users(&*store, &[user(1)]).await;
        let full = Collection {
            description: CollectionDescription::parse("Contracts – Verträge 合同").unwrap(),
            owner: Some(user(1).id),
            role_of_all: Some(Viewer),
            ..named(1, "Ünïcode \"x\" %_")
        };
        add_collections(&*store, &[full.clone(), collection(2)]).await;
        let changed = Collection { owner: None, role_of_all: None, updated_at: at(9), ..full.clone() };
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.collections().get(full.id).await.unwrap(), Some(full));
        assert!(unit.collections().update(&changed).await.unwrap());
        assert!(!unit.collections().update(&collection(3)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.collections().get(changed.id).await.unwrap(), Some(changed.clone()));
        assert_eq!(view.collections().get(collection_id(3)).await.unwrap(), None);
        let names = view.collections().names(&[changed.id, collection_id(3)]).await.unwrap();
        assert_eq!(names.into_iter().collect::<Vec<_>>(), [(changed.id, "Ünïcode \"x\" %_".to_owned())]);
    }

    /// The collection of everyone exists from the beginning, and a personal one from an account's creation.
    async fn everyone_and_personal_collections_exist(store) {
        add_users(&*store, &[user(1)]).await;
        let mut view = store.read().await.unwrap();
        let everyone = view.collections().get(CollectionId::EVERYONE).await.unwrap().unwrap();
        assert_eq!((everyone.kind, everyone.role_of_all), (CollectionKind::Everyone, Some(Contributor)));
        let personal = view.collections().get(CollectionId::personal(user(1).id)).await.unwrap().unwrap();
        assert_eq!(personal, Collection::personal(user(1).id, user(1).created_at));
        let roles = view.collections().roles(user(1).id).await.unwrap();
        assert_eq!(all(roles), [(CollectionId::EVERYONE, Contributor), (personal.id, Manager)]);
        drop(view);
        let mut unit = store.begin().await.unwrap();
        unit.users().delete(user(1).id).await.unwrap();
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert_eq!(view.collections().get(personal.id).await.unwrap().unwrap().owner, None);
        let roles = view.collections().roles(user(1).id).await.unwrap();
        assert_eq!(all(roles), [(CollectionId::EVERYONE, Contributor)]);
    }

    /// Roles come from ownership, membership, groups and the role of all, at once.
    async fn roles_are_of_owner_member_group_and_all(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let own = Collection { owner: Some(user(1).id), ..collection(1) };
        let open = Collection { role_of_all: Some(Viewer), ..collection(4) };
        add_collections(&*store, &[own, collection(2), collection(3), open, collection(5)]).await;
        let mut unit = store.begin().await.unwrap();
        unit.groups().insert(&group(1)).await.unwrap();
        let assigned = AssignedPermissions { groups: BTreeSet::from([group(1).id]), ..Default::default() };
        unit.groups().set_assigned_permissions(user(1).id, &assigned).await.unwrap();
        unit.commit().await.unwrap();
        set(&*store, 2, Member::User(user(1).id), Some(Viewer)).await;
        set(&*store, 2, Member::User(user(1).id), Some(Contributor)).await;
        set(&*store, 3, Member::Group(group(1).id), Some(Viewer)).await;
        set(&*store, 4, Member::Group(group(1).id), Some(Manager)).await;
        let of = async |n: u32| {
            let in_view = store.read().await.unwrap().collections().roles(user(n).id).await.unwrap();
            let latest = store.read_latest().await.unwrap().collections().roles(user(n).id).await.unwrap();
            let [in_view, latest] = [in_view, latest].map(|roles| {
                let mut roles = all(roles);
                roles.retain(|(of, _)| (1..=5).any(|n| *of == collection_id(n)));
                roles
            });
            assert_eq!(in_view, latest);
            latest
        };
        let each = [(1, Manager), (2, Contributor), (3, Viewer), (4, Viewer), (4, Manager)];
        let each = each.map(|(n, role)| (collection_id(n), role));
        assert_eq!(of(1).await, each);
        assert_eq!(of(2).await, [(collection_id(4), Viewer)]);
        let mut sourced = store.read().await.unwrap().collections().sourced_roles(user(1).id).await.unwrap();
        sourced.retain(|of| (1..=5).any(|n| of.collection == collection_id(n)));
        sourced.sort();
        let through_group = RoleSource::Group(group(1).id);
        let sources = [RoleSource::Owner, RoleSource::Member, through_group, RoleSource::Everyone, through_group];
        let expected = each.iter().zip(sources);
        let expected = expected.map(|(&(collection, role), source)| SourcedRole { collection, role, source });
        assert_eq!(sourced, expected.collect::<Vec<_>>());
        let members = store.read().await.unwrap().collections().members(collection_id(2)).await.unwrap();
        assert_eq!(members, [Membership { member: Member::User(user(1).id), role: Contributor }]);
        set(&*store, 2, Member::User(user(1).id), None).await;
        let mut unit = store.begin().await.unwrap();
        unit.groups().delete(group(1).id).await.unwrap();
        unit.commit().await.unwrap();
        assert_eq!(of(1).await, [(collection_id(1), Manager), (collection_id(4), Viewer)]);
    }

    /// The roles of groups are read for many groups, whether they have members or not.
    async fn roles_of_groups_are_read_together(store) {
        add_collections(&*store, &[collection(1), collection(2)]).await;
        let mut unit = store.begin().await.unwrap();
        for n in 1..=3 {
            unit.groups().insert(&group(n)).await.unwrap();
        }
        unit.commit().await.unwrap();
        for (n, of, role) in [(1, 1, Viewer), (2, 1, Manager), (2, 2, Contributor)] {
            set(&*store, n, Member::Group(group(of).id), Some(role)).await;
        }
        let asked = [group(1).id, group(3).id];
        let mut found = store.read().await.unwrap().collections().roles_of_groups(&asked).await.unwrap();
        let mut first = found.remove(&asked[0]).unwrap();
        first.sort();
        assert_eq!((first, found.len()), (vec![(collection_id(1), Viewer), (collection_id(2), Manager)], 0));
        let mut unit = store.begin().await.unwrap();
        assert_eq!(unit.collections().roles_of_groups(&[group(2).id]).await.unwrap().len(), 1);
    }

    /// Concurrent reads may share a statement, but each has the roles of its own account.
    // Invariant: Concurrent requests share database reads, but never a read that started before the request.
    async fn concurrent_latest_reads_return_their_own_roles(store) {
        let users: Vec<_> = (1..=100).map(user).collect();
        add_users(&*store, &users[..90]).await;
        let open = Collection { role_of_all: Some(Viewer), ..collection(1) };
        add_collections(&*store, &[open, collection(2)]).await;
        set(&*store, 2, Member::User(user(7).id), Some(Contributor)).await;
        let read_latest = |n: u32| {
            let store = Arc::clone(&store);
            async move {
                let roles = store.read_latest().await.unwrap().collections().roles(user(n).id).await;
                (n, roles.unwrap())
            }
        };
        let reads: Vec<_> = (0..300).map(|n| tokio::spawn(read_latest(1 + n % 100))).collect();
        for read in reads {
            let (n, roles) = read.await.unwrap();
            let mut expected = vec![(collection_id(1), Viewer), (CollectionId::EVERYONE, Contributor)];
            if n <= 90 {
                expected.push((CollectionId::personal(user(n).id), Manager));
            }
            if n == 7 {
                expected.push((collection_id(2), Contributor));
            }
            expected.sort();
            assert_eq!(all(roles), expected, "{n}");
        }
    }

    async fn unknown_members_and_collections_are_rejected(store) {
        add_collections(&*store, &[collection(1)]).await;
        for (of, member) in [(1, Member::User(id(9))), (1, Member::Group(id(9)))] {
            let mut unit = store.begin().await.unwrap();
            assert!(unit.collections().set_member(collection_id(of), member, Some(Viewer)).await.is_err());
        }
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().insert(&in_collections(document(1), &[9])).await.is_err());
        drop(unit);
        add_documents(&*store, &[document(2)]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().update(&in_collections(document(2), &[1, 9])).await.is_err());
    }

    /// Lists are sorted by kind and name, filtered, and say sizes.
    async fn page_filters_sorts_and_counts(store) {
        add_users(&*store, &[user(1)]).await;
        add_collections(&*store, &[named(1, "beta"), named(2, "Alpha"), named(3, "alphabet")]).await;
        add_documents(&*store, &[
            in_collections(document(1), &[1, 2]),
            in_collections(document(2), &[1]),
            in_collections(document(3), &[1]),
        ]).await;
        set(&*store, 2, Member::User(user(1).id), Some(Viewer)).await;
        let mut unit = store.begin().await.unwrap();
        unit.documents().mark_deleted(document(3).id, at(9)).await.unwrap();
        unit.commit().await.unwrap();
        let page = async |filter: CollectionFilter| {
            let page = store.read().await.unwrap().collections().page(&filter, first(9)).await.unwrap();
            assert_eq!(page.total, page.records.len() as u64);
            page.records.into_iter().map(|(of, size)| (of.name.as_str().to_owned(), size)).collect::<Vec<_>>()
        };
        let size = |members, documents| CollectionSize { members, documents };
        let entry = |name: &str, members, documents| (name.to_owned(), size(members, documents));
        assert_eq!(
            page(CollectionFilter::default()).await,
            [
                entry("Everyone", 0, 0),
                entry("Personal", 0, 0),
                entry("Alpha", 1, 1),
                entry("alphabet", 0, 0),
                entry("beta", 0, 2)
            ]
        );
        let named = CollectionFilter { name_contains: Some("ALPHA".to_owned()), ..Default::default() };
        assert_eq!(page(named.clone()).await, [entry("Alpha", 1, 1), entry("alphabet", 0, 0)]);
        for (limit, expected) in [(9, vec!["Alpha", "alphabet"]), (1, vec!["Alpha"])] {
            let listed = store.read().await.unwrap().collections().list(&named, limit).await.unwrap();
            assert_eq!(listed.iter().map(|of| of.name.as_str()).collect::<Vec<_>>(), expected);
        }
        let shared = CollectionFilter { kind: Some(CollectionKind::Personal), ..Default::default() };
        assert_eq!(page(shared).await, [entry("Personal", 0, 0)]);
        let readable = CollectionFilter { scope: Some(scope(&[3])), ..Default::default() };
        assert_eq!(page(readable).await, [entry("alphabet", 0, 0)]);
        let mut view = store.read().await.unwrap();
        assert_eq!(view.collections().only_here(collection_id(1)).await.unwrap(), 1);
        assert_eq!(view.collections().only_here(collection_id(2)).await.unwrap(), 0);
    }

    /// Documents leave a deleted collection, and their labels change.
    async fn documents_leave_deleted_collection(store) {
        add_collections(&*store, &[collection(1), collection(2)]).await;
        let kept = in_collections(document(1), &[1, 2]);
        add_documents(&*store, &[kept.clone(), in_collections(document(2), &[2])]).await;
        let mut unit = store.begin().await.unwrap();
        unit.documents().mark_deleted(document(2).id, at(9)).await.unwrap();
        assert!(unit.collections().delete(collection_id(2)).await.unwrap());
        assert!(!unit.collections().delete(collection_id(2)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let left = view.documents().get(kept.id).await.unwrap().unwrap();
        assert_eq!(left.collections, BTreeSet::from([collection_id(1)]));
        assert_eq!(left.labels_revision, kept.labels_revision + 1);
    }

    /// Lists, pages and searches have only documents of the scope, as the collections are now.
    async fn documents_are_limited_to_the_scope(store) {
        add_collections(&*store, &[collection(1), collection(2), collection(3)]).await;
        let ingested = |n| document(n).ingested(coverage(), at(5)).unwrap();
        let documents = [
            in_collections(ingested(1), &[1]),
            in_collections(ingested(2), &[2]),
            in_collections(ingested(3), &[1, 2]),
            in_collections(document(4), &[1]),
            ingested(5),
        ];
        add_documents(&*store, &documents).await;
        let ids = |numbers: &[u32]| numbers.iter().map(|n| id(*n)).collect::<Vec<DocumentId>>();
        for (of, expected) in [
            (scope(&[1]), vec![1, 3, 4]),
            (scope(&[2, 3]), vec![2, 3]),
            (scope(&[3]), vec![]),
            (scope(&[]), vec![]),
            (Scope::SERVICE.clone(), vec![1, 2, 3, 4, 5]),
        ] {
            assert_eq!(listed(&*store, DocumentFilter::of(of.clone())).await, ids(&expected));
            let mut view = store.read().await.unwrap();
            let all: Vec<VersionId> = (1..=6).map(id).collect();
            let found = view.documents().searchable(&all, &of).await.unwrap();
            let found: HashSet<DocumentId> = found.into_values().map(|version| version.document).collect();
            let readable = view.documents().readable(&ids(&[1, 2, 3, 4, 5, 6]), &of).await.unwrap();
            assert_eq!(readable, ids(&expected).into_iter().collect());
            let expected: HashSet<_> = ids(&expected).into_iter().filter(|document| *document != id(4)).collect();
            assert_eq!(found, expected);
            let versions = view.documents().versions(&ids(&[1, 2, 3, 4, 5, 6]), &of).await.unwrap();
            let versions: HashSet<VersionId> = versions.into_iter().collect();
            assert_eq!(versions, expected.into_iter().map(VersionId::first).collect());
        }
        let moved = Document { collections: BTreeSet::from([collection_id(3)]), ..documents[0].clone() };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.documents().update(&moved).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(listed(&*store, DocumentFilter::of(scope(&[1]))).await, ids(&[3, 4]));
        assert_eq!(listed(&*store, DocumentFilter::of(scope(&[3]))).await, ids(&[1]));
        let query = DocumentQuery { collection: Some(collection_id(2)), ..DocumentQuery::default() };
        let page = store.read().await.unwrap().documents().page(&query, first(9)).await.unwrap();
        assert_eq!((page.total, page.records.len()), (2, 2));
    }

    /// Every comparison selects what the domain's rule selects.
    // Invariant: Conditions select the same documents in lists and in searches, in every store.
    async fn conditions_select_what_the_rule_selects(store) {
        add_users(&*store, &[user(1)]).await;
        add_collections(&*store, &[collection(1)]).await;
        let key = |text: &str| AttributeKey::parse(text).unwrap();
        let text = |text: &str| AttributeValue::string(text).unwrap();
        let attributes = |values: Vec<(&str, AttributeValue)>| {
            Attributes::new(values.into_iter().map(|(name, value)| (key(name), value)).collect()).unwrap()
        };
        let number = AttributeValue::Number;
        let odd = "a'b\\ ü%_ 長";
        let documents = [
            Document { attributes: attributes(vec![("year", number(2023.0)), ("x.y", text(odd))]), ..document(1) },
            Document { attributes: attributes(vec![("year", text("2023")), ("x.y", number(-0.5))]), ..document(2) },
            Document {
                attributes: attributes(vec![("year", number(1e300)), ("done", AttributeValue::Boolean(true))]),
                owner: Some(user(1).id),
                ..in_collections(document(3), &[1]).ingested(coverage(), at(5)).unwrap()
            },
            Document { attributes: attributes(vec![("done", AttributeValue::Boolean(false))]), file: None, ..document(4) },
            document(5),
        ];
        add_documents(&*store, &documents).await;
        let labels = DocumentLabels::of;
        let values = [
            number(2023.0), number(1.0), number(0.0), number(-0.5), number(1e300), text("2023"), text(odd), text(""), text("de"),
            AttributeValue::Boolean(true), AttributeValue::Boolean(false), text(&user(1).id.to_string()),
            text(&CollectionId::EVERYONE.to_string()), text(documents[1].title.as_str()),
            number(documents[2].created_at.timestamp() as f64), number(f64::from(coverage().pages)),
        ];
        let keys = ["year", "x.y", "done", "none", "owner", "collection", "title", "file_name", "pages", "language", "created_at"];
        let mut selected = 0;
        for name in keys {
            for (operator, comparison) in Comparison::ALL {
                let lists = [values[..2].to_vec(), values[4..].to_vec(), Vec::new()];
                for values in values.iter().map(|value| vec![value.clone()]).chain(lists) {
                    let Ok(condition) = Condition::compare(key(name), *comparison, values.clone()) else { continue };
                    let expected: Vec<_> = documents.iter()
                        .filter(|document| condition.is_met_by(&labels(document)))
                        .map(|document| document.id)
                        .collect();
                    selected += expected.len();
                    let filter = DocumentFilter {
                        condition: Some(condition),
                        ..DocumentFilter::of(Scope::SERVICE.clone())
                    };
                    assert_eq!(listed(&*store, filter).await, expected, "{name} {operator} {values:?}");
                }
            }
        }
        assert!(selected > 100, "{selected}");
        let done = Condition::compare(key("done"), Comparison::Eq, vec![AttributeValue::Boolean(true)]).unwrap();
        let year = Condition::compare(key("year"), Comparison::Eq, vec![number(2023.0)]).unwrap();
        for (condition, expected) in [
            (Condition::Or(vec![done.clone(), year.clone()]), vec![id(1), id(3)]),
            (Condition::And(vec![done.clone(), year]), vec![]),
            (Condition::And(vec![Condition::Or(vec![done])]), vec![id(3)]),
            (Condition::Or(Vec::new()), vec![]),
            (Condition::And(Vec::new()), vec![id(1), id(2), id(3), id(4), id(5)]),
        ] {
            let filter = DocumentFilter { condition: Some(condition), ..DocumentFilter::of(Scope::SERVICE.clone()) };
            assert_eq!(listed(&*store, filter).await, expected);
        }
    }

    /// Labels are stale until the index has their revision.
    async fn stale_labels_are_those_of_other_revisions(store) {
        let ingested = |n| document(n).ingested(coverage(), at(5)).unwrap();
        add_documents(&*store, &[ingested(1), ingested(2), document(3)]).await;
        let stale = async || {
            let found = store.read().await.unwrap().documents().stale_labels(9).await.unwrap();
            found.iter().map(|document| document.id).collect::<Vec<_>>()
        };
        assert_eq!(stale().await, [id(1), id(2)]);
        let mut unit = store.begin().await.unwrap();
        unit.documents().set_indexed_labels(id(1), ingested(1).labels_revision).await.unwrap();
        unit.commit().await.unwrap();
        assert_eq!(stale().await, [id(2)]);
        let changed = ingested(1).labelled(ingested(1).collections, Attributes::default(), at(6));
        let mut unit = store.begin().await.unwrap();
        unit.documents().update(&changed).await.unwrap();
        unit.documents().set_indexed_labels(id(2), ingested(2).labels_revision).await.unwrap();
        unit.commit().await.unwrap();
        assert_eq!(stale().await, [id(1)]);
        let mut unit = store.begin().await.unwrap();
        unit.documents().forget_indexed_labels().await.unwrap();
        unit.commit().await.unwrap();
        assert_eq!(stale().await, [id(1), id(2)]);
    }
}
