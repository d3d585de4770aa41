//! Staff give and take over only roles on collections that they have, and only data that they may see.

use crate::fixture::{DATA, Fixture, email, missing, password, refused_field, set};
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::users::{self, AccountInput};
use docent_app::accounts::{groups, second_factor, verification};
use docent_app::collections::members::{self, MemberName};
use docent_app::error::{Error, Result};
use docent_domain::access::Actor;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::collection::{Collection, CollectionRole, Member};
use docent_domain::error::Rule;
use docent_domain::group::{AssignedPermissions, Group, GroupName};
use docent_domain::id::UserId;
use docent_domain::limits::AccountLimits;
use docent_domain::permission::Permission::{
    self, AddApiKey, AddUser, AddVerification, ChangeCollection, ChangeUser, DeleteGroup, DeleteUser,
    ViewCollection, ViewConversation, ViewDocument, ViewGroup, ViewUser,
};
use docent_domain::permission::{PermissionSet, RecordKind};
use docent_domain::user::User;
use docent_domain::verification::VerificationPurpose;

const MANAGER: &[Permission] =
    &[ViewUser, AddUser, ChangeUser, DeleteUser, ViewGroup, DeleteGroup, AddApiKey, AddVerification];

/// Creates the group "Legal" without permissions, which manages the closed collection "Secret".
async fn legal(fixture: &Fixture) -> (Group, Collection) {
    let group = fixture.group("Legal", &[]).await;
    let secret = fixture.collection("Secret", &[(Member::Group(group.id), CollectionRole::Manager)]).await;
    (group, secret)
}

/// Tries to put an account into these groups only.
async fn put_into(fixture: &Fixture, actor: &Actor, user: UserId, groups: &[&Group]) -> Result<User> {
    let mut input = fixture.current(user).await;
    input.assigned.groups = groups.iter().map(|group| group.id).collect();
    users::change(&fixture.0, actor, actor.authorize()?, user, &input).await
}

#[tokio::test]
async fn group_with_a_role_that_the_actor_lacks_is_neither_joined_nor_left_nor_deleted() {
    let fixture = Fixture::new();
    let (legal, secret) = legal(&fixture).await;
    let staff = fixture.staff("staff", MANAGER).await;
    let (actor, app) = (fixture.actor(&staff).await, &fixture.0);
    let (ada, root) = (fixture.ordinary("ada").await, fixture.actor(&fixture.superuser("root").await).await);
    for user in [staff.id, ada.id] {
        let refused = put_into(&fixture, &actor, user, &[&legal]).await;
        let Err(Error::Invalid(invalid)) = refused else { panic!("{refused:?}") };
        let Some(Rule::GroupAccess(missing)) = invalid.rule else { panic!("{invalid}") };
        assert!(invalid.field == "groups" && missing.has_roles && missing.permissions.is_empty());
        assert!(!invalid.reason.contains("Secret"), "{invalid}");
    }
    let new = |name| AccountInput {
        email: email(name),
        is_active: true,
        is_staff: false,
        is_superuser: false,
        assigned: AssignedPermissions { groups: [legal.id].into(), ..AssignedPermissions::default() },
    };
    let created = users::create(app, &actor, actor.authorize().unwrap(), new("new"), password()).await;
    assert_eq!(refused_field(created), "groups");
    put_into(&fixture, &root, ada.id, &[&legal]).await.unwrap();
    assert_eq!(refused_field(put_into(&fixture, &actor, ada.id, &[]).await), "groups");
    assert!(missing(groups::delete(app, &actor, actor.authorize().unwrap(), legal.id).await).has_roles);

    // A lower role of the actor is not enough; the same is.
    fixture.set_role(&secret, Member::User(staff.id), Some(CollectionRole::Contributor)).await;
    assert_eq!(refused_field(put_into(&fixture, &actor, ada.id, &[]).await), "groups");
    fixture.set_role(&secret, Member::User(staff.id), Some(CollectionRole::Manager)).await;
    put_into(&fixture, &actor, ada.id, &[]).await.unwrap();
    put_into(&fixture, &actor, ada.id, &[&legal]).await.unwrap();
    users::create(app, &actor, actor.authorize().unwrap(), new("new"), password()).await.unwrap();

    // So are the permissions with which the actor could set the role.
    let wide = [MANAGER, &[ViewCollection, ChangeCollection]].concat();
    let wide = fixture.actor(&fixture.staff("wide", &wide).await).await;
    put_into(&fixture, &wide, ada.id, &[]).await.unwrap();
    put_into(&fixture, &wide, wide.user(), &[&legal]).await.unwrap();
    groups::delete(app, &wide, wide.authorize().unwrap(), legal.id).await.unwrap();
}

