//! Invitations that are accepted by a sign-in at a provider.

use super::{person, provider_rules, sign_in_with};
use crate::account::ADA;
use docent_app::accounts::create::Flags;
use docent_app::accounts::invitations::{self, Delivery, InvitationOutcome, NewInvitation};
use docent_app::settings::PasswordLogin;
use docent_domain::access::Actor;
use docent_domain::group::{Group, GroupName};
use docent_domain::id::GroupId;
use docent_domain::identity::{IdentityClaims, ProviderRules};
use docent_domain::invitation::InvitedAccess;
use docent_domain::permission::PermissionSet;
use docent_domain::text::Email;
use docent_tests::app::TestApp;
use docent_tests::browser::Browser;
use docent_tests::rules;

/// Only invited people get accounts.
fn invited_only() -> ProviderRules {
    ProviderRules { creates_accounts: false, ..provider_rules() }
}

/// Invites [`ADA`] into a new group. Returns the link and the group.
async fn invite(app: &TestApp) -> (NewInvitation, GroupId) {
    let root = app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
    let group = Group {
        id: app.app.new_id(GroupId::generate),
        name: GroupName::parse("Clerks").unwrap(),
        permissions: PermissionSet::EMPTY,
        created_at: app.app.now(),
    };
    let mut work = app.ports.store.begin().await.unwrap();
    assert!(work.groups().insert(&group).await.unwrap());
    work.commit().await.unwrap();
    let (actor, access) =
        (Actor::of(&root).unwrap(), InvitedAccess { groups: [group.id].into(), ..InvitedAccess::default() });
    let (grant, emails) = (actor.authorize().unwrap(), [Email::parse(ADA).unwrap()]);
    let outcomes =
        invitations::invite(&app.app, &actor, &grant, &emails, &access, Delivery::Link).await.unwrap();
    match outcomes.into_iter().next().unwrap() {
        (_, InvitationOutcome::Invited(new)) => (new, group.id),
        other => panic!("{other:?}"),
    }
}

rules! {
    async fn sign_in_accepts_the_invitation_of_the_verified_address(setup) {
        let settings = |settings: &mut docent_app::settings::Settings| settings.password_login = PasswordLogin::Only(Vec::new());
        let app = setup.identity_provider(invited_only()).settings(settings).start().await;
        let (new, group) = invite(&app).await;
        let path = format!("/account/invitation?{}", new.link.split_once('?').unwrap().1);
        let page = Browser::new(&app).get(&path).await.expect(200).text;
        assert!(page.contains("/auth/oidc/sso/login?next=%2Fchat") && !page.contains("name=\"password\""), "{page}");
        let unverified = IdentityClaims { is_email_verified: Some(false), ..person(&app, "1", ADA) };
        let _ = sign_in_with(&app, &mut Browser::new(&app), unverified).await.expect(403);
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "2", "bob@example.org")).await.expect(403);
        let mut browser = Browser::new(&app);
        let _ = sign_in_with(&app, &mut browser, person(&app, "1", ADA)).await.expect(303);
        assert!(browser.get("/account").await.expect(200).text.contains(ADA));
        let mut view = app.ports.store.read().await.unwrap();
        let ada = view.users().by_email(&Email::parse(ADA).unwrap()).await.unwrap().unwrap();
        assert_eq!(view.groups().assigned_permissions(ada.id).await.unwrap().groups, [group].into());
        assert!(ada.email_verified_at.is_some() && !ada.password.is_usable());
        let _ = Browser::new(&app).get(&path).await.expect(400);
    }

    async fn expired_invitation_lets_nobody_in(setup) {
        let app = setup.identity_provider(invited_only()).start().await;
        let _ = invite(&app).await;
        app.advance(invitations::LIFETIME);
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", ADA)).await.expect(403);
    }
}
