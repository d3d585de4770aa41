use crate::fixture::{DATA, Fixture, email, missing, password, refused_field, set};
use docent_app::accounts::users::{self, AccountInput};
use docent_app::audit::Initiator;
use docent_app::error::Error;
use docent_domain::group::AssignedPermissions;
use docent_domain::id::GroupId;
use docent_domain::listing::PageRequest;
use docent_domain::permission::Permission::{
    self, AddUser, ChangeUser, DeleteDocument, DeleteUser, ViewJob, ViewUsage, ViewUser,
};
use docent_domain::user::User;
use docent_domain::verification::VerificationPurpose;
use docent_testkit::builders::verification;

const MANAGER: &[Permission] = &[ViewUser, AddUser, ChangeUser, DeleteUser, ViewJob];

fn new_account(name: &str) -> AccountInput {
    AccountInput {
        email: email(name),
        is_active: true,
        is_staff: true,
        is_superuser: false,
        assigned: AssignedPermissions::default(),
    }
}

#[tokio::test]
async fn granting_permissions_the_actor_lacks_is_refused() {
    let fixture = Fixture::new();
    let manager = fixture.staff("manager", MANAGER).await;
    let target = fixture.staff("target", &[]).await;
    let own = fixture.group("own", &[ViewJob]).await.id;
    let powerful = fixture.group("powerful", &[ViewJob, DeleteDocument]).await.id;
    let unknown = fixture.0.new_id(GroupId::generate);
    let (app, actor) = (&fixture.0, fixture.actor(&manager).await);
    let with = |permissions: &[Permission], groups: &[GroupId]| AssignedPermissions {
        permissions: set(permissions),
        groups: groups.iter().copied().collect(),
        ..AssignedPermissions::default()
    };
    for (assigned, is_superuser, refused) in [
        (with(&[ViewJob], &[own]), false, None),
        (with(&[ViewJob, DeleteDocument], &[]), false, Some("permissions")),
        (with(&[], &[powerful]), false, Some("groups")),
        (with(&[], &[unknown]), false, Some("groups")),
        (with(&[], &[]), true, Some("is_superuser")),
    ] {
        // The own account as well as another one.
        for id in [target.id, manager.id] {
            let mut input = fixture.current(id).await;
            input.is_superuser = is_superuser;
            input.assigned.permissions = input.assigned.permissions.union(assigned.permissions);
            input.assigned.groups.extend(&assigned.groups);
            let changed = users::change(app, &actor, actor.authorize().unwrap(), id, &input).await;
            match refused {
                None => assert_eq!(fixture.assigned_permissions(changed.unwrap().id).await, input.assigned),
                Some(field) => assert_eq!(refused_field(changed), field),
            }
        }
        let input = AccountInput { assigned: assigned.clone(), is_superuser, ..new_account("new") };
        let created = users::create(app, &actor, actor.authorize().unwrap(), input, password()).await;
        match refused {
            None => assert_eq!(fixture.assigned_permissions(created.unwrap().id).await, assigned),
            Some(field) => assert_eq!(refused_field(created), field),
        }
    }
}

#[tokio::test]
async fn refused_account_is_not_created() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("manager", MANAGER).await).await;
    let mut input = new_account("new");
    input.is_superuser = true;
    let created = users::create(&fixture.0, &actor, actor.authorize().unwrap(), input, password()).await;
    assert_eq!(refused_field(created), "is_superuser");
    assert_eq!(docent_app::listing::owner(&fixture.0, "new@example.org").await.unwrap(), None);
}

