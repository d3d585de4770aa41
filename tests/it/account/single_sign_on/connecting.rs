//! Connections with providers, and proofs of identity there.

use super::{begin, person, provider, provider_rules, sign_in_with};
use crate::account::{ADA, at_account};
use docent_app::accounts::create::Flags;
use docent_domain::identity::IdentityClaims;
use docent_ports::clock::Clock;
use docent_testkit::fakes::identity_provider::{Grant, ISSUER};
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::reply::Reply;
use docent_tests::rules;
use std::time::Duration;

const STAFF: Flags = Flags { is_staff: true, is_superuser: false };
const PAGE: &str = "/account/identities";
const TEN_MINUTES: Duration = Duration::from_secs(10 * 60);

/// Connects the browser's account with a person at the provider. Returns the response of the callback.
async fn connect(app: &TestApp, browser: &mut Browser, claims: IdentityClaims) -> Reply {
    let token = form_token(&browser.get(PAGE).await.expect(200));
    let page = browser.post(&format!("{PAGE}/sso/connect"), &[("form_token", &token)]).await.expect(200).text;
    assert!(page.contains(&format!("content=\"0;url={ISSUER}/authorize?")), "{page}");
    provider(app).issue("code", Grant::new(claims, app.clock.now()));
    let state = provider(app).asked().last().unwrap().state.clone();
    browser.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await
}

/// Proves the identity at the provider and returns the response of the callback.
async fn prove(app: &TestApp, browser: &mut Browser, claims: IdentityClaims) -> Reply {
    let state = begin(app, browser, "/auth/oidc/sso/confirm?next=%2Faccount%2Fapi-keys%2Fadd").await;
    assert!(provider(app).asked().last().unwrap().reauthenticates);
    provider(app).issue("code", Grant::new(claims, app.clock.now()));
    browser.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await
}

rules! {
    async fn staff_connect_their_account_after_a_password(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        app.account(ADA, STAFF).await;
        let mut ada = at_account(&app, ADA).await;
        assert!(ada.get("/account").await.expect(200).text.contains("Sign-in providers"));
        // The address at the provider does not matter.
        let reply = connect(&app, &mut ada, person(&app, "1", "other@example.net")).await.expect(303);
        assert_eq!(reply.header("location"), PAGE);
        assert!(ada.get(PAGE).await.expect(200).text.contains("Connected as other@example.net"));
        let mut browser = Browser::new(&app);
        let _ = sign_in_with(&app, &mut browser, person(&app, "1", "other@example.net")).await.expect(303);
        let _ = browser.get("/admin").await.expect(200);

        let token = form_token(&ada.get(PAGE).await.expect(200));
        let _ = ada.post(&format!("{PAGE}/sso/disconnect"), &[("form_token", &token)]).await.expect(303);
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", ADA)).await.expect(403);
    }

    async fn attempt_to_connect_ends_with_the_session_of_its_account(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let (_, bob) = (app.account(ADA, STAFF).await, app.account("bob@example.org", Flags::default()).await);
        let mut browser = at_account(&app, ADA).await;
        let token = form_token(&browser.get(PAGE).await.expect(200));
        let _ = browser.post(&format!("{PAGE}/sso/connect"), &[("form_token", &token)]).await.expect(200);
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let state = provider(&app).asked().last().unwrap().state.clone();
        let _ = browser.login_at("/account/login", "bob@example.org", PASSWORD).await.expect(303);
        let _ = browser.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await.expect(400);
        let identities = app.ports.store.read().await.unwrap().identities().of_user(bob.id).await.unwrap();
        assert!(identities.is_empty(), "{identities:?}");
    }

    async fn identity_of_another_account_is_not_connected(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let _ = sign_in_with(&app, &mut Browser::new(&app), person(&app, "1", "bob@example.org")).await.expect(303);
        app.account(ADA, STAFF).await;
        let mut ada = at_account(&app, ADA).await;
        let _ = connect(&app, &mut ada, person(&app, "1", ADA)).await.expect(303);
        let page = ada.get(PAGE).await.expect(200).text;
        assert!(page.contains("belongs to another account") && page.contains("Not connected"), "{page}");
    }

    async fn connection_needs_a_recent_proof_and_its_own_session(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        app.account(ADA, STAFF).await;
        let mut ada = at_account(&app, ADA).await;
        let token = form_token(&ada.get(PAGE).await.expect(200));
        let _ = ada.post(&format!("{PAGE}/sso/connect"), &[("form_token", &token)]).await.expect(200);
        provider(&app).issue("code", Grant::new(person(&app, "1", ADA), app.clock.now()));
        let state = provider(&app).asked().last().unwrap().state.clone();
        app.advance(TEN_MINUTES);
        let reply = ada.post(&format!("{PAGE}/sso/connect"), &[("form_token", &token)]).await.expect(307);
        assert!(reply.header("location").starts_with("/account/confirm?"));
        let _ = ada.get(&format!("/auth/oidc/sso/callback?code=code&state={state}")).await.expect(303);
        assert!(ada.get(PAGE).await.expect(200).text.contains("Not connected"));
    }

    async fn only_way_to_sign_in_is_not_disconnected(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut ada = Browser::new(&app);
        let _ = sign_in_with(&app, &mut ada, person(&app, "1", ADA)).await.expect(303);
        let token = form_token(&ada.get(PAGE).await.expect(200));
        let page = ada.post(&format!("{PAGE}/sso/disconnect"), &[("form_token", &token)]).await.expect(422).text;
        assert!(page.contains("the only way to sign in"), "{page}");
    }

    async fn proof_of_identity_is_a_new_sign_in_of_the_same_person(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut ada = Browser::new(&app);
        let long_ago = Some(app.clock.now() - chrono::TimeDelta::hours(3));
        let claims = |subject, at| IdentityClaims { authenticated_at: at, ..person(&app, subject, ADA) };
        let _ = sign_in_with(&app, &mut ada, claims("1", long_ago)).await.expect(303);
        let keys = "/account/api-keys/add";
        let confirm = ada.get(keys).await.expect(303).header("location").to_owned();
        let page = ada.get(&confirm).await.expect(200).text;
        assert!(page.contains("/auth/oidc/sso/confirm?next=%2Faccount%2Fapi-keys%2Fadd"), "{page}");
        assert!(!page.contains("name=\"proof\""), "the account has no password");
        for (subject, at) in [("1", long_ago), ("1", None), ("2", Some(app.clock.now()))] {
            let reply = prove(&app, &mut ada, claims(subject, at)).await.expect(303);
            assert!(reply.header("location").starts_with("/account/confirm?"), "{subject} {at:?}");
            let _ = ada.get(keys).await.expect(303);
        }
        let reply = prove(&app, &mut ada, claims("1", Some(app.clock.now()))).await.expect(303);
        assert_eq!(reply.header("location"), keys);
        let _ = ada.get(keys).await.expect(200);
    }

    async fn sign_in_of_long_ago_at_the_provider_is_no_recent_proof(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        for (at, status) in [(Some(app.clock.now()), 200), (Some(app.clock.now() - chrono::TimeDelta::hours(1)), 303), (None, 303)] {
            let mut browser = Browser::new(&app);
            let claims = IdentityClaims { authenticated_at: at, ..person(&app, "1", ADA) };
            let _ = sign_in_with(&app, &mut browser, claims).await.expect(303);
            let _ = browser.get("/account/api-keys/add").await.expect(status);
        }
    }
}
