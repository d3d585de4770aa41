//! `/oauth/authorize`

use super::{ADA, CALLBACK, Case, authorize_path, is_error, parameter, token, tokens_of, url_of, use_mcp};
use crate::account::single_sign_on::{person, provider_rules, sign_in_with};
use docent_domain::identity::IdentityClaims;
use docent_domain::listing::AuditFilter;
use docent_domain::second_factor::SecondFactorRule;
use docent_tests::app::PASSWORD;
use docent_tests::browser::{Browser, form_token};
use docent_tests::member::Member;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

rules! {
    async fn account_signs_in_and_returns_with_a_code(setup) {
        let case = Case::new(setup.start().await).await;
        let path = case.path(&[]);
        let mut browser = Browser::new(&case.app);
        let reply = browser.get(&path).await.expect(303);
        let login = reply.header("location").to_owned();
        assert!(login.starts_with("/account/login?next=%2Foauth%2Fauthorize%3F"), "{login}");
        let page = browser.get(&login).await.expect(200);
        let next = page.text.split("name=\"next\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let next = next.replace("&amp;", "&").replace("&#x2F;", "/").replace("&#x3D;", "=");
        let token = form_token(&page);
        let fields = [("form_token", token.as_str()), ("email", ADA), ("password", PASSWORD), ("next", &next)];
        let reply = browser.post("/account/login", &fields).await.expect(303);
        assert_eq!(reply.header("location"), path);
        let page = browser.get(&path).await.expect(200);
        assert!(page.text.contains("&lt;b&gt;Reader") && page.text.contains(ADA), "{}", page.text);
        assert!(page.text.contains("name not verified") && page.text.contains("client.example"), "{}", page.text);
        for (header, value) in
            [("x-frame-options", "DENY"), ("cache-control", "no-store"), ("referrer-policy", "no-referrer")]
        {
            assert_eq!(page.header(header), value);
        }
        let policy = page.header("content-security-policy");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        // Browsers apply it to redirects, and applications redirect further from their redirect URI.
        assert!(!policy.contains("form-action"), "{policy}");
        let mut case = Case { browser, ..case };
        let reply = case.answer(&path, &[("decision", "allow"), ("scopes", "read")]).await.expect(303);
        let location = reply.header("location").to_owned();
        assert!(location.starts_with(&format!("{CALLBACK}?code=")), "{location}");
        assert_eq!(parameter(&location, "state").as_deref(), Some("a state&more"));
        assert_eq!(parameter(&location, "iss"), Some(url_of(&case.app, "")));
    }

    async fn deny_returns_with_an_error(setup) {
        let mut case = Case::new(setup.start().await).await;
        let path = case.path(&[]);
        for fields in [&[("decision", "deny"), ("scopes", "read")][..], &[("scopes", "read")]] {
            let reply = case.answer(&path, fields).await.expect(303);
            let location = reply.header("location");
            assert_eq!(parameter(location, "error").as_deref(), Some("access_denied"));
            assert_eq!(parameter(location, "state").as_deref(), Some("a state&more"));
            assert_eq!(parameter(location, "iss"), Some(url_of(&case.app, "")));
            assert_eq!(parameter(location, "code"), None);
        }
    }

    async fn unknown_clients_and_redirect_uris_are_not_redirected_to(setup) {
        let mut case = Case::new(setup.start().await).await;
        for changes in [
            [("client_id", "067e6162-3b6f-7ae2-a171-2470b63dff00")],
            [("client_id", "unknown")],
            [("client_id", "")],
            [("redirect_uri", "https://evil.example/callback")],
            [("redirect_uri", "https://client.example/callback/../evil")],
            [("redirect_uri", "https://client.example/callback?a=b")],
            [("redirect_uri", "https://client.example.evil.example/callback")],
            [("redirect_uri", "https://client.example@evil.example/callback")],
            [("redirect_uri", "javascript:alert(1)")],
            [("redirect_uri", "//evil.example")],
            [("redirect_uri", "")],
        ] {
            let reply = case.browser.get(&case.path(&changes)).await.expect(400);
            assert_eq!(reply.header("location"), "", "{changes:?}");
            assert!(reply.header("content-type").starts_with("text/html"), "{changes:?}");
            let token = "x";
            let reply = case.browser.post(&case.path(&changes), &[("form_token", token), ("decision", "deny")]).await;
            assert!(matches!(reply.status, 400 | 403) && reply.header("location").is_empty(), "{changes:?}");
        }
    }

    async fn invalid_requests_return_with_an_error(setup) {
        let mut case = Case::new(setup.start().await).await;
        let long = "x".repeat(4001);
        for (changes, error) in [
            (&[("code_challenge", "")][..], "invalid_request"),
            (&[("code_challenge_method", "")], "invalid_request"),
            (&[("code_challenge_method", "plain")], "invalid_request"),
            (&[("code_challenge", "short")], "invalid_request"),
            (&[("response_type", "")], "invalid_request"),
            (&[("response_type", "token")], "unsupported_response_type"),
            (&[("response_type", "code id_token")], "unsupported_response_type"),
            (&[("resource", "https://other.example/mcp")], "invalid_target"),
            (&[("resource", "mcp")], "invalid_target"),
            (&[("scope", "chat")], "invalid_scope"),
            (&[("scope", "openid profile")], "invalid_scope"),
            (&[("request", "x")], "request_not_supported"),
            (&[("state", &long)], "invalid_request"),
        ] {
            let reply = case.browser.get(&case.path(changes)).await.expect(303);
            let location = reply.header("location");
            assert!(location.starts_with(CALLBACK), "{location}");
            assert_eq!(parameter(location, "error").as_deref(), Some(error), "{changes:?}");
            assert_eq!(parameter(location, "iss"), Some(url_of(&case.app, "")), "{changes:?}");
        }
        let twice = format!("{}&resource={}", case.path(&[]), "x");
        let reply = case.browser.get(&twice).await.expect(303);
        assert_eq!(parameter(reply.header("location"), "error").as_deref(), Some("invalid_request"));
    }

    async fn form_of_another_site_allows_nothing(setup) {
        let mut case = Case::new(setup.start().await).await;
        let path = case.path(&[]);
        for token in ["", "x"] {
            let fields = [("form_token", token), ("decision", "allow"), ("scopes", "read")];
            let reply = case.browser.post(&path, &fields).await.expect(403);
            assert_eq!(reply.header("location"), "");
        }
        let mut stranger = Browser::new(&case.app);
        let fields = [("form_token", "x"), ("decision", "allow"), ("scopes", "read")];
        let reply = stranger.post(&path, &fields).await;
        assert!(reply.status == 403 || reply.header("location").starts_with("/account/login"), "{}", reply.status);
    }

    async fn account_chooses_scopes_and_collections(setup) {
        let mut case = Case::new(setup.start().await).await;
        let ada = Member::login(&case.app, case.user.clone()).await;
        let bob = case.app.member("bob@example.org").await;
        let create = async |by: &Member, name: &str| {
            by.post("/collections", json!({ "name": name })).await.expect(201).json()["id"].as_str().unwrap().to_owned()
        };
        let (team, hidden) = (create(&ada, "Team").await, create(&bob, "Hidden").await);
        let api = url_of(&case.app, "");
        let path = case.path(&[("resource", &api), ("scope", "read ingest")]);
        let page = case.browser.get(&path).await.expect(200).text;
        assert!(page.contains("Team") && !page.contains("Hidden"), "{page}");
        assert!(page.contains("value=\"read\" checked") && page.contains("value=\"ingest\">"), "{page}");
        assert!(!page.contains("value=\"admin\""), "{page}");
        let none = case.answer(&path, &[("decision", "allow")]).await.expect(422).text;
        assert!(none.contains("Scopes") || none.contains("must be one or more"), "{none}");
        let more = [("decision", "allow"), ("scopes", "read"), ("scopes", "admin")];
        let _ = case.answer(&path, &more).await.expect(422);
        let foreign = [("decision", "allow"), ("scopes", "read"), ("collections", hidden.as_str())];
        let _ = case.answer(&path, &foreign).await.expect(404);
        let fields = [("decision", "allow"), ("scopes", "read"), ("collections", team.as_str())];
        let reply = case.answer(&path, &fields).await.expect(303);
        let code = parameter(reply.header("location"), "code").unwrap();
        let (access, _) = tokens_of(&case.exchange(&code, &[("resource", &api)]).await.expect(200));
        let application = ada.with_access(access);
        let _ = application.get(&format!("/documents?collection_id={team}")).await.expect(200);
        let everyone = "/documents?collection_id=00000000-0000-0000-0000-000000000001";
        let _ = application.get(everyone).await.expect(404);
        application.get("/conversations").await.refused(403, "The API key lacks the scope `chat`");
        let _ = application.post("/documents", json!({ "title": "x" })).await.expect(403);
    }

    async fn old_session_needs_a_proof_before_the_page_and_returns_to_it(setup) {
        let mut case = Case::new(setup.start().await).await;
        let path = case.path(&[]);
        let token = form_token(&case.browser.get(&path).await.expect(200));
        case.app.advance(Duration::from_secs(11 * 60));
        let fields = [("form_token", token.as_str()), ("decision", "allow"), ("scopes", "read")];
        let reply = case.browser.post(&path, &fields).await.expect(303);
        assert_eq!(reply.header("location"), path, "a form cannot be sent on to the application");
        let reply = case.browser.get(&path).await.expect(303);
        let confirm = reply.header("location").to_owned();
        assert!(confirm.starts_with("/account/confirm?next=%2Foauth%2Fauthorize"), "{confirm}");
        let page = case.browser.get(&confirm).await.expect(200);
        let fields = [("form_token", &*form_token(&page)), ("proof", PASSWORD), ("next", &path)];
        let reply = case.browser.post("/account/confirm", &fields).await.expect(303);
        assert_eq!(reply.header("location"), path);
        let (access, _) = case.connect().await;
        let _ = use_mcp(&case.app, &access).await.expect(200);
    }

    async fn account_without_its_required_second_factor_sets_it_up_first(setup) {
        let setup = setup.settings(|settings| settings.second_factor_rule = SecondFactorRule::Everyone);
        let mut case = Case::new(setup.start().await).await;
        let reply = case.browser.get(&case.path(&[])).await.expect(303);
        assert_eq!(reply.header("location"), "/account/second-factor");
    }

    async fn second_factor_of_a_provider_does_not_open_applications(setup) {
        let app = setup
            .identity_provider(provider_rules())
            .settings(|settings| settings.second_factor_rule = SecondFactorRule::Everyone)
            .start()
            .await;
        let mut browser = Browser::new(&app);
        let claims = IdentityClaims { methods: vec!["mfa".to_owned()], ..person(&app, "1", ADA) };
        let _ = sign_in_with(&app, &mut browser, claims).await.expect(303);
        let mut case = Case::of(app, browser).await;
        let path = case.path(&[]);
        let reply = case.answer(&path, &[("decision", "allow"), ("scopes", "read")]).await.expect(303);
        assert_eq!(reply.header("location"), "/account/second-factor");
    }

    async fn consent_is_audited_and_the_owner_notified(setup) {
        let mut case = Case::new(setup.start().await).await;
        let _ = case.code().await;
        let mails = case.app.mails().await;
        assert_eq!(mails.last().unwrap().subject, "An application was connected to your account");
        assert!(mails.last().unwrap().text.contains("/account/applications"));
        let entries = case.app.audit(AuditFilter::default()).await;
        let entry = entries.iter().find(|entry| entry.label == "<b>Reader").unwrap();
        for (field, value) in [("client", case.client.as_str()), ("resource", "mcp"), ("scopes", "read")] {
            assert_eq!(entry.changes[field].after.as_deref(), Some(value));
        }
        assert!(entry.client_ip.is_some());
    }

    async fn code_of_one_client_is_useless_for_another(setup) {
        let mut case = Case::new(setup.start().await).await;
        let other = super::register(&case.app, CALLBACK).await;
        let code = case.code().await;
        is_error(&case.exchange(&code, &[("client_id", &other)]).await, "invalid_grant");
        let (access, refresh) = tokens_of(&case.exchange(&code, &[]).await.expect(200));
        let fields = [("grant_type", "refresh_token"), ("client_id", &*other), ("refresh_token", &*refresh)];
        is_error(&token(&case.app, &fields, &[]).await, "invalid_grant");
        let reply = case.app.submit("/oauth/revoke", &[("client_id", &*other), ("token", &*access)]).await;
        is_error(&reply, "invalid_grant");
        let _ = use_mcp(&case.app, &access).await.expect(200);
        let _ = case.app.send(case.app.request(Method::GET, &authorize_path(&case.app, &other, &[]))).await.expect(303);
    }
}