#[tokio::test]
async fn existing_permissions_may_stay_and_are_removed_only_by_actors_who_have_them() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("manager", MANAGER).await).await;
    let powerful = fixture.group("powerful", &[DeleteDocument]).await;
    let target = fixture.staff("target", &[DeleteDocument, ViewJob]).await.id;
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let mut input = fixture.current(target).await;
    input.assigned.groups.insert(powerful.id);
    users::change(&fixture.0, &root, root.authorize().unwrap(), target, &input).await.unwrap();
    let change = async |input: &AccountInput| {
        users::change(&fixture.0, &actor, actor.authorize().unwrap(), target, input).await
    };
    for (permissions, groups, refused) in [
        (set(&[ViewJob]), input.assigned.groups.clone(), "permissions"),
        (input.assigned.permissions, Default::default(), "groups"),
    ] {
        let less = AccountInput {
            assigned: AssignedPermissions { permissions, groups, ..AssignedPermissions::default() },
            ..input.clone()
        };
        assert_eq!(refused_field(change(&less).await), refused);
        assert_eq!(fixture.assigned_permissions(target).await, input.assigned);
    }
    input.assigned.permissions = set(&[DeleteDocument]);
    change(&input).await.unwrap();
    assert_eq!(fixture.assigned_permissions(target).await, input.assigned);
    users::change(
        &fixture.0,
        &root,
        root.authorize().unwrap(),
        target,
        &AccountInput { assigned: AssignedPermissions::default(), ..input.clone() },
    )
    .await
    .unwrap();
    // An actor without the permission cannot grant it again.
    assert_eq!(refused_field(change(&input).await), "permissions");
}

#[tokio::test]
async fn account_with_more_permissions_cannot_be_deactivated_or_deleted() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("manager", MANAGER).await).await;
    let stronger = fixture.staff("stronger", &[DeleteDocument]).await.id;
    for field in ["is_active", "is_staff"] {
        let mut input = fixture.current(stronger).await;
        match field {
            "is_active" => input.is_active = false,
            _ => input.is_staff = false,
        }
        let changed = users::change(&fixture.0, &actor, actor.authorize().unwrap(), stronger, &input).await;
        assert_eq!(refused_field(changed), field);
    }
    let deleted = users::delete(&fixture.0, &actor, actor.authorize().unwrap(), stronger).await;
    assert_eq!(missing(deleted).permissions, set(&[DeleteDocument]));
}

#[tokio::test]
async fn superusers_demoting_each_other_leave_one() {
    let fixture = Fixture::new();
    let (one, other) = (fixture.superuser("one").await, fixture.superuser("other").await);
    // Both were authenticated before either change.
    let (first, second) = (fixture.actor(&one).await, fixture.actor(&other).await);
    let mut input = fixture.current(other.id).await;
    input.is_superuser = false;
    users::change(&fixture.0, &first, first.authorize().unwrap(), other.id, &input).await.unwrap();
    let mut input = fixture.current(one.id).await;
    input.is_superuser = false;
    let changed = users::change(&fixture.0, &second, second.authorize().unwrap(), one.id, &input).await;
    assert!(matches!(changed, Err(Error::Forbidden)));
    let deleted = users::delete(&fixture.0, &second, second.authorize().unwrap(), one.id).await;
    assert!(matches!(deleted, Err(Error::Forbidden)));
    assert!(fixture.user(one.id).await.is_superuser);
}

#[tokio::test]
async fn new_address_or_deactivation_invalidates_open_links() {
    let fixture = Fixture::new();
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let id = fixture.staff("target", &[]).await.id;
    for is_moved in [true, false] {
        let mut unit = fixture.1.store.begin().await.unwrap();
        for (n, purpose) in (1..).zip([VerificationPurpose::VerifyEmail, VerificationPurpose::ResetPassword])
        {
            unit.verifications().insert(&verification(n, id, purpose)).await.unwrap();
        }
        unit.commit().await.unwrap();
        let mut input = fixture.current(id).await;
        if is_moved {
            input.email = email("elsewhere");
        } else {
            input.is_active = false;
        }
        users::change(&fixture.0, &root, root.authorize().unwrap(), id, &input).await.unwrap();
        let page = PageRequest { offset: 0, limit: 9 };
        let left = fixture.1.store.read().await.unwrap().verifications().list(Some(id), page).await.unwrap();
        assert_eq!(left.total, 0);
    }
}

#[tokio::test]
async fn superuser_account_can_be_changed_only_by_superusers() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("manager", MANAGER).await).await;
    let root = fixture.superuser("root").await;
    let mut input = fixture.current(root.id).await;
    input.is_active = false;
    let (app, id) = (&fixture.0, root.id);
    let changed = users::change(app, &actor, actor.authorize().unwrap(), id, &input).await;
    assert!(matches!(changed, Err(Error::Forbidden)));
    let set = users::set_password(app, &actor, actor.authorize().unwrap(), id, password()).await;
    let deleted = users::delete(app, &actor, actor.authorize().unwrap(), id).await;
    assert!(missing(set).is_superuser && missing(deleted).is_superuser);
    assert!(fixture.user(id).await.is_active);
    let other = fixture.actor(&fixture.superuser("other").await).await;
    users::change(app, &other, other.authorize().unwrap(), id, &input).await.unwrap();
    assert!(!fixture.user(id).await.is_active);
}

