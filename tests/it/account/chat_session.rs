//! The session of the web chat: `/chat/session`, and the API with the session cookie.

use super::{ADA, at_account};
use crate::admin::submit;
use docent_app::accounts::create::Flags;
use docent_domain::second_factor::SecondFactorRule;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::member::question_body;
use docent_tests::rules;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

async fn ada(app: &TestApp) -> Browser {
    app.account(ADA, Flags::default()).await;
    Browser::in_chat(app, ADA, PASSWORD).await
}

/// The account that `/chat/session` names.
async fn account(browser: &mut Browser) -> Value {
    browser.get("/chat/session").await.expect(200).json()["account"].clone()
}

rules! {
    async fn web_chat_uses_the_api_with_its_session_until_sign_out(setup) {
        let app = setup.always(Turn::saying("Yes.")).start().await;
        let mut here = ada(&app).await;
        let mut elsewhere = here.clone();
        let known = account(&mut here).await;
        assert_eq!(known, json!({ "id": here.account, "email": ADA, "name": null, "is_staff": false, "language": "en" }));
        let answer = here.send_json(Method::POST, "/agents/chat", &question_body("Why?")).await.expect(200);
        assert!(answer.text.contains("Yes."), "{}", answer.text);
        let _ = here.get("/account").await.expect(200);
        let _ = elsewhere.get("/documents").await.expect(200);

        let _ = here.delete("/chat/session").await.expect(204);
        assert_eq!(here.cookie, "");
        let _ = elsewhere.get("/documents").await.expect(401);
        let _ = elsewhere.get("/account").await.expect(303);
        assert_eq!(account(&mut elsewhere).await, Value::Null);
        let _ = elsewhere.delete("/chat/session").await.expect(401);
    }

    // Invariant: The API accepts the session cookie only from the service's own pages, for the account that
    // the page shows.
    async fn cookie_without_the_header_is_like_no_credential(setup) {
        let app = setup.start().await;
        let chat = ada(&app).await;
        let requests = [
            (Method::GET, "/conversations"),
            (Method::POST, "/conversations"),
            (Method::POST, "/agents/chat"),
            (Method::GET, "/agents/chat/streams/00000000-0000-4000-8000-000000000000"),
            (Method::POST, "/documents/upload"),
            (Method::POST, "/mcp"),
        ];
        for (method, path) in requests {
            let unauthenticated = app.send(app.request(method.clone(), path)).await.expect(401);
            for (account, site) in [
                (None, None),
                (None, Some("same-origin")),
                (chat.account.as_deref(), Some("cross-site")),
                (chat.account.as_deref(), Some("same-site")),
                (chat.account.as_deref(), Some("none")),
                (Some("none"), Some("same-origin")),
            ] {
                let mut browser = chat.with_account(account);
                let request = app.request(method.clone(), path);
                let request = if let Some(site) = site { request.header("Sec-Fetch-Site", site) } else { request };
                let reply = browser.send(request).await.expect(401);
                assert_eq!(reply.text, unauthenticated.text, "{path} {site:?}");
                assert!(reply.header("www-authenticate").starts_with("Bearer"));
            }
        }
        let request = app.request(Method::GET, "/conversations").header("Sec-Fetch-Site", "same-origin");
        let mut chat = chat;
        assert_eq!(chat.send(request).await.expect(200).json(), json!([]));
    }

    async fn other_sites_cannot_sign_out(setup) {
        let app = setup.http(|http| http.cors_allowed_origins = vec!["https://app.example.org".into()]).start().await;
        let mut chat = ada(&app).await;
        let mut other = chat.with_account(None);
        let _ = other.delete("/chat/session").await.expect(403);
        // A site that may use the API cannot send the header either, and browsers send it no cookies.
        let preflight = app.request(Method::OPTIONS, "/conversations").header("Origin", "https://app.example.org");
        let preflight = preflight.header("Access-Control-Request-Method", "GET");
        let reply = app.send(preflight.header("Access-Control-Request-Headers", "x-docent-account")).await.expect(204);
        assert!(!reply.header("access-control-allow-headers").to_lowercase().contains("x-docent-account"));
        assert_eq!(reply.header("access-control-allow-credentials"), "");
        let _ = chat.get("/documents").await.expect(200);
    }

    async fn bearer_token_takes_precedence_over_the_session(setup) {
        let app = setup.start().await;
        let mut chat = ada(&app).await;
        let _ = chat.send(app.request(Method::GET, "/documents").bearer_auth("none of ours")).await.expect(401);
        let grace = app.member("grace@example.org").await;
        let _ = grace.post("/conversations", json!({})).await.expect(201);
        let listed = chat.send(app.request(Method::GET, "/conversations").bearer_auth(&grace.access)).await.expect(200);
        assert_eq!(listed.json().as_array().unwrap().len(), 1);
        // Ending the session of an API client needs its own token.
        let body = json!({ "refresh_token": grace.refresh });
        let _ = chat.send_json(Method::POST, "/auth/logout", &body).await.expect(401);
    }

    // Invariant: The API accepts the session cookie only from the service's own pages, for the account that
    // the page shows.
    async fn page_of_another_account_is_refused_after_a_tab_signed_in_again(setup) {
        let app = setup.start().await;
        let ada = ada(&app).await;
        app.account("grace@example.org", Flags::default()).await;
        let mut grace = Browser::in_chat(&app, "grace@example.org", PASSWORD).await;
        let mut stale = grace.with_account(ada.account.as_deref());
        let _ = stale.get("/conversations").await.expect(401);
        let _ = stale.delete("/chat/session").await.expect(401);
        let _ = grace.get("/conversations").await.expect(200);
    }

    async fn session_of_the_web_chat_expires(setup) {
        let app = setup.start().await;
        let mut idle = ada(&app).await;
        app.advance(Duration::from_secs(31 * 60));
        let _ = idle.get("/documents").await.expect(401);
        assert_eq!(account(&mut idle).await, Value::Null);
        let mut used = Browser::in_chat(&app, ADA, PASSWORD).await;
        for _ in 0..23 {
            app.advance(Duration::from_secs(30 * 60));
            let _ = used.get("/documents").await.expect(200);
        }
        app.advance(Duration::from_secs(30 * 60));
        let _ = used.get("/documents").await.expect(401);
    }

    async fn deactivation_ends_the_session_of_the_web_chat(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let mut chat = Browser::in_chat(&app, ADA, PASSWORD).await;
        app.deactivate(user.id).await;
        let _ = chat.get("/documents").await.expect(401);
        assert_eq!(account(&mut chat).await, Value::Null);
    }

    async fn password_change_ends_the_other_web_chats(setup) {
        let app = setup.start().await;
        let mut elsewhere = ada(&app).await;
        let mut here = at_account(&app, ADA).await;
        app.advance(Duration::from_secs(2));
        let fields = [("present", PASSWORD), ("password", "a secret of its own"), ("again", "a secret of its own")];
        let _ = submit(&mut here, "/account/password", &fields).await.expect(303);
        let _ = elsewhere.get("/documents").await.expect(401);
        // The chat in the browser of the change stays signed in.
        here.account = elsewhere.account.clone();
        let _ = here.get("/documents").await.expect(200);
    }

    async fn account_without_its_required_second_factor_cannot_use_the_web_chat(setup) {
        let app = setup.settings(|settings| settings.second_factor_rule = SecondFactorRule::Everyone).start().await;
        let user = app.account(ADA, Flags::default()).await;
        let mut browser = at_account(&app, ADA).await;
        let session = browser.get("/chat/session").await.expect(200).json();
        assert_eq!(session, json!({ "account": null, "next": "/account/second-factor" }));
        browser.account = Some(user.id.to_string());
        let _ = browser.get("/documents").await.expect(403);
    }
}
