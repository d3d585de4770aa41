use crate::fixture::{Fixture, email, password, refused_field};
use docent_app::accounts::invitation_acceptance;
use docent_app::accounts::invitations::{self, Delivery, InvitationOutcome, NewInvitation};
use docent_app::accounts::users;
use docent_app::error::{Error, Result};
use docent_app::settings::PasswordLogin;
use docent_domain::access::Actor;
use docent_domain::audit::{AuditAction, AuditActor};
use docent_domain::collection::{CollectionRole, Member};
use docent_domain::group::Group;
use docent_domain::id::InvitationId;
use docent_domain::invitation::InvitedAccess;
use docent_domain::listing::{AuditFilter, PageRequest};
use docent_domain::permission::Permission::{self, AddInvitation, DeleteInvitation, ViewJob, ViewUser};
use docent_domain::permission::RecordKind;
use docent_domain::user::User;
use std::net::{IpAddr, Ipv4Addr};

const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const INVITER: &[Permission] = &[AddInvitation, DeleteInvitation, ViewJob];

fn of_group(group: &Group) -> InvitedAccess {
    InvitedAccess { groups: [group.id].into(), ..InvitedAccess::default() }
}

async fn invite(
    fixture: &Fixture,
    actor: &Actor,
    name: &str,
    access: &InvitedAccess,
    delivery: Delivery,
) -> Result<InvitationOutcome> {
    let grant = actor.authorize().unwrap();
    let outcomes = invitations::invite(&fixture.0, actor, &grant, &[email(name)], access, delivery).await?;
    Ok(outcomes.into_iter().next().unwrap().1)
}

/// Invites a person with a link to pass on.
async fn link(fixture: &Fixture, actor: &Actor, name: &str, access: &InvitedAccess) -> NewInvitation {
    invited(invite(fixture, actor, name, access, Delivery::Link).await.unwrap())
}

fn invited(outcome: InvitationOutcome) -> NewInvitation {
    match outcome {
        InvitationOutcome::Invited(new) => new,
        other => panic!("{other:?}"),
    }
}

fn token(link: &str) -> &str {
    link.split_once("?token=").unwrap().1
}

async fn accept(fixture: &Fixture, new: &NewInvitation) -> Result<User> {
    invitation_acceptance::accept(&fixture.0, token(&new.link), None, password(), ADDRESS).await
}

async fn resend(fixture: &Fixture, actor: &Actor, id: InvitationId) -> Result<NewInvitation> {
    invitations::resend(&fixture.0, actor, &actor.authorize().unwrap(), id, Delivery::Link).await
}

#[tokio::test]
async fn accepted_invitation_gives_groups_and_roles_once() {
    let fixture = Fixture::new();
    let ada = fixture.staff("ada", INVITER).await;
    let (actor, group) = (fixture.actor(&ada).await, fixture.group("Clerks", &[ViewJob]).await);
    let manager = [(Member::User(ada.id), CollectionRole::Manager)];
    let collection = fixture.collection("Legal", &manager).await;
    let access = InvitedAccess {
        collections: [(collection.id, CollectionRole::Contributor)].into(),
        ..of_group(&group)
    };
    let new = link(&fixture, &actor, "bob", &access).await;
    assert_eq!(fixture.1.store.read().await.unwrap().users().count().await.unwrap(), 1, "no account yet");
    let open = invitation_acceptance::open(&fixture.0, token(&new.link)).await.unwrap();
    assert_eq!(
        (open.email, open.invited_by, open.can_have_password),
        (email("bob"), Some(email("ada")), true)
    );
    let bob = accept(&fixture, &new).await.unwrap();
    assert_eq!((bob.email_verified_at, bob.is_active, bob.is_staff), (None, true, false));
    assert_eq!(fixture.assigned_permissions(bob.id).await.groups, [group.id].into());
    let mut view = fixture.1.store.read().await.unwrap();
    let role = view.collections().roles(bob.id).await.unwrap().own;
    assert!(role.contains(&(collection.id, CollectionRole::Contributor)), "{role:?}");
    assert!(matches!(accept(&fixture, &new).await, Err(Error::InvalidLink)));
    // Who invited whom.
    let filter = AuditFilter { kind: Some(RecordKind::Invitation), ..AuditFilter::default() };
    let page = PageRequest { offset: 0, limit: 9 };
    let entries = view.audit().list(&filter, page).await.unwrap().records;
    let [accepted, added] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!((added.action, added.label.as_str()), (AuditAction::Add, "bob@example.org"));
    assert!(matches!(&added.actor, AuditActor::User { email, .. } if email == "ada@example.org"));
    assert_eq!(added.changes["groups"].after.as_deref(), Some("Clerks"));
    assert_eq!(added.changes["collections"].after.as_deref(), Some("Legal (contributor)"));
    assert_eq!(accepted.action, AuditAction::Accept);
    assert!(matches!(&accepted.actor, AuditActor::User { email, .. } if email == "bob@example.org"));
    let of_bob = AuditFilter { record: Some(bob.id.to_string()), ..AuditFilter::default() };
    let created = view.audit().list(&of_bob, page).await.unwrap().records.remove(0);
    assert_eq!(created.changes["invited_by"].after.as_deref(), Some("ada@example.org"));
}