#[tokio::test]
async fn account_with_more_permissions_cannot_be_taken_over() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("manager", &[MANAGER, DATA].concat()).await).await;
    let (weaker, stronger) =
        (fixture.staff("weaker", &[ViewJob]).await, fixture.staff("stronger", &[ViewUsage]).await);
    let app = &fixture.0;
    let refused = users::set_password(app, &actor, actor.authorize().unwrap(), stronger.id, password()).await;
    assert_eq!(missing(refused).permissions, set(&[ViewUsage]));
    let mut input = fixture.current(stronger.id).await;
    input.email = email("mine");
    let moved = users::change(app, &actor, actor.authorize().unwrap(), stronger.id, &input).await;
    assert_eq!(refused_field(moved), "email");
    users::set_password(app, &actor, actor.authorize().unwrap(), weaker.id, password()).await.unwrap();
    let mut input = fixture.current(weaker.id).await;
    input.email = email("mine");
    users::change(app, &actor, actor.authorize().unwrap(), weaker.id, &input).await.unwrap();
}

#[tokio::test]
async fn own_account_cannot_be_deactivated_demoted_or_deleted() {
    let fixture = Fixture::new();
    let (root, manager) = (fixture.superuser("root").await, fixture.staff("manager", MANAGER).await);
    for (user, field) in
        [(&root, "is_active"), (&root, "is_superuser"), (&manager, "is_active"), (&manager, "is_staff")]
    {
        let actor = fixture.actor(user).await;
        let mut input = fixture.current(user.id).await;
        match field {
            "is_active" => input.is_active = false,
            "is_superuser" => input.is_superuser = false,
            _ => input.is_staff = false,
        }
        let changed = users::change(&fixture.0, &actor, actor.authorize().unwrap(), user.id, &input).await;
        assert_eq!(refused_field(changed), field);
        let deleted = users::delete(&fixture.0, &actor, actor.authorize().unwrap(), user.id).await;
        assert!(matches!(deleted, Err(Error::Forbidden)));
    }
}

#[tokio::test]
async fn deactivating_the_last_active_superuser_is_refused() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.superuser("first").await, fixture.superuser("second").await);
    let staff = fixture.staff("staff", MANAGER).await;
    let set_active = async |user: &User, is_active| {
        fixture
            .0
            .account_service()
            .set_active(&Initiator::command_line(), user.id, is_active)
            .await
            .map(|user| user.is_active)
    };
    assert!(!set_active(&staff, false).await.unwrap());
    assert!(!set_active(&first, false).await.unwrap());
    assert!(matches!(set_active(&second, false).await, Err(Error::LastSuperuser)));
    assert!(!set_active(&first, false).await.unwrap(), "it is inactive already");
    assert!(set_active(&first, true).await.unwrap());
    assert!(!set_active(&second, false).await.unwrap());
    assert!(matches!(set_active(&first, false).await, Err(Error::LastSuperuser)));
}

#[tokio::test]
async fn change_is_audited_and_a_refused_change_is_not() {
    let fixture = Fixture::new();
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let target = fixture.staff("target", &[]).await.id;
    let mut input = fixture.current(target).await;
    input.email = email("root");
    let taken = users::change(&fixture.0, &root, root.authorize().unwrap(), target, &input).await;
    assert!(matches!(taken, Err(Error::EmailTaken)));
    assert!(fixture.changes(target).await.is_empty());
    input.email = email("other");
    users::change(&fixture.0, &root, root.authorize().unwrap(), target, &input).await.unwrap();
    let entries = fixture.changes(target).await;
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!(entry.changes.keys().collect::<Vec<_>>(), ["email"]);
    assert_eq!(entry.changes["email"].before.as_deref(), Some("target@example.org"));
}
