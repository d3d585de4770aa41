//! Second factors of accounts.

use crate::fixture::{Fixture, password};
use docent_app::App;
use docent_app::accounts::api_keys::{self, ApiKeyInput};
use docent_app::accounts::login::{self, Destination};
use docent_app::accounts::second_factor::{self, Missing};
use docent_app::accounts::sessions::ClientInfo;
use docent_app::accounts::{authenticate, refresh};
use docent_app::error::{Error, Result};
use docent_app::settings::Settings;
use docent_domain::access::Actor;
use docent_domain::api_key::{ApiKeyName, ApiKeyScopes};
use docent_domain::connection::Resource;
use docent_domain::permission::Permission;
use docent_domain::second_factor::SecondFactorRule;
use docent_domain::user::User;
use docent_ports::clock::Clock;
use std::time::Duration;
use totp_rs::{Secret, Totp};

const STEP: Duration = Duration::from_secs(30);

/// An account's authenticator app.
struct Authenticator(Totp);

impl Authenticator {
    /// Sets up a second factor. Returns the app and the recovery codes.
    async fn set_up(fixture: &Fixture, actor: &Actor) -> (Self, Vec<String>) {
        let enrolment = second_factor::begin(&fixture.0, actor, "Docent").await.unwrap();
        let app = Self(Totp::from_url(&enrolment.uri).unwrap());
        assert_eq!(app.0.secret(), &Secret::try_from_base32(&enrolment.secret).unwrap());
        let codes = second_factor::confirm(&fixture.0, actor, &app.code(fixture)).await.unwrap();
        fixture.2.advance(STEP);
        (app, codes.0)
    }

    /// The code that the app shows now.
    fn code(&self, fixture: &Fixture) -> String {
        self.0.generate(u64::try_from(fixture.2.now().timestamp()).unwrap()).to_string()
    }
}

fn client() -> ClientInfo {
    ClientInfo::new("192.0.2.7".parse().unwrap(), None)
}

async fn log_in(fixture: &Fixture, user: &User, code: Option<&str>) -> Result<()> {
    let password = password().expose().to_owned();
    login::login(&fixture.0, user.email.as_str(), password, code, &client()).await.map(drop)
}

#[tokio::test]
async fn login_needs_password_and_code() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let actor = fixture.actor(&user).await;
    second_factor::begin(&fixture.0, &actor, "Docent").await.unwrap();
    log_in(&fixture, &user, None).await.unwrap();
    let (app, _) = Authenticator::set_up(&fixture, &actor).await;
    assert!(
        matches!(log_in(&fixture, &user, None).await, Err(Error::CodeRequired { user: id, .. }) if id == user.id)
    );
    assert!(matches!(log_in(&fixture, &user, Some("000000")).await, Err(Error::InvalidCode)));
    let (from, code) = (client(), app.code(&fixture));
    let wrong = login::login(&fixture.0, "ada@example.org", "wrong".into(), Some(&code), &from).await;
    assert!(matches!(wrong, Err(Error::InvalidCredentials)), "the password is checked first");
    log_in(&fixture, &user, Some(&format!("{} {}", &code[..3], &code[3..]))).await.unwrap();
}

#[tokio::test]
async fn code_works_once_and_only_near_its_time() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let (app, _) = Authenticator::set_up(&fixture, &fixture.actor(&user).await).await;
    let code = app.code(&fixture);
    let attempts = (0..8).map(|_| log_in(&fixture, &user, Some(&code)));
    let attempts = futures::future::join_all(attempts).await;
    assert_eq!(attempts.iter().filter(|attempt| attempt.is_ok()).count(), 1);
    fixture.2.advance(STEP);
    let previous = app.code(&fixture);
    fixture.2.advance(STEP);
    log_in(&fixture, &user, Some(&previous)).await.unwrap();
    let current = app.code(&fixture);
    log_in(&fixture, &user, Some(&current)).await.unwrap();
    assert!(log_in(&fixture, &user, Some(&previous)).await.is_err(), "an earlier code after a later one");
    fixture.2.advance(STEP);
    let old = app.code(&fixture);
    fixture.2.advance(STEP * 2);
    assert!(matches!(log_in(&fixture, &user, Some(&old)).await, Err(Error::InvalidCode)));
}

#[tokio::test]
async fn recovery_code_works_once_and_renewal_replaces_the_others() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let actor = fixture.actor(&user).await;
    let (_, codes) = Authenticator::set_up(&fixture, &actor).await;
    assert_eq!(codes.len(), 10);
    log_in(&fixture, &user, Some(&codes[3].to_uppercase())).await.unwrap();
    assert!(matches!(log_in(&fixture, &user, Some(&codes[3])).await, Err(Error::InvalidCode)));
    log_in(&fixture, &user, Some(&codes[4].replace('-', ""))).await.unwrap();
    let new = second_factor::renew_recovery_codes(&fixture.0, &actor).await.unwrap();
    assert!(log_in(&fixture, &user, Some(&codes[5])).await.is_err());
    log_in(&fixture, &user, Some(&new.0[0])).await.unwrap();
    let stored = format!("{:?}", fixture.user(user.id).await);
    assert!(!new.0.iter().any(|code| stored.contains(code)));
}

