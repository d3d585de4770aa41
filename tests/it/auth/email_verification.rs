//! `POST /auth/email-verification`, `POST /auth/email-verification/confirm`, `/account/verify-email`

use docent_app::accounts::create::Flags;
use docent_domain::audit::AuditAction;
use docent_domain::fault::FaultKind;
use docent_domain::id::UserId;
use docent_domain::listing::AuditFilter;
use docent_ports::clock::Clock;
use docent_tests::app::TestApp;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const ADA: &str = "ada@example.org";
const REFUSED: &str = "This link is not valid: it was used, has expired or was revoked";

async fn request_link(app: &TestApp, email: &str) {
    let reply = app.post("/auth/email-verification", json!({ "email": email })).await.expect(202);
    assert_eq!(reply.text, "");
}

/// Requests a link and returns the token in the email.
async fn request_token(app: &TestApp) -> String {
    request_link(app, ADA).await;
    let mail = app.mails().await.pop().unwrap();
    assert_eq!(mail.to.as_str(), ADA);
    let rest = mail.text.split("/account/verify-email?token=").nth(1).unwrap();
    rest.split_whitespace().next().unwrap().to_owned()
}

async fn confirm(app: &TestApp, token: &str) -> Reply {
    app.post("/auth/email-verification/confirm", json!({ "token": token })).await
}

async fn verified_at(app: &TestApp, user: UserId) -> Option<chrono::DateTime<chrono::Utc>> {
    app.ports.store.read().await.unwrap().users().get(user).await.unwrap().unwrap().email_verified_at
}

rules! {
    async fn link_confirms_the_address_once(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let token = request_token(&app).await;
        assert_eq!(verified_at(&app, ada.user.id).await, None);
        assert_eq!(confirm(&app, &token).await.expect(204).text, "");
        assert_eq!(verified_at(&app, ada.user.id).await, Some(app.clock.now()));
        confirm(&app, &token).await.refused(400, REFUSED);
        let _ = ada.get("/documents").await.expect(200);
        let filter = AuditFilter { action: Some(AuditAction::VerifyEmail), ..AuditFilter::default() };
        let [entry] = app.audit(filter).await.try_into().unwrap();
        assert_eq!(entry.record, ada.user.id.to_string());
    }

    async fn confirmed_or_unknown_address_gets_no_email(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let token = request_token(&app).await;
        let _ = confirm(&app, &token).await.expect(204);
        request_link(&app, ADA).await;
        request_link(&app, "unknown@example.org").await;
        assert_eq!(app.mails().await.len(), 1);
    }

    async fn link_expires_and_has_one_purpose(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let token = request_token(&app).await;
        let reset = json!({ "token": token, "password": "password reset" });
        app.post("/auth/password-reset/confirm", reset).await.refused(400, REFUSED);
        app.advance(Duration::from_secs(3 * 24 * 60 * 60));
        confirm(&app, &token).await.refused(400, REFUSED);
        app.post("/auth/email-verification/confirm", json!({})).await.invalid(&["body.token"]);
        app.post("/auth/email-verification", json!({})).await.invalid(&["body.email"]);
    }

    async fn opening_the_page_does_not_confirm_submitting_does(setup) {
        let app = setup.start().await;
        let user = app.account(ADA, Flags::default()).await;
        let token = request_token(&app).await;
        let path = "/account/verify-email";
        let page = app.get(&format!("{path}?token={token}")).await.expect(200);
        assert!(page.text.contains("<button"));
        assert_eq!(verified_at(&app, user.id).await, None);
        let submit = async || app.submit(path, &[("token", &token)]).await;
        let _ = submit().await.expect(200);
        assert!(verified_at(&app, user.id).await.is_some());
        assert!(submit().await.expect(400).text.contains("not valid"));
    }

    async fn malformed_form_returns_an_html_page(setup) {
        const FORM: &str = "application/x-www-form-urlencoded";
        let app = setup.start().await;
        let large = "a=b&".repeat(17 * 1024);
        for path in ["/account/verify-email", "/account/reset-password", "/account/forgot-password", "/admin/login"] {
            for (status, content_type, body) in
                [(415, "text/plain", "token=x"), (415, "application/json", "{}"), (413, FORM, large.as_str())]
            {
                let request = app.request(Method::POST, path).header("Content-Type", content_type);
                let reply = app.send(request.body(body.to_owned())).await.expect(status);
                assert!(reply.header("content-type").starts_with("text/html"), "{path}: {}", reply.text);
                assert!(reply.text.starts_with("<!doctype html>"), "{path}: {}", reply.text);
            }
            // Missing fields are empty; a value that is not UTF-8 is not a token.
            for body in ["", "token=%ff&password=a+long+password", "a&b&c", "token=x&token=y&password=a+long+password"] {
                let request = app.request(Method::POST, path).header("Content-Type", FORM);
                let reply = app.send(request.body(body)).await;
                assert!(matches!(reply.status, 400 | 403 | 422), "{path} {body}: {}", reply.status);
                assert!(reply.text.starts_with("<!doctype html>"), "{path}: {}", reply.text);
            }
        }
        for query in ["token=%ff", "token", "token=x&token=y", "", "%"] {
            for path in ["/account/verify-email", "/account/reset-password"] {
                let reply = app.get(&format!("{path}?{query}")).await;
                assert!(reply.text.starts_with("<!doctype html>"), "{path}?{query}: {}", reply.text);
            }
        }
    }

    async fn page_with_database_down_returns_503(setup) {
        let app = setup.start().await;
        app.faults.database.all.fail_all(FaultKind::Unavailable);
        let reply = app.submit("/account/verify-email", &[("token", "x")]).await.expect(503);
        assert!(reply.text.contains("The database cannot be reached."), "{}", reply.text);
    }
}
