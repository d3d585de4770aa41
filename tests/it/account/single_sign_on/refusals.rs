//! Sign-ins that are refused.

use super::{begin, person, provider, provider_rules, sign_in_with};
use crate::account::ADA;
use chrono::TimeDelta;
use docent_app::accounts::create::Flags;
use docent_domain::identity::{IdentityClaims, ProviderName, ProviderRules};
use docent_ports::clock::Clock;
use docent_testkit::fakes::identity_provider::Grant;
use docent_tests::browser::Browser;
use docent_tests::rules;
use std::time::Duration;

const CALLBACK: &str = "/auth/oidc/sso/callback";

rules! {
    async fn response_works_once_in_the_browser_that_began(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut victim = Browser::new(&app);
        let mut attacker = Browser::new(&app);
        let state = begin(&app, &mut attacker, "/auth/oidc/sso/login").await;
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let path = format!("{CALLBACK}?code=code&state={state}");
        // Without an attempt, and with another one.
        let _ = victim.get(&path).await.expect(400);
        let _ = begin(&app, &mut victim, "/auth/oidc/sso/login").await;
        assert!(victim.get(&path).await.expect(400).text.contains("begun in another browser"));
        let _ = victim.get("/account").await.expect(303);
        let _ = attacker.get(&format!("{CALLBACK}?code=code&state={}0", &state[1..])).await.expect(400);
        let _ = attacker.get(&format!("{CALLBACK}?code=code")).await.expect(400);
        let mut before = attacker.clone();
        let _ = attacker.get(&path).await.expect(303);
        let _ = attacker.get(&path).await.expect(400);
        // A copy of the earlier cookie has the attempt, but the code was used.
        let _ = before.get(&path).await.expect(400);
    }

    async fn code_of_another_request_is_refused(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut attacker = Browser::new(&app);
        let _ = begin(&app, &mut attacker, "/auth/oidc/sso/login").await;
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        // Injected into the victim's response: neither verifier nor nonce fit.
        let mut victim = Browser::new(&app);
        let state = begin(&app, &mut victim, "/auth/oidc/sso/login").await;
        let _ = victim.get(&format!("{CALLBACK}?code=code&state={state}")).await.expect(400);
        let _ = victim.get("/account").await.expect(303);
    }

    async fn attempt_expires_and_belongs_to_its_provider(setup) {
        let other = ProviderRules { name: ProviderName::parse("other").unwrap(), ..provider_rules() };
        let app = setup.identity_provider(provider_rules()).identity_provider(other).start().await;
        let mut browser = Browser::new(&app);
        let state = begin(&app, &mut browser, "/auth/oidc/sso/login").await;
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let _ = browser.get(&format!("/auth/oidc/other/callback?code=code&state={state}")).await.expect(400);
        let state = begin(&app, &mut browser, "/auth/oidc/sso/login").await;
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let foreign = "https%3A%2F%2Fother.example.net";
        let mixed = format!("{CALLBACK}?code=code&state={state}&iss={foreign}");
        let _ = browser.get(&mixed).await.expect(400);
        let state = begin(&app, &mut browser, "/auth/oidc/sso/login").await;
        app.advance(Duration::from_secs(31 * 60));
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let _ = browser.get(&format!("{CALLBACK}?code=code&state={state}")).await.expect(400);
    }

    async fn invalid_tokens_are_refused(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let now = app.clock.now();
        let valid = || Grant::new(person(&app, "1", ADA), now);
        let minutes = TimeDelta::minutes;
        let foreign = IdentityClaims { issuer: "https://other.example.net".to_owned(), ..person(&app, "1", ADA) };
        for (what, grant, status) in [
            ("audience", Grant { audience: "another".to_owned(), ..valid() }, 400),
            ("authorized party", Grant { authorized_party: Some("another".to_owned()), ..valid() }, 400),
            ("nonce", Grant { nonce: Some("another".to_owned()), ..valid() }, 400),
            ("issuer", Grant::new(foreign, now), 400),
            ("signature", Grant { is_signed: false, ..valid() }, 400),
            ("expired", Grant { expires_at: now - minutes(2), ..valid() }, 400),
            ("of the future", Grant { issued_at: now + minutes(2), ..valid() }, 400),
            ("just expired", Grant { expires_at: now - TimeDelta::seconds(30), ..valid() }, 303),
            ("just before its time", Grant { issued_at: now + TimeDelta::seconds(30), ..valid() }, 303),
        ] {
            let mut browser = Browser::new(&app);
            let state = begin(&app, &mut browser, "/auth/oidc/sso/login").await;
            provider(&app).issue("code", grant);
            let reply = browser.get(&format!("{CALLBACK}?code=code&state={state}")).await;
            assert_eq!(reply.status, status, "{what}: {}", reply.text);
            assert_eq!(browser.get("/account").await.status, if status == 303 { 200 } else { 303 }, "{what}");
        }
    }

    async fn unverified_or_foreign_addresses_and_inactive_accounts_are_refused(setup) {
        let limited = ProviderRules { email_domains: vec!["example.org".to_owned()], ..provider_rules() };
        let app = setup.identity_provider(limited).start().await;
        let known = app.account(ADA, Flags::default()).await;
        let ada = |subject| person(&app, subject, ADA);
        for (claims, text) in [
            (IdentityClaims { is_email_verified: Some(false), ..ada("1") }, "is not verified at the provider"),
            (IdentityClaims { email: None, ..ada("1") }, "did not tell your email address"),
            (person(&app, "1", "ada@example.net"), "this email domain"),
            (person(&app, "1", "ada@evil-example.org"), "this email domain"),
        ] {
            let page = sign_in_with(&app, &mut Browser::new(&app), claims).await.expect(403).text;
            assert!(page.contains(text), "{text}: {page}");
        }
        let _ = sign_in_with(&app, &mut Browser::new(&app), ada("1")).await.expect(303);
        // A connected person whose address moves to another domain is refused too.
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", "ada@example.net")).await.expect(403);
        app.deactivate(known.id).await;
        for subject in ["1", "2"] {
            let page = sign_in_with(&app, &mut Browser::new(&app), ada(subject)).await.expect(403).text;
            assert!(page.contains("is not active"), "{page}");
        }
    }

    async fn next_person_with_an_address_does_not_get_the_account_of_the_one_before(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", ADA)).await.expect(303);
        let page = sign_in_with(&app, &mut Browser::new(&app), person(&app, "2", ADA)).await.expect(403).text;
        assert!(page.contains("is not connected"), "{page}");
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", ADA)).await.expect(303);
    }

    async fn trusted_provider_can_say_that_an_address_is_not_verified(setup) {
        let trusting = ProviderRules { trusts_email: true, ..provider_rules() };
        let app = setup.identity_provider(trusting).start().await;
        for (is_email_verified, status) in [(Some(false), 403), (None, 303)] {
            let claims = IdentityClaims { is_email_verified, ..person(&app, "1", ADA) };
            let _ = sign_in_with(&app, &mut Browser::new(&app), claims).await.expect(status);
        }
    }

    async fn rules_of_the_provider_forbid_new_accounts_and_links(setup) {
        let strict = ProviderRules { creates_accounts: false, links_by_email: false, ..provider_rules() };
        let app = setup.identity_provider(strict).start().await;
        app.account(ADA, Flags::default()).await;
        for (email, text) in [("new@example.org", "do not have an account yet"), (ADA, "is not connected")] {
            let page = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", email)).await.expect(403).text;
            assert!(page.contains(text), "{page}");
        }
        let _ = app.get("/auth/oidc/unknown/login").await.expect(404);
    }

    async fn cancelled_sign_in_shows_the_sign_in_page(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut browser = Browser::new(&app);
        let state = begin(&app, &mut browser, "/auth/oidc/sso/login?next=%2Faccount").await;
        let reply = browser.get(&format!("{CALLBACK}?error=access_denied&state={state}")).await.expect(401);
        assert!(reply.text.contains("was cancelled or refused") && !reply.text.contains("access_denied"));
        let _ = browser.get(&format!("{CALLBACK}?code=code&state={state}")).await.expect(400);
        let foreign = browser.get(&format!("{CALLBACK}?error=access_denied&state=foreign")).await.expect(400);
        assert!(foreign.text.contains("has expired"), "{}", foreign.text);
        // Some providers leave out the state.
        let reply = browser.get(&format!("{CALLBACK}?error=access_denied")).await.expect(401);
        assert!(reply.text.contains("was cancelled or refused"), "{}", reply.text);
    }
}