#[tokio::test]
async fn emailed_link_is_seen_by_the_mailbox_alone_and_verifies_the_address() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("ada", INVITER).await).await;
    let sent = invite(&fixture, &actor, "bob", &InvitedAccess::default(), Delivery::Email).await.unwrap();
    let [mail] = fixture.mails().await.try_into().unwrap();
    assert_eq!(mail.to, email("bob"));
    let new = invited(sent);
    assert!(
        mail.text.contains("ada@example.org invites you") && mail.text.contains(&new.link),
        "{}",
        mail.text
    );
    assert!(!format!("{new:?}").contains(token(&new.link)));
    assert_eq!(accept(&fixture, &new).await.unwrap().email_verified_at, Some(fixture.0.now()));
}

// Invariant: An invitation gives only access that its inviter has, when it is made and when it is accepted.
#[tokio::test]
async fn inviting_requires_the_access_of_the_groups_and_the_management_of_collections() {
    let fixture = Fixture::new();
    let ada = fixture.staff("ada", INVITER).await;
    let (actor, powerful) = (fixture.actor(&ada).await, fixture.group("Powerful", &[ViewUser]).await);
    let refused = invite(&fixture, &actor, "bob", &of_group(&powerful), Delivery::Link).await;
    assert_eq!(refused_field(refused), "groups");
    let viewer = [(Member::User(ada.id), CollectionRole::Viewer)];
    for (collection, is_known) in
        [(fixture.collection("Seen", &viewer).await, true), (fixture.collection("Hidden", &[]).await, false)]
    {
        let collections = [(collection.id, CollectionRole::Viewer)].into();
        let access = InvitedAccess { collections, ..InvitedAccess::default() };
        let refused = invite(&fixture, &actor, "bob", &access, Delivery::Link).await;
        let is_refused = match is_known {
            true => matches!(refused, Err(Error::Forbidden)),
            false => matches!(refused, Err(Error::NotFound(RecordKind::Collection))),
        };
        assert!(is_refused, "{refused:?}");
    }
}

// Invariant: An invitation gives only access that its inviter has, when it is made and when it is accepted.
#[tokio::test]
async fn invitation_whose_inviter_has_lost_access_waits_for_another_inviter() {
    let fixture = Fixture::new();
    let ada = fixture.staff("ada", INVITER).await;
    let (actor, group) = (fixture.actor(&ada).await, fixture.group("Clerks", &[ViewJob]).await);
    let root = fixture.superuser("root").await;
    let root = fixture.actor(&root).await;
    let new = link(&fixture, &actor, "bob", &of_group(&group)).await;
    let refused = async |new: &NewInvitation| matches!(accept(&fixture, new).await, Err(Error::InvalidLink));
    let current = fixture.current(ada.id).await;
    let set_inviter = async |change: &dyn Fn(&mut users::AccountInput)| {
        let mut input = current.clone();
        change(&mut input);
        users::change(&fixture.0, &root, root.authorize().unwrap(), ada.id, &input).await.unwrap();
    };
    // The group gains access that the inviter lacks.
    let more = Group { permissions: [ViewJob, ViewUser].into_iter().collect(), ..group.clone() };
    for changed in [&more, &group] {
        let mut work = fixture.1.store.begin().await.unwrap();
        work.groups().update(changed).await.unwrap();
        work.commit().await.unwrap();
        if changed.permissions == more.permissions {
            assert!(refused(&new).await);
            assert_eq!(refused_field(resend(&fixture, &actor, new.record.id).await), "groups");
        }
    }
    // The inviter loses access, the permission to invite, or the account.
    set_inviter(&|input| input.assigned.permissions = [AddInvitation].into_iter().collect()).await;
    assert!(refused(&new).await);
    set_inviter(&|input| input.assigned.permissions = [ViewJob].into_iter().collect()).await;
    assert!(refused(&new).await);
    set_inviter(&|input| input.is_active = false).await;
    assert!(refused(&new).await);
    // Sent again in the name of another account.
    let again = resend(&fixture, &root, new.record.id).await.unwrap();
    assert!(refused(&new).await, "the earlier link");
    accept(&fixture, &again).await.unwrap();
    // A deleted account leaves no invitations.
    set_inviter(&|_| ()).await;
    let new = link(&fixture, &fixture.actor(&ada).await, "carol", &InvitedAccess::default()).await;
    users::delete(&fixture.0, &root, root.authorize().unwrap(), ada.id).await.unwrap();
    assert!(refused(&new).await);
}