#[tokio::test]
async fn viewing_permissions_give_the_role_of_a_viewer_only() {
    let fixture = Fixture::new();
    let (legal, secret) = legal(&fixture).await;
    let ada = fixture.ordinary("ada").await;
    let viewing = [MANAGER, &[ViewDocument, ViewCollection, ViewConversation]].concat();
    let actor = fixture.actor(&fixture.staff("viewing", &viewing).await).await;
    assert_eq!(refused_field(put_into(&fixture, &actor, ada.id, &[&legal]).await), "groups");
    fixture.set_role(&secret, Member::Group(legal.id), Some(CollectionRole::Viewer)).await;
    put_into(&fixture, &actor, ada.id, &[&legal]).await.unwrap();
}

/// Tries everything that takes over, locks out or deletes an account, or limits it; returns the names of what
/// succeeded.
async fn allowed(fixture: &Fixture, actor: &Actor, user: UserId) -> Vec<&'static str> {
    let (app, mut done) = (&fixture.0, Vec::new());
    let mut note = |name, is_done: bool| is_done.then(|| done.push(name));
    let change = async |change: &(dyn Fn(&mut AccountInput) + Sync)| {
        let mut input = fixture.current(user).await;
        change(&mut input);
        let before = fixture.user(user).await;
        let changed = users::change(app, actor, actor.authorize().unwrap(), user, &input).await;
        let mut work = fixture.1.store.begin().await.unwrap();
        work.users().update(&before).await.unwrap();
        work.commit().await.unwrap();
        changed.is_ok()
    };
    note("limits", users::set_limits(app, actor, actor.authorize().unwrap(), user, limits()).await.is_ok());
    note("staff", change(&|input| input.is_staff = !input.is_staff).await);
    let set = users::set_password(app, actor, actor.authorize().unwrap(), user, password()).await;
    note("password", set.is_ok());
    note("email", change(&|input| input.email = email("mine")).await);
    let grant = actor.authorize().unwrap();
    let link = verification::issue(app, actor, &grant, user, VerificationPurpose::ResetPassword).await;
    note("link", link.is_ok());
    let grant = actor.authorize().unwrap();
    // Without a second factor, only what comes before it can be tried.
    let reset = second_factor::reset(app, actor, &grant, user).await;
    note("second factor", matches!(reset, Ok(()) | Err(Error::SecondFactorMissing)));
    for scope in ["read", "ingest", "chat", "admin"] {
        let input = ApiKeyInput {
            user,
            name: ApiKeyName::parse("a key").unwrap(),
            scopes: ApiKeyScopes::parse([scope]).unwrap(),
            collections: None,
            expires_at: None,
        };
        note(scope, api_keys::create(app, actor, input).await.is_ok());
    }
    note("deactivation", change(&|input| input.is_active = false).await);
    note("deletion", users::delete(app, actor, actor.authorize().unwrap(), user).await.is_ok());
    done
}

fn limits() -> AccountLimits {
    AccountLimits { answers: Some(7), ..AccountLimits::default() }
}

const ALL: &[&str] = &[
    "limits",
    "staff",
    "password",
    "email",
    "link",
    "second factor",
    "read",
    "ingest",
    "chat",
    "admin",
    "deactivation",
    "deletion",
];

