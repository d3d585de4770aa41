//! Sign-in at identity providers: `/auth/oidc/{provider}` and `/account/identities`.

mod connecting;
mod groups;
mod invitations;
mod logout;
mod refusals;
mod staff;

use super::ADA;
use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::identity::{IdentityClaims, ProviderName, ProviderRules};
use docent_domain::listing::AuditFilter;
use docent_domain::text::Email;
use docent_ports::clock::Clock;
use docent_testkit::fakes::identity_provider::{FakeIdentityProvider, Grant, ISSUER};
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::reply::Reply;
use docent_tests::rules;
use std::time::Duration;

pub(crate) fn provider_rules() -> ProviderRules {
    ProviderRules {
        name: ProviderName::parse("sso").unwrap(),
        label: "Example ID".to_owned(),
        email_domains: Vec::new(),
        creates_accounts: true,
        links_by_email: true,
        links_used_accounts: true,
        trusts_email: false,
        groups: Vec::new(),
        staff_group: None,
        superuser_group: None,
        second_factor_values: vec!["mfa".to_owned()],
    }
}

/// Claims of a person with a verified email address, who has just signed in.
pub(crate) fn person(app: &TestApp, subject: &str, email: &str) -> IdentityClaims {
    IdentityClaims {
        email: Some(Email::parse(email).unwrap()),
        is_email_verified: Some(true),
        session: Some(format!("session of {subject}")),
        authenticated_at: Some(app.clock.now()),
        id_token: Some("signed".to_owned()),
        ..IdentityClaims::new(ISSUER, subject)
    }
}

fn provider(app: &TestApp) -> &FakeIdentityProvider {
    &app.providers[0]
}

/// Opens the provider's page and returns the state of the request.
async fn begin(app: &TestApp, browser: &mut Browser, link: &str) -> String {
    let reply = browser.get(link).await.expect(303);
    assert!(reply.header("location").starts_with(&format!("{ISSUER}/authorize?")));
    provider(app).asked().last().unwrap().state.clone()
}

/// Begins a sign-in, and returns to the service with a code for these claims.
pub(crate) async fn sign_in_with(app: &TestApp, browser: &mut Browser, claims: IdentityClaims) -> Reply {
    let state = begin(app, browser, "/auth/oidc/sso/login?next=%2Faccount%2Fsessions").await;
    provider(app).issue("code", Grant::new(claims, app.clock.now()));
    browser.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await
}

