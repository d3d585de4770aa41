//! Contract of every repository of groups and permissions.

use super::records::{add_users, first};
use crate::builders::{at, group, id, user};
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::listing::PageRequest;
use docent_domain::permission::{Permission, PermissionSet};
use docent_ports::store::Store;
use std::sync::Arc;

async fn add_groups(store: &dyn Store, groups: &[Group]) {
    let mut unit = store.begin().await.unwrap();
    for group in groups {
        assert!(unit.groups().insert(group).await.unwrap());
    }
    unit.commit().await.unwrap();
}

async fn give(store: &dyn Store, n: u32, rights: &AssignedPermissions) {
    let mut unit = store.begin().await.unwrap();
    unit.groups().set_assigned_permissions(user(n).id, rights).await.unwrap();
    unit.commit().await.unwrap();
}

fn set(permissions: &[Permission]) -> PermissionSet {
    permissions.iter().copied().collect()
}

crate::battery! {
    groups_contract in groups (Arc<dyn Store>);

    /// All fields are stored, with all permissions or none.
    async fn group_round_trips(store) {
        let groups =
            [group(1), Group { permissions: PermissionSet::all(), created_at: at(9), ..group(2) }];
        add_groups(&*store, &groups).await;
        let mut view = store.read().await.unwrap();
        for group in groups {
            assert_eq!(view.groups().get(group.id).await.unwrap().as_ref(), Some(&group));
            assert_eq!(view.groups().by_name(&group.name).await.unwrap(), Some(group));
        }
        assert_eq!(view.groups().get(id(3)).await.unwrap(), None);
    }

    /// Names are unique regardless of case; the unit of work can continue.
    async fn insert_rejects_used_name_ignoring_case(store) {
        let named = |n, name: &str| Group { name: GroupName::parse(name).unwrap(), ..group(n) };
        add_groups(&*store, &[named(1, "Éditeurs")]).await;
        let mut unit = store.begin().await.unwrap();
        assert!(!unit.groups().insert(&named(2, "éDITEURS")).await.unwrap());
        assert!(unit.groups().insert(&group(3)).await.unwrap());
        unit.commit().await.unwrap();
        let thief = Group { id: group(3).id, ..named(1, "éditeurs") };
        assert!(store.begin().await.unwrap().groups().update(&thief).await.is_err());
        let mut view = store.read().await.unwrap();
        assert_eq!(view.groups().list(None, first(9)).await.unwrap().total, 2);
    }

    async fn update_replaces_all_fields(store) {
        add_groups(&*store, &[Group { permissions: set(&[Permission::ViewUser]), ..group(1) }]).await;
        let changed = Group { id: group(1).id, permissions: set(&[Permission::AddUser]), ..group(2) };
        let mut unit = store.begin().await.unwrap();
        assert!(unit.groups().update(&changed).await.unwrap());
        assert!(!unit.groups().update(&group(3)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(store.read().await.unwrap().groups().get(changed.id).await.unwrap(), Some(changed));
    }

    async fn permissions_combine_account_and_groups(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        let of_group = set(&[Permission::ViewUser, Permission::ViewDocument]);
        add_groups(&*store, &[Group { permissions: of_group, ..group(1) }, group(2)]).await;
        let own = set(&[Permission::ViewDocument, Permission::AddDocument]);
        let rights = AssignedPermissions { permissions: own, groups: [id(1), id(2)].into(), managed: [id(2)].into() };
        give(&*store, 1, &rights).await;
        let mut view = store.read().await.unwrap();
        assert_eq!(view.groups().assigned_permissions(user(1).id).await.unwrap(), rights);
        assert_eq!(view.groups().permissions(user(1).id).await.unwrap(), own.union(of_group));
        assert_eq!(view.groups().assigned_permissions(user(2).id).await.unwrap(), AssignedPermissions::default());
        assert_eq!(view.groups().permissions(user(2).id).await.unwrap(), PermissionSet::EMPTY);
        drop(view);

        give(&*store, 1, &AssignedPermissions { groups: [id(2)].into(), ..AssignedPermissions::default() }).await;
        let mut view = store.read().await.unwrap();
        assert!(view.groups().permissions(user(1).id).await.unwrap().is_empty());
    }

    async fn deleted_group_grants_nothing(store) {
        add_users(&*store, &[user(1)]).await;
        add_groups(&*store, &[Group { permissions: PermissionSet::all(), ..group(1) }, group(2)]).await;
        give(&*store, 1, &AssignedPermissions { groups: [id(1), id(2)].into(), ..AssignedPermissions::default() }).await;
        let mut unit = store.begin().await.unwrap();
        assert!(unit.groups().delete(id(1)).await.unwrap());
        assert!(!unit.groups().delete(id(1)).await.unwrap());
        unit.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        assert!(view.groups().permissions(user(1).id).await.unwrap().is_empty());
        assert_eq!(view.groups().assigned_permissions(user(1).id).await.unwrap().groups, [id(2)].into());
    }

    async fn managers_are_members(store) {
        add_users(&*store, &[user(1), user(2), user(3)]).await;
        add_groups(&*store, &[group(1), group(2)]).await;
        for (n, groups, managed) in [(1, vec![id(1), id(2)], vec![id(1)]), (2, vec![id(1)], vec![]), (3, vec![id(2)], vec![id(1)])] {
            let groups = groups.into_iter().collect();
            let managed = managed.into_iter().collect();
            give(&*store, n, &AssignedPermissions { groups, managed, ..AssignedPermissions::default() }).await;
        }
        let mut view = store.read().await.unwrap();
        assert_eq!(view.groups().managers(id(1)).await.unwrap(), [user(1).id].into());
        assert!(view.groups().managers(id(2)).await.unwrap().is_empty());
        assert!(view.groups().assigned_permissions(user(3).id).await.unwrap().managed.is_empty());
    }

    async fn assignment_rejects_unknown_account_and_group(store) {
        add_users(&*store, &[user(1)]).await;
        let rights = AssignedPermissions { groups: [id(7)].into(), ..AssignedPermissions::default() };
        assert!(store.begin().await.unwrap().groups().set_assigned_permissions(user(1).id, &rights).await.is_err());
        let rights = AssignedPermissions { permissions: PermissionSet::all(), ..AssignedPermissions::default() };
        assert!(store.begin().await.unwrap().groups().set_assigned_permissions(user(2).id, &rights).await.is_err());
    }

    async fn names_omit_missing_groups(store) {
        add_groups(&*store, &[group(1), group(2)]).await;
        let mut view = store.read().await.unwrap();
        let names = view.groups().names(&[id(2), id(9)]).await.unwrap();
        assert_eq!(names, [(id(2), group(2).name.as_str().to_owned())].into());
        assert!(view.groups().names(&[]).await.unwrap().is_empty());
    }

    async fn list_sorts_by_name_and_counts_members(store) {
        add_users(&*store, &[user(1), user(2)]).await;
        add_groups(&*store, &[group(3), group(1), group(2)]).await;
        for n in [1, 2] {
            give(&*store, n, &AssignedPermissions { groups: [id(2)].into(), ..AssignedPermissions::default() }).await;
        }
        let mut view = store.read().await.unwrap();
        let all = view.groups().list(None, first(9)).await.unwrap();
        assert_eq!(all.records, [(group(1), 0), (group(2), 2), (group(3), 0)]);
        assert_eq!(all.total, 3);
        let last = view.groups().list(None, PageRequest { offset: 2, limit: 5 }).await.unwrap();
        assert_eq!((last.records, last.total), (vec![(group(3), 0)], 3));
        let found = view.groups().list(Some("GROUP 2"), first(9)).await.unwrap();
        assert_eq!((found.records, found.total), (vec![(group(2), 2)], 1));
    }
}