// Invariant: Staff give, take and take over only access that they have, roles on collections and data of
// accounts included.
#[tokio::test]
async fn account_with_a_role_that_the_actor_lacks_is_neither_taken_over_nor_locked_out() {
    let fixture = Fixture::new();
    let (legal, _) = legal(&fixture).await;
    let actor = fixture.actor(&fixture.staff("staff", &[MANAGER, DATA].concat()).await).await;
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let by_group = fixture.ordinary("by-group").await;
    put_into(&fixture, &root, by_group.id, &[&legal]).await.unwrap();
    let member = fixture.ordinary("member").await;
    fixture.collection("Team", &[(Member::User(member.id), CollectionRole::Contributor)]).await;
    let owner = fixture.ordinary("owner").await;
    let owned = fixture.collection("Own", &[]).await;
    let mut work = fixture.1.store.begin().await.unwrap();
    work.collections().update(&Collection { owner: Some(owner.id), ..owned }).await.unwrap();
    work.commit().await.unwrap();
    for user in [by_group.id, member.id, owner.id] {
        assert_eq!(allowed(&fixture, &actor, user).await, [""; 0], "{user}");
        let refused = users::delete(&fixture.0, &actor, actor.authorize().unwrap(), user).await;
        assert!(missing(refused).has_roles);
    }
    let wide = [MANAGER, DATA, &[ViewCollection, ChangeCollection]].concat();
    let wide = fixture.actor(&fixture.staff("wide", &wide).await).await;
    assert_eq!(allowed(&fixture, &wide, member.id).await, ALL);
}

#[tokio::test]
async fn taking_over_an_account_requires_every_permission_for_its_data() {
    let fixture = Fixture::new();
    let all: PermissionSet = DATA.iter().copied().collect();
    for left_out in DATA {
        let rights: Vec<Permission> =
            MANAGER.iter().copied().chain(all.without(set(&[*left_out])).iter()).collect();
        let actor = fixture.actor(&fixture.staff(&format!("without.{left_out}"), &rights).await).await;
        let user = fixture.ordinary(&format!("user.{left_out}")).await;
        let key = match left_out {
            ViewDocument => "read",
            ViewConversation | Permission::DeleteConversation => "chat",
            _ => "ingest",
        };
        let takes_over = ["password", "email", "link", "second factor", key];
        let expected: Vec<_> = ALL.iter().copied().filter(|name| !takes_over.contains(name)).collect();
        assert_eq!(allowed(&fixture, &actor, user.id).await, expected, "without {left_out}");
    }
}

#[tokio::test]
async fn own_password_needs_no_permissions_for_data() {
    let fixture = Fixture::new();
    let staff = fixture.staff("staff", &[ViewUser, ChangeUser, AddVerification]).await;
    let (actor, app) = (fixture.actor(&staff).await, &fixture.0);
    fixture.collection("Own", &[(Member::User(staff.id), CollectionRole::Manager)]).await;
    users::set_password(app, &actor, actor.authorize().unwrap(), staff.id, password()).await.unwrap();
    let grant = actor.authorize().unwrap();
    verification::issue(app, &actor, &grant, staff.id, VerificationPurpose::ResetPassword).await.unwrap();
    let other = fixture.ordinary("other").await;
    let refused = users::set_password(app, &actor, actor.authorize().unwrap(), other.id, password()).await;
    assert_eq!(missing(refused).permissions, set(DATA));
}

// Invariant: Managers of collections cannot test the names of groups.
#[tokio::test]
async fn group_is_named_only_by_its_members_its_viewers_and_where_it_is_listed() {
    let fixture = Fixture::new();
    let (legal, other) = (fixture.group("Legal", &[]).await, fixture.group("Other", &[]).await);
    let ada = fixture.ordinary("ada").await;
    let role = CollectionRole::Manager;
    let members = [(Member::User(ada.id), role), (Member::Group(other.id), CollectionRole::Viewer)];
    let team = fixture.collection("Team", &members).await;
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let set = async |actor: &Actor, group: &str| {
        let name = MemberName::Group(GroupName::parse(group).unwrap());
        members::set(&fixture.0, actor, team.id, &name, CollectionRole::Viewer).await
    };
    let (actor, unknown) = (fixture.actor(&ada).await, set(&root, "Nothing").await.unwrap_err());
    let refused = set(&actor, "legal").await.unwrap_err();
    assert!(matches!(refused, Error::NotFound(RecordKind::Group)));
    assert_eq!(refused.to_string(), unknown.to_string());
    set(&actor, "other").await.unwrap();
    put_into(&fixture, &root, ada.id, &[&legal]).await.unwrap();
    set(&actor, "legal").await.unwrap();
    members::remove(&fixture.0, &actor, team.id, Member::Group(legal.id)).await.unwrap();
    put_into(&fixture, &root, ada.id, &[]).await.unwrap();
    assert!(set(&actor, "legal").await.is_err());
    let staff = fixture.staff("staff", &[ViewGroup]).await;
    fixture.set_role(&team, Member::User(staff.id), Some(role)).await;
    set(&fixture.actor(&staff).await, "legal").await.unwrap();
}