rules! {
    async fn first_sign_in_creates_an_account_without_a_password(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut browser = Browser::new(&app);
        let page = browser.get("/account/login?next=%2Faccount%2Fsessions").await.expect(200).text;
        let link = "/auth/oidc/sso/login?next=%2Faccount%2Fsessions";
        assert!(page.contains(&format!("href=\"{link}\">Sign in with Example ID</a>")), "{page}");
        let reply = sign_in_with(&app, &mut browser, person(&app, "1", ADA)).await.expect(303);
        assert_eq!(reply.header("location"), "/account/sessions");
        assert!(browser.get("/account").await.expect(200).text.contains(ADA));
        let _ = browser.get("/admin").await.expect(303);
        for password in ["!", "", PASSWORD] {
            assert_eq!(app.login(ADA, password).await.status, 401, "{password:?}");
        }
        let entries = app.audit(AuditFilter { action: Some(AuditAction::Add), ..AuditFilter::default() }).await;
        assert_eq!(entries[0].changes["identity_provider"].after.as_deref(), Some("sso"));
        let logins = app.audit(AuditFilter { action: Some(AuditAction::Login), ..AuditFilter::default() }).await;
        assert_eq!(logins[0].changes["identity_provider"].after.as_deref(), Some("sso"));
        // The same person, whose address has changed at the provider, has the same account.
        let mut again = Browser::new(&app);
        let _ = sign_in_with(&app, &mut again, person(&app, "1", "new@example.org")).await.expect(303);
        assert!(again.get("/account").await.expect(200).text.contains(ADA));
        // Another person with the old address does not get a second account, but the existing one by the verified address.
        let mut other = Browser::new(&app);
        let _ = sign_in_with(&app, &mut other, person(&app, "2", "bob@example.org")).await.expect(303);
        assert!(other.get("/account").await.expect(200).text.contains("bob@example.org"));
    }

    /// Tabs of a browser share its cookie.
    async fn two_tabs_sign_in_at_the_same_time_and_leave_one_session(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut browser = Browser::new(&app);
        let mut tabs = Vec::new();
        for (code, page) in [("first", "/account"), ("second", "/account/sessions")] {
            let state = begin(&app, &mut browser, &format!("/auth/oidc/sso/login?next={}", page.replace('/', "%2F"))).await;
            provider(&app).issue(code, Grant::new(person(&app, "1", ADA), app.clock.now()));
            tabs.push((format!("/auth/oidc/sso/callback?code={code}&state={state}"), page));
        }
        for (callback, page) in tabs.into_iter().rev() {
            assert_eq!(browser.get(&callback).await.expect(303).header("location"), page);
        }
        let user = app.ports.store.read().await.unwrap().users().by_email(&Email::parse(ADA).unwrap()).await.unwrap().unwrap();
        let valid = app.sessions(user.id).await.into_iter().filter(|session| session.is_valid(app.clock.now()));
        assert_eq!(valid.count(), 1, "the second sign-in ends the session of the first");
    }

    async fn verified_address_links_an_existing_account_unless_it_is_staff(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let ada = app.account(ADA, Flags::default()).await;
        app.account("staff@example.org", Flags { is_staff: true, is_superuser: false }).await;
        app.account("root@example.org", Flags { is_staff: true, is_superuser: true }).await;
        let mut browser = Browser::new(&app);
        let _ = sign_in_with(&app, &mut browser, person(&app, "1", ADA)).await.expect(303);
        assert_eq!(app.sessions(ada.id).await.len(), 1);
        assert_eq!(app.login(ADA, PASSWORD).await.status, 200, "the password remains");
        for email in ["staff@example.org", "root@example.org"] {
            let mut browser = Browser::new(&app);
            let page = sign_in_with(&app, &mut browser, person(&app, email, email)).await.expect(403).text;
            assert!(page.contains("is not connected with this provider"), "{page}");
            let _ = browser.get("/account").await.expect(303);
        }
        let failed = AuditFilter { action: Some(AuditAction::LoginFailed), ..AuditFilter::default() };
        let reasons: Vec<_> = app.audit(failed).await.into_iter().map(|entry| entry.changes["reason"].after.clone()).collect();
        assert_eq!(reasons, [Some("not connected".to_owned()), Some("not connected".to_owned())]);
    }

    async fn sign_in_returns_to_own_pages_alone(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        for (next, opened) in [
            ("/chat?conversation=1", "/chat?conversation=1"),
            ("/account/sessions", "/account/sessions"),
            ("/admin/jobs", "/admin/jobs"),
            ("https://evil.example", "/chat"),
            ("//evil.example", "/chat"),
            ("/\\evil.example", "/chat"),
            ("/account/../\\evil.example", "/chat"),
            ("", "/chat"),
        ] {
            let mut browser = Browser::new(&app);
            let link = format!("/auth/oidc/sso/login?next={}", next.replace('/', "%2F").replace('?', "%3F").replace('\\', "%5C"));
            let state = begin(&app, &mut browser, &link).await;
            provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
            let reply = browser.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await.expect(303);
            assert_eq!(reply.header("location"), opened, "{next:?}");
        }
    }

    async fn second_factor_of_the_provider_or_of_the_account_is_needed(setup) {
        let app = setup
            .identity_provider(provider_rules())
            .settings(|settings| settings.second_factor_rule = docent_domain::second_factor::SecondFactorRule::Everyone)
            .start()
            .await;
        let mut without = Browser::new(&app);
        let _ = sign_in_with(&app, &mut without, person(&app, "1", ADA)).await.expect(303);
        assert_eq!(without.get("/account/sessions").await.expect(303).header("location"), "/account/second-factor");
        // Setting one up needs a proof, which is a new sign-in at the provider for an account without a password.
        let proof = "/auth/oidc/sso/confirm?next=%2Faccount%2Fsecond-factor";
        let state = begin(&app, &mut without, proof).await;
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let reply = without.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await.expect(303);
        assert_eq!(reply.header("location"), "/account/second-factor");
        let mut with = Browser::new(&app);
        let claims = IdentityClaims { methods: vec!["pwd".to_owned(), "mfa".to_owned()], ..person(&app, "1", ADA) };
        let _ = sign_in_with(&app, &mut with, claims).await.expect(303);
        let _ = with.get("/account/sessions").await.expect(200);
    }

    async fn provider_that_is_down_shows_the_form_for_passwords(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        provider(&app).set_down(true);
        app.account(ADA, Flags::default()).await;
        let mut browser = Browser::new(&app);
        let page = browser.get("/auth/oidc/sso/login?next=%2Faccount").await.expect(503).text;
        assert!(page.contains("does not answer") && page.contains("name=\"password\""), "{page}");
        assert!(page.contains("/auth/oidc/sso/login?next=%2Faccount"), "a link to try again");
        let _ = browser.login_at("/account/login", ADA, PASSWORD).await.expect(303);
        // Down between the request and the response.
        provider(&app).set_down(false);
        let mut browser = Browser::new(&app);
        let state = begin(&app, &mut browser, "/auth/oidc/sso/login").await;
        provider(&app).set_down(true);
        let reply = browser.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await.expect(503);
        assert!(reply.text.contains("does not answer"));
        let _ = app.get("/health/ready").await.expect(200);
    }

    async fn password_login_is_limited_to_the_named_accounts(setup) {
        let root = Email::parse("root@example.org").unwrap();
        let only = docent_app::settings::PasswordLogin::Only(vec![root]);
        let app = setup.identity_provider(provider_rules()).settings(|settings| settings.password_login = only).start().await;
        for email in [ADA, "root@example.org"] {
            app.account(email, Flags::default()).await;
        }
        assert_eq!(app.login(ADA, PASSWORD).await.status, 401);
        assert_eq!(app.login("root@example.org", PASSWORD).await.status, 200);
        let _ = Browser::new(&app).login_at("/account/login", ADA, PASSWORD).await.expect(401);
        let _ = Browser::new(&app).login_at("/account/login", "root@example.org", PASSWORD).await.expect(303);
        let _ = app.post("/auth/password-reset", serde_json::json!({ "email": ADA })).await.expect(202);
        assert!(app.mails().await.is_empty());
        app.advance(Duration::from_secs(60));
        let page = app.get("/account/login").await.expect(200).text;
        assert!(page.contains("<details><summary>Sign in with a password</summary>"), "{page}");
    }
}