#[tokio::test]
async fn wrong_codes_count_as_failed_logins() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let (app, _) = Authenticator::set_up(&fixture, &fixture.actor(&user).await).await;
    for n in 0..10 {
        let failed = log_in(&fixture, &user, Some(&format!("{n:06}"))).await;
        assert!(matches!(failed, Err(Error::InvalidCode)), "{failed:?}");
    }
    let locked = log_in(&fixture, &user, Some(&app.code(&fixture))).await;
    assert!(matches!(locked, Err(Error::TooManyFailedLogins { .. })));
}

#[tokio::test]
async fn panel_login_continues_with_a_code() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let (app, _) = Authenticator::set_up(&fixture, &fixture.actor(&user).await).await;
    let from = client();
    let enter = async || {
        let password = password().expose().to_owned();
        login::enter(&fixture.0, Destination::Panel, "ada@example.org", password, &from).await
    };
    assert!(matches!(enter().await, Err(Error::CodeRequired { .. })));
    let checked_at = fixture.2.now();
    let with_code = async |code: &str| {
        login::enter_with_code(&fixture.0, Destination::Panel, user.id, checked_at, code, &client(), None)
            .await
    };
    assert!(matches!(with_code("000000").await, Err(Error::InvalidCode)));
    with_code(&app.code(&fixture)).await.unwrap();
    fixture.2.advance(STEP);
    let initiator = docent_app::audit::Initiator::command_line();
    let new = docent_domain::user::Password::parse_new("battery staple".into()).unwrap();
    fixture.0.account_service().set_password(&initiator, user.id, new).await.unwrap();
    assert!(
        matches!(with_code(&app.code(&fixture)).await, Err(Error::InvalidCredentials)),
        "the password changed"
    );
}

#[tokio::test]
async fn codes_used_while_the_clock_was_ahead_do_not_lock_out() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let (app, _) = Authenticator::set_up(&fixture, &fixture.actor(&user).await).await;
    log_in(&fixture, &user, Some(&app.code(&fixture))).await.unwrap();
    fixture.2.set_back(STEP * 1000);
    let Err(Error::CodeRequired { proof_at, .. }) = log_in(&fixture, &user, None).await else { panic!() };
    let code = app.code(&fixture);
    let with_code = async || {
        login::enter_with_code(&fixture.0, Destination::Panel, user.id, proof_at, &code, &client(), None)
            .await
    };
    with_code().await.unwrap();
    assert!(matches!(with_code().await, Err(Error::InvalidCode)), "a code works once");
}

#[tokio::test]
async fn missing_panel_access_is_said_after_password_and_code() {
    let fixture = Fixture::new();
    let user = fixture.ordinary("ada").await;
    let enter = async |password: &str| {
        let panel = Destination::Panel;
        login::enter(&fixture.0, panel, "ada@example.org", password.to_owned(), &client()).await
    };
    let correct = password().expose().to_owned();
    assert!(matches!(enter("wrong").await, Err(Error::InvalidCredentials)));
    assert!(matches!(enter(&correct).await, Err(Error::NoPanelAccess)));
    let (app, _) = Authenticator::set_up(&fixture, &fixture.actor(&user).await).await;
    assert!(matches!(enter(&correct).await, Err(Error::CodeRequired { .. })));
    let checked_at = fixture.2.now();
    let with_code = async |destination, code: &str| {
        login::enter_with_code(&fixture.0, destination, user.id, checked_at, code, &client(), None).await
    };
    assert!(matches!(with_code(Destination::Panel, "000000").await, Err(Error::InvalidCode)));
    let refused = with_code(Destination::Panel, &app.code(&fixture)).await;
    assert!(matches!(refused, Err(Error::NoPanelAccess)), "{refused:?}");
    fixture.2.advance(STEP);
    with_code(Destination::Account, &app.code(&fixture)).await.unwrap();
}

