//! Logout at the provider, and by the provider.

use super::{person, provider, provider_rules, sign_in_with};
use crate::account::{ADA, at_account};
use crate::oauth::{Case, use_mcp};
use chrono::TimeDelta;
use docent_app::accounts::create::Flags;
use docent_domain::identity::LogoutRequest;
use docent_ports::clock::Clock;
use docent_testkit::fakes::identity_provider::ISSUER;
use docent_tests::app::TestApp;
use docent_tests::browser::{Browser, form_token};
use docent_tests::reply::Reply;
use docent_tests::rules;

const PATH: &str = "/auth/oidc/sso/backchannel-logout";

fn request(app: &TestApp, subject: Option<&str>, session: Option<&str>) -> LogoutRequest {
    LogoutRequest {
        issuer: ISSUER.to_owned(),
        subject: subject.map(str::to_owned),
        provider_session: session.map(str::to_owned),
        issued_at: app.clock.now(),
    }
}

async fn end(app: &TestApp, request: LogoutRequest) -> Reply {
    provider(app).sign_logout("signed", request);
    app.submit(PATH, &[("logout_token", "signed")]).await
}

async fn signed_in(app: &TestApp, subject: &str, email: &str) -> Browser {
    let mut browser = Browser::new(app);
    let _ = sign_in_with(app, &mut browser, person(app, subject, email)).await.expect(303);
    browser
}

rules! {
    async fn signing_out_ends_the_session_at_the_provider(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut ada = signed_in(&app, "1", ADA).await;
        let token = form_token(&ada.get("/account").await.expect(200));
        let page = ada.post("/account/logout", &[("form_token", &token)]).await.expect(200).text;
        assert!(page.contains(&format!("0;url={ISSUER}/logout?id_token_hint=signed&amp;client_id=docent&amp;post_logout_redirect_uri=")), "{page}");
        let _ = ada.get("/account").await.expect(303);
        // A provider that is down does not keep the session of the service.
        let mut ada = signed_in(&app, "1", ADA).await;
        let token = form_token(&ada.get("/account").await.expect(200));
        provider(&app).set_down(true);
        let reply = ada.post("/account/logout", &[("form_token", &token)]).await.expect(303);
        assert_eq!(reply.header("location"), "/account/login");
        let _ = ada.get("/account").await.expect(303);
    }

    async fn provider_ends_sessions_by_its_session_or_by_subject(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut ada = signed_in(&app, "1", ADA).await;
        let mut bob = signed_in(&app, "2", "bob@example.org").await;
        app.account("carol@example.org", Flags::default()).await;
        let mut carol = at_account(&app, "carol@example.org").await;
        let reply = end(&app, request(&app, None, Some("session of 1"))).await.expect(200);
        assert_eq!(reply.header("cache-control"), "no-store");
        let _ = ada.get("/account").await.expect(303);
        let _ = bob.get("/account").await.expect(200);
        let mut ada = signed_in(&app, "1", ADA).await;
        let mut second = signed_in(&app, "1", ADA).await;
        let _ = end(&app, request(&app, Some("1"), None)).await.expect(200);
        let _ = ada.get("/account").await.expect(303);
        let _ = second.get("/account").await.expect(303);
        for browser in [&mut bob, &mut carol] {
            let _ = browser.get("/account").await.expect(200);
        }
    }

    async fn logout_of_a_person_disconnects_applications_and_that_of_a_session_does_not(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let browser = signed_in(&app, "1", ADA).await;
        let mut case = Case::of(app, browser).await;
        let (access, _) = case.connect().await;
        let _ = end(&case.app, request(&case.app, None, Some("session of 1"))).await.expect(200);
        let _ = use_mcp(&case.app, &access).await.expect(200);
        let _ = end(&case.app, request(&case.app, Some("1"), None)).await.expect(200);
        let _ = use_mcp(&case.app, &access).await.expect(401);
    }

    async fn invalid_tokens_end_nothing_and_later_sessions_remain(setup) {
        let app = setup.identity_provider(provider_rules()).start().await;
        let mut ada = signed_in(&app, "1", ADA).await;
        for fields in [&[][..], &[("logout_token", "unknown")]] {
            let reply = app.submit(PATH, fields).await.expect(400);
            assert_eq!(reply.json()["error"], "invalid_request");
        }
        let _ = app.submit("/auth/oidc/unknown/backchannel-logout", &[("logout_token", "signed")]).await.expect(400);
        let mut earlier = request(&app, Some("1"), None);
        earlier.issued_at -= TimeDelta::minutes(5);
        let _ = end(&app, earlier).await.expect(200);
        let foreign = LogoutRequest { issuer: "https://other.example.net".to_owned(), ..request(&app, Some("1"), None) };
        let _ = end(&app, foreign).await.expect(400);
        let _ = ada.get("/account").await.expect(200);
        provider(&app).set_down(true);
        let _ = end(&app, request(&app, Some("1"), None)).await.expect(503);
        let _ = ada.get("/account").await.expect(200);
    }
}
