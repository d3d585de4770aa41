//! API sessions, lockouts and the audit entries of logins.

use docent_app::accounts::create::Flags;
use docent_app::accounts::sessions;
use docent_app::audit::Initiator;
use docent_domain::access::Actor;
use docent_domain::audit::{AuditAction, AuditActor};
use docent_domain::listing::AuditFilter;
use docent_domain::session::SessionKind;
use docent_domain::user::Password;
use docent_ports::clock::Clock;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::member::Member;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const ADA: &str = "ada@example.org";
const SECOND: Duration = Duration::from_secs(1);
const REFUSED: &str = "Invalid refresh token";

async fn refresh(app: &TestApp, token: &str) -> Reply {
    app.post("/auth/refresh", json!({ "refresh_token": token })).await
}

/// Checks that both tokens are refused.
async fn assert_signed_out(app: &TestApp, member: &Member) {
    member.get("/documents").await.refused(401, "Could not validate credentials");
    refresh(app, &member.refresh).await.refused(401, REFUSED);
}

/// Fails ten logins and returns the lockout in seconds.
async fn lockout_after_failures(app: &TestApp) -> u64 {
    for _ in 0..10 {
        app.login(ADA, "wrong").await.refused(401, "Invalid email or password");
    }
    let reply = app.login(ADA, PASSWORD).await;
    reply.refused(429, "Too Many Requests");
    reply.header("retry-after").parse().unwrap()
}

