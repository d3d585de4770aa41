use crate::fixture::{Fixture, email, password, refused_field};
use crate::keys::request;
use docent_app::accounts::api_keys;
use docent_app::accounts::group_members::{self, MemberOutcome, MemberRights};
use docent_app::accounts::invitation_acceptance;
use docent_app::accounts::invitations::{Delivery, InvitationOutcome};
use docent_app::accounts::users;
use docent_app::error::{Error, Result};
use docent_domain::access::Actor;
use docent_domain::audit::AuditActor;
use docent_domain::group::Group;
use docent_domain::listing::PageRequest;
use docent_domain::permission::Permission::{self, ChangeUser, ViewJob, ViewUser};
use docent_domain::permission::RecordKind;
use docent_domain::user::User;
use std::net::{IpAddr, Ipv4Addr};

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const STAFF: &[Permission] = &[ViewUser, ChangeUser, ViewJob];

async fn add(fixture: &Fixture, actor: &Actor, group: &Group, name: &str) -> Result<MemberOutcome> {
    let outcomes = group_members::add(&fixture.0, actor, group.id, &[email(name)], Delivery::Email).await?;
    Ok(outcomes.into_iter().next().unwrap().1)
}

async fn members(
    fixture: &Fixture,
    actor: &Actor,
    group: &Group,
) -> Result<(MemberRights, Vec<(String, bool)>)> {
    let page = PageRequest { offset: 0, limit: 9 };
    let (_, rights, found) = group_members::page(&fixture.0, actor, group.id, page).await?;
    let of = |member: group_members::GroupMember| (member.user.email.as_str().to_owned(), member.is_manager);
    Ok((rights, found.records.into_iter().map(of).collect()))
}

/// A group, and an account without permissions that manages it.
async fn managed(fixture: &Fixture, permissions: &[Permission]) -> (Group, User) {
    let group = fixture.group("Clerks", permissions).await;
    let root = fixture.actor(&fixture.superuser("root").await).await;
    let manager = fixture.ordinary("manager").await;
    assert!(matches!(add(fixture, &root, &group, "manager").await.unwrap(), MemberOutcome::Added(_)));
    group_members::set_manager(&fixture.0, &root, group.id, manager.id, true).await.unwrap();
    (group, manager)
}

#[tokio::test]
async fn staff_add_and_remove_members_of_groups_whose_access_they_have() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("staff", STAFF).await).await;
    let (known, powerful) = (
        fixture.group("Known", &[ViewJob]).await,
        fixture.group("Powerful", &[Permission::DeleteUser]).await,
    );
    let bob = fixture.ordinary("bob").await;
    assert!(
        matches!(add(&fixture, &actor, &known, "bob").await.unwrap(), MemberOutcome::Added(user) if user.id == bob.id)
    );
    assert!(matches!(add(&fixture, &actor, &known, "bob").await.unwrap(), MemberOutcome::IsMember(_)));
    assert!(matches!(add(&fixture, &actor, &known, "unknown").await.unwrap(), MemberOutcome::NoAccount));
    let (rights, list) = members(&fixture, &actor, &known).await.unwrap();
    assert_eq!(rights, MemberRights { can_view: true, can_change: true, can_set_managers: true });
    assert_eq!(list, [("bob@example.org".to_owned(), false)]);
    let notice = fixture.mails().await.pop().unwrap();
    assert!(notice.to == bob.email && notice.text.contains("staff@example.org added your account to: Known"));
    let entry = fixture.changes(bob.id).await.remove(0);
    assert_eq!(entry.changes["groups"].after.as_deref(), Some("Known"));
    group_members::remove(&fixture.0, &actor, known.id, bob.id).await.unwrap();
    let again = group_members::remove(&fixture.0, &actor, known.id, bob.id).await;
    assert!(matches!(again, Err(Error::MemberNotFound)));
    // Neither is possible for a group with more access, nor for superusers.
    assert_eq!(refused_field(add(&fixture, &actor, &powerful, "bob").await), "groups");
    assert!(!members(&fixture, &actor, &powerful).await.unwrap().0.can_change);
    fixture.superuser("root").await;
    assert!(matches!(add(&fixture, &actor, &known, "root").await.unwrap(), MemberOutcome::NeedsStaff(_)));
    let blind = fixture.actor(&fixture.staff("blind", &[ViewJob]).await).await;
    assert!(matches!(add(&fixture, &blind, &known, "bob").await, Err(Error::Forbidden)));
    assert!(matches!(members(&fixture, &blind, &known).await, Err(Error::NotFound(RecordKind::Group))));
}