#[tokio::test]
async fn deleted_groups_and_collections_are_left_out() {
    let fixture = Fixture::new();
    let root = fixture.superuser("root").await;
    let (actor, group) = (fixture.actor(&root).await, fixture.group("Clerks", &[]).await);
    let collection = fixture.collection("Legal", &[]).await;
    let collections = [(collection.id, CollectionRole::Viewer)].into();
    let new = link(&fixture, &actor, "bob", &InvitedAccess { collections, ..of_group(&group) }).await;
    let mut work = fixture.1.store.begin().await.unwrap();
    work.groups().delete(group.id).await.unwrap();
    work.collections().delete(collection.id).await.unwrap();
    work.commit().await.unwrap();
    let bob = accept(&fixture, &new).await.unwrap();
    assert!(fixture.assigned_permissions(bob.id).await.groups.is_empty());
    let access = of_group(&group);
    assert_eq!(refused_field(invite(&fixture, &actor, "carol", &access, Delivery::Link).await), "groups");
}

#[tokio::test]
async fn existing_account_is_named_only_to_those_who_view_accounts() {
    let fixture = Fixture::new();
    let bob = fixture.ordinary("bob").await;
    let blind = fixture.actor(&fixture.staff("ada", INVITER).await).await;
    let seeing = fixture.actor(&fixture.staff("eve", &[AddInvitation, ViewUser]).await).await;
    let none = InvitedAccess::default();
    let told = invite(&fixture, &seeing, "bob", &none, Delivery::Email).await.unwrap();
    assert!(matches!(told, InvitationOutcome::HasAccount(id) if id == bob.id));
    let new = invited(invite(&fixture, &blind, "bob", &none, Delivery::Email).await.unwrap());
    assert!(fixture.mails().await.is_empty(), "the account needs no invitation");
    assert!(matches!(accept(&fixture, &new).await, Err(Error::InvalidLink)));
    // A second time it looks like any invited address.
    let again = invite(&fixture, &blind, "bob", &none, Delivery::Link).await.unwrap();
    assert!(matches!(again, InvitationOutcome::IsInvited));
    assert_eq!(fixture.user(bob.id).await.password, bob.password);
}

#[tokio::test]
async fn expired_or_revoked_invitation_is_refused_and_can_be_replaced() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.staff("ada", INVITER).await).await;
    let none = InvitedAccess::default();
    let first = link(&fixture, &actor, "bob", &none).await;
    fixture.2.advance(invitations::LIFETIME);
    assert!(matches!(accept(&fixture, &first).await, Err(Error::InvalidLink)));
    let second = link(&fixture, &actor, "bob", &none).await;
    let grant = actor.authorize().unwrap();
    invitations::revoke(&fixture.0, &grant, second.record.id).await.unwrap();
    assert!(matches!(accept(&fixture, &second).await, Err(Error::InvalidLink)));
    let again = invitations::revoke(&fixture.0, &grant, second.record.id).await;
    assert!(matches!(again, Err(Error::NotFound(RecordKind::Invitation))));
    let third = link(&fixture, &actor, "bob", &none).await;
    accept(&fixture, &third).await.unwrap();
}

#[tokio::test]
async fn account_that_staff_create_ends_the_invitation_of_its_address() {
    let fixture = Fixture::new();
    let actor = fixture.actor(&fixture.superuser("root").await).await;
    let new = link(&fixture, &actor, "bob", &InvitedAccess::default()).await;
    fixture.ordinary("bob").await;
    assert!(matches!(accept(&fixture, &new).await, Err(Error::InvalidLink)));
    let left = fixture.1.store.read().await.unwrap().invitations().by_email(&email("bob")).await.unwrap();
    assert_eq!(left, None);
}

#[tokio::test]
async fn account_without_password_login_is_not_created_with_a_password() {
    let fixture = Fixture::with(|settings| settings.password_login = PasswordLogin::Only(Vec::new()));
    let actor = fixture.actor(&fixture.superuser("root").await).await;
    let new = link(&fixture, &actor, "bob", &InvitedAccess::default()).await;
    assert!(!invitation_acceptance::open(&fixture.0, token(&new.link)).await.unwrap().can_have_password);
    assert!(matches!(accept(&fixture, &new).await, Err(Error::Forbidden)));
}