rules! {
    async fn login_creates_a_session_with_address_and_client(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let login = app.request(Method::POST, "/auth/token").header("User-Agent", "x".repeat(500));
        let _ = app.send(login.json(&json!({ "email": ADA, "password": PASSWORD }))).await.expect(200);
        let [session] = app.sessions(user.id).await.try_into().unwrap();
        assert_eq!(session.kind, SessionKind::Api);
        assert_eq!(session.client_ip, Some("127.0.0.1".parse().unwrap()));
        assert_eq!(session.user_agent, Some("x".repeat(300)));
        assert_eq!((session.started_at, session.last_used_at), (app.clock.now(), app.clock.now()));
        assert!(session.is_valid(app.clock.now()));
    }

    async fn refresh_updates_the_sessions_last_use(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let [before] = app.sessions(ada.user.id).await.try_into().unwrap();
        app.advance(Duration::from_secs(3600));
        let _ = refresh(&app, &ada.refresh).await.expect(200);
        let [after] = app.sessions(ada.user.id).await.try_into().unwrap();
        assert_eq!((after.id, after.started_at), (before.id, before.started_at));
        assert_eq!(after.last_used_at, app.clock.now());
        assert_eq!(after.expires_at - before.expires_at, chrono::TimeDelta::hours(1));
    }

    async fn logout_ends_only_its_session(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.advance(SECOND);
        let other = Member::login(&app, ada.user.clone()).await;
        let _ = ada.post("/auth/logout", json!({ "refresh_token": ada.refresh })).await.expect(204);
        let sessions = app.sessions(ada.user.id).await;
        let active: Vec<_> = sessions.iter().map(|session| session.revoked_at.is_none()).collect();
        assert_eq!(active, [true, false]);
        let _ = refresh(&app, &other.refresh).await.expect(200);
    }

    // Invariant: A new password or a deactivation ends every session and its access tokens.
    async fn new_password_ends_all_sessions_and_access_tokens(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let bob = app.member("bob@example.org").await;
        app.advance(SECOND);
        let password = Password::parse_new("another password".to_owned()).unwrap();
        app.app.account_service().set_password(&Initiator::command_line(), ada.user.id, password).await.unwrap();
        assert_signed_out(&app, &ada).await;
        assert!(app.sessions(ada.user.id).await.iter().all(|session| session.revoked_at.is_some()));
        app.login(ADA, PASSWORD).await.refused(401, "Invalid email or password");
        let _ = app.login(ADA, "another password").await.expect(200);
        let _ = bob.get("/documents").await.expect(200);
    }

    // Invariant: A new password or a deactivation ends every session and its access tokens.
    async fn deactivation_ends_sessions_permanently(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.advance(SECOND);
        for is_active in [false, true] {
            app.app.account_service().set_active(&Initiator::command_line(), ada.user.id, is_active).await.unwrap();
            assert_signed_out(&app, &ada).await;
        }
        let _ = app.login(ADA, PASSWORD).await.expect(200);
    }

    async fn session_can_be_revoked_only_by_its_account(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let [session] = app.sessions(ada.user.id).await.try_into().unwrap();
        let stranger = Actor::of(&bob.user).unwrap();
        assert!(sessions::revoke(&app.app, &stranger, session.id).await.is_err());
        let _ = refresh(&app, &ada.refresh).await.expect(200);
        sessions::revoke(&app.app, &Actor::of(&ada.user).unwrap(), session.id).await.unwrap();
        refresh(&app, &ada.refresh).await.refused(401, REFUSED);
    }

    async fn refresh_token_reuse_ends_its_session(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let _ = refresh(&app, &ada.refresh).await.expect(200);
        app.advance(Duration::from_secs(31));
        refresh(&app, &ada.refresh).await.refused(401, REFUSED);
        let [session] = app.sessions(ada.user.id).await.try_into().unwrap();
        assert!(session.revoked_at.is_some());
    }

    async fn repeated_lockouts_within_a_day_double(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        // From a network that the account never logged in from, later failures would also be spaced out.
        let _ = app.login(ADA, PASSWORD).await.expect(200);
        for minutes in [15, 30, 60] {
            assert_eq!(lockout_after_failures(&app).await, minutes * 60);
            app.advance(Duration::from_secs(minutes * 60 - 1));
            assert_eq!(app.login(ADA, PASSWORD).await.header("retry-after"), "1");
            app.advance(SECOND);
        }
    }

    async fn successful_login_or_a_day_resets_lockouts(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        for _ in 0..2 {
            assert_eq!(lockout_after_failures(&app).await, 15 * 60);
            app.advance(Duration::from_secs(15 * 60));
            let _ = app.login(ADA, PASSWORD).await.expect(200);
        }
        assert_eq!(lockout_after_failures(&app).await, 15 * 60);
        app.advance(Duration::from_secs(24 * 60 * 60));
        assert_eq!(lockout_after_failures(&app).await, 15 * 60);
    }

    async fn logins_and_failures_are_audited(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        app.advance(SECOND);
        app.login(ADA, "wrong").await.refused(401, "Invalid email or password");
        app.advance(SECOND);
        app.login("unknown@example.org", "secret words").await.refused(401, "Invalid email or password");
        app.advance(SECOND);
        let ada = Member::login(&app, user.clone()).await;
        app.advance(SECOND);
        let _ = ada.post("/auth/logout", json!({ "refresh_token": ada.refresh })).await.expect(204);
        let mut log = app.audit(AuditFilter::default()).await;
        log.truncate(3);
        assert!(log.iter().all(|entry| entry.client_ip == Some("127.0.0.1".parse().unwrap())));
        let [out, login, wrong] = log.try_into().unwrap();
        assert_eq!((out.action, login.action), (AuditAction::Logout, AuditAction::Login));
        for entry in [out, login] {
            assert_eq!(entry.actor, AuditActor::User { id: user.id, email: ADA.to_owned(), api_key: None });
            assert_eq!(entry.record, user.id.to_string());
        }
        assert_eq!((wrong.action, wrong.actor, wrong.record), (AuditAction::LoginFailed, AuditActor::Unauthenticated, user.id.to_string()));
    }

    async fn failed_logins_of_unknown_accounts_are_one_entry_per_network_and_hour(setup) {
        let app = setup.start().await;
        let failures = AuditFilter { action: Some(AuditAction::LoginFailed), ..AuditFilter::default() };
        for n in 0..12 {
            app.login(&format!("unknown{n}@example.org"), "secret words").await.refused(401, "Invalid email or password");
        }
        let background = app.background();
        background.maintain_audit_log(app.clock.now()).await.unwrap();
        assert_eq!(app.audit(failures.clone()).await, [], "the hour is not over");
        app.advance(Duration::from_secs(3600));
        app.login("unknown@example.org", "secret words").await.refused(401, "Invalid email or password");
        for _ in 0..2 {
            background.maintain_audit_log(app.clock.now()).await.unwrap();
            let log = app.audit(failures.clone()).await;
            let [entry] = log.as_slice() else { panic!("{log:?}") };
            let value = |field: &str| entry.changes[field].after.clone().unwrap();
            assert_eq!((value("network"), value("attempts")), ("127.0.0.0/24".to_owned(), "12".to_owned()));
            assert_eq!((entry.actor.clone(), entry.record.as_str(), entry.client_ip), (AuditActor::Unauthenticated, "", None));
            assert!(!format!("{entry:?}").contains("unknown1"), "the entered text may be a password");
        }
    }
}
