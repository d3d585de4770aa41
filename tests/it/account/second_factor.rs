//! The second factor: `/account/second-factor`, and signing in with it.

use super::{ADA, ada, notices};
use docent_app::accounts::create::Flags;
use docent_domain::second_factor::SecondFactorRule;
use docent_ports::clock::Clock;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::{Browser, form_token};
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;
use totp_rs::{Builder, Secret, Totp};

const PAGE: &str = "/account/second-factor";
const STEP: Duration = Duration::from_secs(30);
const STAFF: Flags = Flags { is_staff: true, is_superuser: false };

/// Sets up a second factor in the browser. Returns the app and the recovery codes.
async fn set_up(app: &TestApp, browser: &mut Browser) -> (Totp, Vec<String>) {
    let token = form_token(&browser.get(PAGE).await.expect(200));
    let reply = browser.post(&format!("{PAGE}/begin"), &[("form_token", &token)]).await.expect(303);
    assert_eq!(reply.header("location"), PAGE);
    let page = browser.get(PAGE).await.expect(200).text;
    assert!(page.contains("<svg class=\"qr\""));
    let key: String = between(&page, "Key: <code class=\"key\">", "</code>").split(' ').collect();
    let totp = Builder::new().with_secret(Secret::try_from_base32(key).unwrap()).build().unwrap();
    let wrong = browser.post(&format!("{PAGE}/confirm"), &[("form_token", &token), ("code", "x")]).await;
    assert!(wrong.expect(422).text.contains("<svg"), "the setup goes on");
    let code = code(app, &totp);
    let page = browser
        .post(&format!("{PAGE}/confirm"), &[("form_token", &token), ("code", &code)])
        .await
        .expect(200);
    let codes: Vec<_> = page.text.split("<li><code>").skip(1).map(|rest| rest[..11].to_owned()).collect();
    assert_eq!(codes.len(), 10);
    app.advance(STEP);
    (totp, codes)
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

/// The code that the app shows now.
fn code(app: &TestApp, totp: &Totp) -> String {
    totp.generate(u64::try_from(app.clock.now().timestamp()).unwrap()).to_string()
}

/// Submits a code on the second page of a login.
async fn submit_code(browser: &mut Browser, area: &str, code: &str) -> docent_tests::reply::Reply {
    let path = format!("{area}/login/code");
    let token = form_token(&browser.get(&path).await.expect(200));
    let next = format!("{area}/sessions");
    browser.post(&path, &[("form_token", token.as_str()), ("code", code), ("next", &next)]).await
}

rules! {
    async fn login_to_the_pages_asks_for_a_code(setup) {
        let app = setup.start().await;
        app.account(ADA, STAFF).await;
        let mut ada = super::at_account(&app, ADA).await;
        let (totp, codes) = set_up(&app, &mut ada).await;
        for area in ["/account", "/admin"] {
            let mut browser = Browser::new(&app);
            let reply = browser.login_at(&format!("{area}/login"), ADA, PASSWORD).await.expect(303);
            assert!(reply.header("location").starts_with(&format!("{area}/login/code?next=")));
            let _ = browser.get("/account").await.expect(303);
            assert!(submit_code(&mut browser, area, "000000").await.expect(401).text.contains("not valid"));
            let reply = submit_code(&mut browser, area, &code(&app, &totp)).await.expect(303);
            assert_eq!(reply.header("location"), format!("{area}/sessions"));
            let _ = browser.get("/account").await.expect(200);
            app.advance(STEP);
        }
        let mut browser = Browser::new(&app);
        let _ = browser.login_at("/account/login", ADA, PASSWORD).await.expect(303);
        let _ = submit_code(&mut browser, "/account", &codes[0]).await.expect(303);
        assert!(browser.get(PAGE).await.expect(200).text.contains("You have 9 left"));
    }

    async fn code_page_without_a_checked_password_leads_to_the_login(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let _ = set_up(&app, &mut ada).await;
        let mut browser = Browser::new(&app);
        assert_eq!(browser.get("/account/login/code").await.expect(303).header("location"), "/account/login");
        let _ = browser.login_at("/account/login", ADA, PASSWORD).await.expect(303);
        let _ = browser.get("/account/login/code").await.expect(200);
        app.advance(Duration::from_secs(10 * 60));
        assert_eq!(browser.get("/account/login/code").await.expect(303).header("location"), "/account/login");
    }

    async fn token_request_takes_a_code(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let (totp, _) = set_up(&app, &mut ada).await;
        let reply = app.login(ADA, PASSWORD).await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (401, Some("code_required")));
        let ask = async |code: &str| {
            app.post("/auth/token", json!({ "email": ADA, "password": PASSWORD, "code": code })).await
        };
        let reply = ask("123").await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (401, Some("invalid_code")));
        let code = code(&app, &totp);
        let _ = ask(&code).await.expect(200);
        assert_eq!(ask(&code).await.json()["code"], "invalid_code", "a code works once");
        app.login(ADA, "wrong").await.refused(401, "Invalid email or password");
    }

    async fn staff_who_must_have_a_second_factor_only_reach_its_page(setup) {
        let app = setup.settings(|settings| settings.second_factor_rule = SecondFactorRule::Staff).start().await;
        app.account("staff@example.org", STAFF).await;
        let reply = app.login("staff@example.org", PASSWORD).await.expect(403);
        assert_eq!(reply.json()["code"], "second_factor_required");
        let mut staff = super::at_account(&app, "staff@example.org").await;
        for page in ["/account", "/admin", "/account/api-keys"] {
            assert_eq!(staff.get(page).await.expect(303).header("location"), PAGE);
        }
        let _ = set_up(&app, &mut staff).await;
        let _ = staff.get("/admin").await.expect(200);
        assert!(staff.get(PAGE).await.expect(200).text.contains("must have a second factor"));
        let (mut ada, _) = ada(&app).await;
        let _ = ada.get("/account").await.expect(200);
    }

    async fn key_of_staff_without_the_required_second_factor_gets_403_everywhere(setup) {
        let app = setup.api_keys().settings(|settings| settings.second_factor_rule = SecondFactorRule::Staff).start().await;
        let staff = app.account("staff@example.org", STAFF).await;
        let key = app.api_key(staff.id, &["read", "chat"]).await.key;
        let question = json!({ "model": "chat", "messages": [{ "role": "user", "content": "Why?" }] });
        let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        for (method, path, body) in [
            (Method::GET, "/documents", None),
            (Method::POST, "/agents/chat", Some(&question)),
            (Method::POST, "/v1/chat/completions", Some(&question)),
            (Method::POST, "/mcp", Some(&list)),
        ] {
            let request = app.request(method, path).bearer_auth(&key);
            let request = request.header("Accept", "application/json, text/event-stream");
            let reply = app.send(body.into_iter().fold(request, reqwest::RequestBuilder::json)).await.expect(403);
            assert!(reply.text.contains("must have a second factor; set it up at /account"), "{path}: {}", reply.text);
        }
        let mut browser = super::at_account(&app, "staff@example.org").await;
        let _ = set_up(&app, &mut browser).await;
        let _ = app.send(app.request(Method::GET, "/documents").bearer_auth(&key)).await.expect(200);
    }

    async fn unfinished_setup_needs_a_proof_and_expires(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let token = form_token(&ada.get(PAGE).await.expect(200));
        app.advance(Duration::from_secs(9 * 60));
        let _ = ada.post(&format!("{PAGE}/begin"), &[("form_token", &token)]).await.expect(303);
        let key: String = between(&ada.get(PAGE).await.expect(200).text, "<code class=\"key\">", "</code>").split(' ').collect();
        let totp = Builder::new().with_secret(Secret::try_from_base32(key).unwrap()).build().unwrap();
        app.advance(Duration::from_secs(60));
        let confirm = async |browser: &mut Browser| {
            let code = code(&app, &totp);
            browser.post(&format!("{PAGE}/confirm"), &[("form_token", token.as_str()), ("code", &code)]).await
        };
        let proof = "/account/confirm?next=%2Faccount%2Fsecond-factor";
        assert_eq!(ada.get(PAGE).await.expect(303).header("location"), proof, "the page shows the secret");
        let sent_on = "/account/confirm?action=%2Faccount%2Fsecond-factor%2Fconfirm";
        assert_eq!(confirm(&mut ada).await.expect(307).header("location"), sent_on);
        app.advance(Duration::from_secs(9 * 60));
        let _ = ada.post("/account/confirm", &[("form_token", &token), ("proof", PASSWORD)]).await.expect(303);
        assert_eq!(confirm(&mut ada).await.expect(303).header("location"), PAGE);
        let page = ada.get(PAGE).await.expect(200).text;
        assert!(page.contains("The setup has expired. Please begin again."), "{page}");
        assert!(page.contains("Set up an authenticator app") && !page.contains("<svg class=\"qr\""), "{page}");
        let _ = set_up(&app, &mut ada).await;
    }

    async fn second_factor_is_removed_and_its_owner_told(setup) {
        let app = setup.start().await;
        let (mut ada, _) = ada(&app).await;
        let (totp, _) = set_up(&app, &mut ada).await;
        app.advance(Duration::from_secs(10 * 60));
        let token = form_token(&ada.get("/account/sessions").await.expect(200));
        let remove = async |browser: &mut Browser| {
            browser.post(&format!("{PAGE}/remove"), &[("form_token", &token)]).await
        };
        let confirm = "/account/confirm?action=%2Faccount%2Fsecond-factor%2Fremove";
        assert_eq!(remove(&mut ada).await.expect(307).header("location"), confirm);
        let proof = code(&app, &totp);
        let _ = ada.post("/account/confirm", &[("form_token", &token), ("proof", &proof)]).await.expect(303);
        assert_eq!(remove(&mut ada).await.expect(303).header("location"), "/account");
        let _ = app.login(ADA, PASSWORD).await.expect(200);
        let subjects: Vec<_> = notices(&app).await.into_iter().map(|(subject, _)| subject).collect();
        assert_eq!(
            subjects,
            ["A second factor was set up for your account", "The second factor of your account was removed"]
        );
    }

    async fn login_from_a_new_network_is_told_to_the_owner(setup) {
        let app = setup.http(|http| http.trusted_proxies = vec!["127.0.0.0/8".parse().unwrap()]).start().await;
        app.account(ADA, Flags::default()).await;
        for address in ["192.0.2.1", "192.0.2.1", "198.51.100.7", "198.51.100.7"] {
            let request = app.request(reqwest::Method::POST, "/auth/token").header("X-Forwarded-For", address);
            let _ = app.send(request.json(&json!({ "email": ADA, "password": PASSWORD }))).await.expect(200);
        }
        let [mail] = app.mails().await.try_into().unwrap();
        assert_eq!(mail.subject, "New sign-in to your account");
        assert!(mail.text.contains("from 198.51.100.7,"), "{}", mail.text);
    }
}