#[tokio::test]
async fn tokens_and_keys_of_an_account_without_its_required_second_factor_are_refused() {
    let mut fixture = Fixture::new();
    let mut credentials = Vec::new();
    for user in
        [fixture.superuser("ada").await, fixture.staff("eve", &[]).await, fixture.ordinary("bob").await]
    {
        let password = password().expose().to_owned();
        let tokens = login::login(&fixture.0, user.email.as_str(), password, None, &client()).await.unwrap();
        let input = ApiKeyInput {
            user: user.id,
            name: ApiKeyName::parse("a key").unwrap(),
            scopes: ApiKeyScopes::parse(["read"]).unwrap(),
            collections: None,
            expires_at: None,
        };
        let key = api_keys::create(&fixture.0, &fixture.actor(&user).await, input).await.unwrap().key;
        credentials.push((user, tokens, key));
    }
    let [(ada, of_ada, key_of_ada), (_, of_eve, key_of_eve), (_, of_bob, key_of_bob)] = &*credentials else {
        panic!()
    };
    assert_eq!(second_factor::count_missing(&fixture.0).await.unwrap(), Missing::default());
    let settings = Settings {
        accepts_api_keys: true,
        second_factor_rule: SecondFactorRule::Staff,
        ..Settings::default()
    };
    fixture.0 = App::new(fixture.1.clone(), settings);
    let refused =
        async |credential: &str| match authenticate::bearer(&fixture.0, credential, Resource::Api).await {
            Err(Error::SecondFactorRequired) => true,
            other => other.map(|_| false).unwrap(),
        };
    for credential in [&of_ada.access, key_of_ada, &of_eve.access, key_of_eve] {
        assert!(refused(credential).await);
    }
    for credential in [&of_bob.access, key_of_bob] {
        assert!(!refused(credential).await);
    }
    assert!(refresh::refresh(&fixture.0, &of_eve.refresh).await.is_err());
    authenticate::bearer_of_ended_session(&fixture.0, &of_ada.access).await.unwrap();
    let missing = second_factor::count_missing(&fixture.0).await.unwrap();
    assert_eq!(missing, Missing { accounts: 2, api_keys: 2 });
    let (_, _) = Authenticator::set_up(&fixture, &fixture.actor(ada).await).await;
    for credential in [&of_ada.access, key_of_ada] {
        assert!(!refused(credential).await);
    }
    let missing = second_factor::count_missing(&fixture.0).await.unwrap();
    assert_eq!(missing, Missing { accounts: 1, api_keys: 1 });
}

#[tokio::test]
async fn account_that_must_have_a_second_factor_needs_it_for_tokens() {
    let fixture = Fixture::with(|settings| settings.second_factor_rule = SecondFactorRule::Staff);
    let (staff, user) = (fixture.superuser("ada").await, fixture.ordinary("bob").await);
    assert!(matches!(log_in(&fixture, &staff, None).await, Err(Error::SecondFactorRequired)));
    log_in(&fixture, &user, None).await.unwrap();
    let (staff_actor, user_actor) = (fixture.actor(&staff).await, fixture.actor(&user).await);
    let (app, _) = Authenticator::set_up(&fixture, &staff_actor).await;
    log_in(&fixture, &staff, Some(&app.code(&fixture))).await.unwrap();
    assert!(matches!(
        second_factor::remove(&fixture.0, &staff_actor).await,
        Err(Error::SecondFactorRequired)
    ));
    Authenticator::set_up(&fixture, &user_actor).await;
    second_factor::remove(&fixture.0, &user_actor).await.unwrap();
    log_in(&fixture, &user, None).await.unwrap();
}

#[tokio::test]
async fn lost_second_factor_is_reset_by_staff_with_at_least_the_same_access() {
    let fixture = Fixture::new();
    let root = fixture.superuser("root").await;
    let staff = fixture.staff("staff", &[Permission::ChangeUser]).await;
    for user in [&root, &staff] {
        Authenticator::set_up(&fixture, &fixture.actor(user).await).await;
    }
    let actor = fixture.actor(&staff).await;
    let refused = second_factor::reset(&fixture.0, &actor, &actor.authorize().unwrap(), root.id).await;
    assert!(matches!(refused, Err(Error::MissingAccess(_))));
    let actor = fixture.actor(&root).await;
    second_factor::reset(&fixture.0, &actor, &actor.authorize().unwrap(), staff.id).await.unwrap();
    fixture.2.advance(STEP);
    log_in(&fixture, &staff, None).await.unwrap();
    let changes = fixture.changes(staff.id).await;
    let fields: Vec<_> =
        changes.iter().map(|entry| entry.changes["second_factor"].after.as_deref()).collect();
    assert_eq!(fields, [Some("none"), Some("authenticator app")]);
}

#[tokio::test]
async fn second_factor_is_replaced_only_after_its_removal() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let actor = fixture.actor(&user).await;
    assert!(matches!(second_factor::confirm(&fixture.0, &actor, "000000").await, Err(Error::InvalidCode)));
    assert!(matches!(second_factor::remove(&fixture.0, &actor).await, Err(Error::SecondFactorMissing)));
    Authenticator::set_up(&fixture, &actor).await;
    assert!(matches!(
        second_factor::begin(&fixture.0, &actor, "Docent").await,
        Err(Error::SecondFactorExists)
    ));
}

#[tokio::test]
async fn setup_expires_after_ten_minutes() {
    let fixture = Fixture::new();
    let user = fixture.superuser("ada").await;
    let actor = fixture.actor(&user).await;
    let enrolment = second_factor::begin(&fixture.0, &actor, "Docent").await.unwrap();
    let app = Authenticator(Totp::from_url(&enrolment.uri).unwrap());
    fixture.2.advance(Duration::from_secs(10 * 60 - 1));
    assert!(second_factor::pending(&fixture.0, &actor, "Docent").await.unwrap().is_some());
    fixture.2.advance(Duration::from_secs(1));
    assert!(second_factor::pending(&fixture.0, &actor, "Docent").await.unwrap().is_none());
    let late = second_factor::confirm(&fixture.0, &actor, &app.code(&fixture)).await;
    assert!(matches!(late, Err(Error::SetupExpired)));
    assert!(fixture.user(user.id).await.confirmed_second_factor().is_none());
    Authenticator::set_up(&fixture, &actor).await;
}
