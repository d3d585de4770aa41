use crate::fixture::{DATA, Fixture, email, refused_field};
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::{email_change, profile, sessions, users, verification};
use docent_app::audit::Initiator;
use docent_app::error::Error;
use docent_domain::access::Actor;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::id::SessionId;
use docent_domain::listing::PageRequest;
use docent_domain::permission::Permission::{
    AddApiKey, AddVerification, ChangeUser, DeleteConversation, ViewConversation,
};
use docent_domain::user::Password;
use docent_domain::verification::VerificationPurpose;
use docent_testkit::builders::{api_key, session};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

const PASSWORD: &str = "correct horse";
const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn key(actor: &Actor, scopes: &[&'static str]) -> ApiKeyInput {
    ApiKeyInput {
        user: actor.user(),
        name: ApiKeyName::parse("a key").unwrap(),
        scopes: ApiKeyScopes::parse(scopes.iter().copied()).unwrap(),
        collections: None,
        expires_at: None,
    }
}

#[tokio::test]
async fn own_password_is_changed_with_the_current_one_and_the_owner_is_notified() {
    let fixture = Fixture::new();
    let user = fixture.staff("ada", &[]).await;
    let (actor, app) = (fixture.actor(&user).await, &fixture.0);
    let new = || Password::parse_new("another secret".to_owned()).unwrap();
    let wrong = profile::change_password(app, &actor, "wrong".to_owned(), new()).await;
    assert!(matches!(wrong, Err(Error::InvalidCredentials)));
    assert!(fixture.mails().await.is_empty());
    profile::change_password(app, &actor, PASSWORD.to_owned(), new()).await.unwrap();
    assert_ne!(fixture.user(user.id).await.password, user.password);
    let mails = fixture.mails().await;
    assert_eq!((mails.len(), mails[0].subject.as_str()), (1, "Your password was changed"));
}

#[tokio::test]
async fn owner_is_notified_of_changes_by_staff() {
    let fixture = Fixture::new();
    let actor = fixture
        .actor(&fixture.staff("manager", &[&[ChangeUser, AddVerification], DATA].concat()).await)
        .await;
    let user = fixture.staff("ada", &[]).await;
    let (app, new) = (&fixture.0, Password::parse_new("another secret".to_owned()).unwrap());
    users::set_password(app, &actor, actor.authorize().unwrap(), user.id, new).await.unwrap();
    let mut input = fixture.current(user.id).await;
    input.email = email("elsewhere");
    users::change(app, &actor, actor.authorize().unwrap(), user.id, &input).await.unwrap();
    let mails = fixture.mails().await;
    let sent: Vec<_> = mails.iter().map(|mail| (mail.subject.as_str(), mail.to.clone())).collect();
    let to = email("ada");
    assert_eq!(sent, [("Your password was changed", to.clone()), ("Your email address was changed", to)]);
    for name in ["Legal", "Sales"] {
        input.assigned.groups.insert(fixture.group(name, &[]).await.id);
        users::change(app, &actor, actor.authorize().unwrap(), user.id, &input).await.unwrap();
        let mail = fixture.mails().await.pop().unwrap();
        assert_eq!((mail.subject.as_str(), &mail.to), ("Your account was added to a group", &input.email));
        let begin = format!("manager@example.org added your account to: {name}.");
        assert!(mail.text.starts_with(&begin), "{}", mail.text);
    }
    let sent = fixture.mails().await.len();
    input.assigned.groups.clear();
    users::change(app, &actor, actor.authorize().unwrap(), user.id, &input).await.unwrap();
    let grant = actor.authorize().unwrap();
    verification::issue(app, &actor, &grant, user.id, VerificationPurpose::VerifyEmail).await.unwrap();
    assert_eq!(fixture.mails().await.len(), sent, "neither opens anything");
    verification::issue(app, &actor, &grant, user.id, VerificationPurpose::ResetPassword).await.unwrap();
    let mail = fixture.mails().await.pop().unwrap();
    assert_eq!(mail.subject, "A link for a new password was created for your account");
    assert!(mail.text.contains("manager@example.org created a link") && !mail.text.contains("token="));
}

#[tokio::test]
async fn key_for_another_account_requires_access_to_its_data_and_names_its_creator() {
    let fixture = Fixture::new();
    let (ada, app) = (fixture.actor(&fixture.staff("ada", &[]).await).await, &fixture.0);
    let maker = fixture.actor(&fixture.staff("maker", &[AddApiKey]).await).await;
    assert_eq!(refused_field(api_keys::create(app, &maker, key(&ada, &["chat"])).await), "scopes");
    let rights = [AddApiKey, ViewConversation, DeleteConversation];
    let reader = fixture.actor(&fixture.staff("reader", &rights).await).await;
    let made = api_keys::create(app, &reader, key(&ada, &["chat"])).await.unwrap().record;
    assert_eq!(made.created_by, Some(reader.user()));
    let own = api_keys::create(app, &ada, key(&ada, &["chat", "read"])).await.unwrap().record;
    let news = api_keys::new_by_others(app, &ada).await.unwrap();
    assert_eq!(news.iter().map(|key| key.id).collect::<Vec<_>>(), [made.id]);
    let mails = fixture.mails().await;
    assert!(
        mails[0].text.contains("reader@example.org created the API key \"a key\" with the scopes \"chat\"")
    );
    assert!(mails.iter().all(|mail| mail.to == email("ada")) && mails.len() == 2);
    assert!(api_keys::get_own(app, &ada, own.id).await.is_ok());
    assert!(matches!(api_keys::get_own(app, &reader, made.id).await, Err(Error::NotFound(_))));
    api_keys::revoke(app, &ada, made.id).await.unwrap();
    assert!(api_keys::new_by_others(app, &ada).await.unwrap().is_empty());
}

#[tokio::test]
async fn key_from_the_command_line_has_no_creator() {
    let fixture = Fixture::new();
    let ada = fixture.actor(&fixture.staff("ada", &[]).await).await;
    let service = fixture.0.account_service();
    let made = service.create_api_key(&Initiator::command_line(), key(&ada, &["chat"])).await.unwrap();
    assert_eq!(made.record.created_by, None);
    assert!(api_keys::new_by_others(&fixture.0, &ada).await.unwrap().is_empty());
}

#[tokio::test]
async fn only_own_sessions_can_be_ended() {
    let fixture = Fixture::new();
    let (ada, root) = (fixture.staff("ada", &[]).await, fixture.superuser("root").await);
    let of_ada = session(1, ada.id);
    let mut work = fixture.1.store.begin().await.unwrap();
    work.sessions().insert(&of_ada).await.unwrap();
    work.commit().await.unwrap();
    let is_revoked = async |id: SessionId| {
        let session = fixture.1.store.read().await.unwrap().sessions().get(id).await.unwrap();
        session.unwrap().revoked_at.is_some()
    };
    let refused = sessions::revoke_own(&fixture.0, &fixture.actor(&root).await, of_ada.id).await;
    assert!(matches!(refused, Err(Error::NotFound(_))) && !is_revoked(of_ada.id).await);
    sessions::revoke_own(&fixture.0, &fixture.actor(&ada).await, of_ada.id).await.unwrap();
    assert!(is_revoked(of_ada.id).await);
}

/// Requests a change of the address and returns the token in the email.
async fn token(fixture: &Fixture, actor: &Actor, new: &str) -> String {
    email_change::request(&fixture.0, actor, PASSWORD.to_owned(), email(new)).await.unwrap();
    let mail = fixture.mails().await.pop().unwrap();
    assert_eq!(mail.to, email(new));
    let (_, rest) = mail.text.split_once("?token=").unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

// Invariant: An email address changes only when its new mailbox confirms.
#[tokio::test]
async fn email_address_changes_only_when_confirmed() {
    let fixture = Fixture::new();
    let user = fixture.staff("ada", &[]).await;
    let actor = fixture.actor(&user).await;
    let earlier = token(&fixture, &actor, "first").await;
    let token = token(&fixture, &actor, "second").await;
    assert_eq!(fixture.user(user.id).await.email, email("ada"));
    let confirm = async |token: &str| email_change::confirm(&fixture.0, token, ADDRESS).await;
    assert!(matches!(confirm(&earlier).await, Err(Error::InvalidLink)), "replaced by the later one");
    confirm(&token).await.unwrap();
    assert!(matches!(confirm(&token).await, Err(Error::InvalidLink)), "used");
    let changed = fixture.user(user.id).await;
    assert!(changed.email == email("second") && changed.email_verified_at.is_some());
    let entries = fixture.changes(user.id).await;
    assert_eq!(entries[0].changes["email"].after.as_deref(), Some("second@example.org"));
    let notice = fixture.mails().await.pop().unwrap();
    assert!(notice.to == email("ada") && notice.text.contains("second@example.org"));
}

#[tokio::test]
async fn deactivation_invalidates_the_link_of_an_email_change() {
    let fixture = Fixture::new();
    let (user, root) = (fixture.staff("ada", &[]).await, fixture.superuser("root").await);
    let token = token(&fixture, &fixture.actor(&user).await, "new").await;
    let (root, mut input) = (fixture.actor(&root).await, fixture.current(user.id).await);
    input.is_active = false;
    users::change(&fixture.0, &root, root.authorize().unwrap(), user.id, &input).await.unwrap();
    assert!(matches!(email_change::confirm(&fixture.0, &token, ADDRESS).await, Err(Error::InvalidLink)));
    assert_eq!(fixture.user(user.id).await.email, email("ada"));
}

#[tokio::test]
async fn new_password_or_the_end_of_all_sessions_invalidates_the_link_of_an_email_change() {
    let new = || Password::parse_new("another secret".to_owned()).unwrap();
    for way in 0..3 {
        let fixture = Fixture::new();
        let (user, root) = (fixture.staff("ada", &[]).await, fixture.superuser("root").await);
        let (actor, root, app) = (fixture.actor(&user).await, fixture.actor(&root).await, &fixture.0);
        let token = token(&fixture, &actor, "thief").await;
        match way {
            0 => profile::change_password(app, &actor, PASSWORD.to_owned(), new()).await.unwrap(),
            1 => users::set_password(app, &root, root.authorize().unwrap(), user.id, new()).await.unwrap(),
            _ => sessions::revoke_all(app, &root, user.id).await.unwrap(),
        }
        assert!(
            matches!(email_change::confirm(app, &token, ADDRESS).await, Err(Error::InvalidLink)),
            "{way}"
        );
    }
}

#[tokio::test]
async fn new_access_ends_what_others_made_to_act_for_the_account() {
    let fixture = Fixture::new();
    let (user, root) = (fixture.ordinary("boss").await, fixture.superuser("root").await);
    let (actor, root, app) = (fixture.actor(&user).await, fixture.actor(&root).await, &fixture.0);
    let rights = [&[AddApiKey, AddVerification], DATA].concat();
    let desk = fixture.actor(&fixture.staff("desk", &rights).await).await;
    let of_desk = api_keys::create(app, &desk, key(&actor, &["read"])).await.unwrap().record;
    let of_root = api_keys::create(app, &root, key(&actor, &["read"])).await.unwrap().record;
    let own = api_keys::create(app, &actor, key(&actor, &["read"])).await.unwrap().record;
    let purpose = VerificationPurpose::ResetPassword;
    let link =
        verification::issue(app, &desk, &desk.authorize().unwrap(), user.id, purpose).await.unwrap().token;
    let change = async |is_superuser: bool| {
        let input = users::AccountInput { is_superuser, ..fixture.current(user.id).await };
        users::change(app, &root, root.authorize().unwrap(), user.id, &input).await.unwrap();
        let mut view = fixture.1.store.read().await.unwrap();
        let mut valid = Vec::new();
        for id in [of_desk.id, of_root.id, own.id] {
            valid.push(view.api_keys().get(id).await.unwrap().unwrap().revoked_at.is_none());
        }
        valid
    };
    assert_eq!(change(false).await, [true, true, true]);
    assert_eq!(change(true).await, [false, true, true]);
    let new = Password::parse_new("another secret".to_owned()).unwrap();
    let reset = verification::reset_password(app, &link, new, ADDRESS).await;
    assert!(matches!(reset, Err(Error::InvalidLink)));
}

#[tokio::test]
async fn own_account_is_deleted_with_the_password_unless_it_is_the_last_superuser() {
    let fixture = Fixture::new();
    let (ada, root) = (fixture.staff("ada", &[]).await, fixture.superuser("root").await);
    let delete = async |user, password: &str| {
        profile::delete(&fixture.0, &fixture.actor(user).await, password.to_owned()).await
    };
    assert!(matches!(delete(&ada, "wrong").await, Err(Error::InvalidCredentials)));
    assert!(matches!(delete(&root, PASSWORD).await, Err(Error::LastSuperuser)));
    delete(&ada, PASSWORD).await.unwrap();
    let page = PageRequest { offset: 0, limit: 9 };
    let left = fixture.1.store.read().await.unwrap().users().list(&Default::default(), page).await.unwrap();
    assert_eq!(left.records.iter().map(|user| user.id).collect::<Vec<_>>(), [root.id]);
    let _other = fixture.superuser("other").await;
    delete(&root, PASSWORD).await.unwrap();
}

#[tokio::test]
async fn api_key_can_change_nothing_of_its_account() {
    let fixture = Fixture::new();
    let user = fixture.staff("ada", &[]).await;
    let by_key = fixture.actor(&user).await.with_key(&api_key(1, user.id));
    let (app, secret) = (&fixture.0, || PASSWORD.to_owned());
    let new = Password::parse_new("another secret".to_owned()).unwrap();
    let changes = [
        profile::change_password(app, &by_key, secret(), new).await,
        profile::delete(app, &by_key, secret()).await,
        email_change::request(app, &by_key, secret(), email("new")).await,
    ];
    assert!(changes.iter().all(|result| matches!(result, Err(Error::Forbidden))), "{changes:?}");
    assert!(fixture.0.finish_tasks(Duration::from_secs(1)).await);
    assert!(fixture.mails().await.is_empty());
}