// Invariant: Managers of a group change its members alone, and give only access that they have as members.
#[tokio::test]
async fn managers_add_and_remove_members_of_their_group_alone() {
    let fixture = Fixture::new();
    let (group, manager) = managed(&fixture, &[ViewJob]).await;
    let (other, bob) = (fixture.group("Other", &[]).await, fixture.ordinary("bob").await);
    let actor = fixture.actor(&manager).await;
    assert!(matches!(add(&fixture, &actor, &other, "bob").await, Err(Error::Forbidden)));
    assert!(matches!(add(&fixture, &actor, &group, "bob").await.unwrap(), MemberOutcome::Added(_)));
    // Keys that others made for an account would get the access of the group, and do not end by a manager.
    let robot = fixture.ordinary("robot").await;
    let root = fixture.actor(&fixture.superuser("root1").await).await;
    let key = api_keys::create(&fixture.0, &root, request(robot.id)).await.unwrap().record.id;
    assert!(matches!(add(&fixture, &actor, &group, "robot").await.unwrap(), MemberOutcome::NeedsStaff(_)));
    let mut view = fixture.1.store.read().await.unwrap();
    assert_eq!(view.api_keys().get(key).await.unwrap().unwrap().revoked_at, None);
    drop(view);
    // With a link, a manager could make the account of another person.
    let by_link =
        group_members::add(&fixture.0, &actor, group.id, &[email("guest")], Delivery::Link).await.unwrap();
    assert!(matches!(by_link[0].1, MemberOutcome::NoAccount));
    let (rights, list) = members(&fixture, &actor, &group).await.unwrap();
    assert_eq!(rights, MemberRights { can_view: true, can_change: true, can_set_managers: false });
    assert_eq!(list, [("bob@example.org".to_owned(), false), ("manager@example.org".to_owned(), true)]);
    let promoted = group_members::set_manager(&fixture.0, &actor, group.id, bob.id, true).await;
    assert!(matches!(promoted, Err(Error::Forbidden)));
    let entry = fixture.changes(bob.id).await.remove(0);
    assert!(matches!(&entry.actor, AuditActor::User { email, .. } if email == "manager@example.org"));
    // Members without that mark see and change nothing, and a manager removes no other manager.
    let member = fixture.actor(&bob).await;
    assert!(matches!(members(&fixture, &member, &group).await, Err(Error::NotFound(_))));
    let removed = group_members::remove(&fixture.0, &member, group.id, manager.id).await;
    assert!(matches!(removed, Err(Error::Forbidden)));
    let root = fixture.superuser("root2").await;
    let root = fixture.actor(&root).await;
    group_members::set_manager(&fixture.0, &root, group.id, bob.id, true).await.unwrap();
    let removed = group_members::remove(&fixture.0, &actor, group.id, bob.id).await;
    assert!(matches!(removed, Err(Error::Forbidden)));
    group_members::set_manager(&fixture.0, &root, group.id, bob.id, false).await.unwrap();
    group_members::remove(&fixture.0, &actor, group.id, bob.id).await.unwrap();
    // A manager that leaves manages nothing.
    group_members::remove(&fixture.0, &actor, group.id, manager.id).await.unwrap();
    assert!(matches!(add(&fixture, &actor, &group, "bob").await, Err(Error::Forbidden)));
    assert_eq!(fixture.assigned_permissions(manager.id).await, Default::default());
}

#[tokio::test]
async fn manager_invites_into_the_group_until_it_manages_it_no_longer() {
    let fixture = Fixture::new();
    let (group, manager) = managed(&fixture, &[ViewJob]).await;
    let actor = fixture.actor(&manager).await;
    let invited = async |name: &str| match add(&fixture, &actor, &group, name).await.unwrap() {
        MemberOutcome::Invited(InvitationOutcome::Invited(new)) => new,
        other => panic!("{other:?}"),
    };
    let accept = async |link: &str| {
        let token = link.split_once("?token=").unwrap().1;
        invitation_acceptance::accept(&fixture.0, token, None, password(), ADDRESS).await
    };
    let first = invited("guest").await;
    let second = invited("guest").await;
    assert!(matches!(accept(&first.link).await, Err(Error::InvalidLink)), "sent again");
    let guest = accept(&second.link).await.unwrap();
    assert_eq!(fixture.assigned_permissions(guest.id).await.groups, [group.id].into());
    let late = invited("late").await;
    let root = fixture.actor(&fixture.superuser("root2").await).await;
    group_members::set_manager(&fixture.0, &root, group.id, manager.id, false).await.unwrap();
    assert!(matches!(accept(&late.link).await, Err(Error::InvalidLink)));
}

#[tokio::test]
async fn form_of_an_account_keeps_the_groups_that_it_manages() {
    let fixture = Fixture::new();
    let (group, manager) = managed(&fixture, &[]).await;
    let root = fixture.actor(&fixture.superuser("root2").await).await;
    let mut input = fixture.current(manager.id).await;
    input.assigned.managed.clear();
    input.is_staff = true;
    users::change(&fixture.0, &root, root.authorize().unwrap(), manager.id, &input).await.unwrap();
    assert_eq!(fixture.assigned_permissions(manager.id).await.managed, [group.id].into());
    input.assigned.groups.clear();
    users::change(&fixture.0, &root, root.authorize().unwrap(), manager.id, &input).await.unwrap();
    assert!(fixture.assigned_permissions(manager.id).await.managed.is_empty());
}
