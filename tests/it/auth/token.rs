//! `POST /auth/token`

use docent_app::accounts::create::Flags;
use docent_domain::fault::FaultKind;
use docent_tests::app::PASSWORD;
use docent_tests::rules;
use futures::future::join_all;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const ADA: &str = "ada@example.org";
const WRONG: &str = "Invalid email or password";

rules! {
    async fn login_returns_both_tokens(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let body = app.login(ADA, PASSWORD).await.expect(200).json();
        let mut keys: Vec<_> = body.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        assert_eq!(keys, ["access_token", "refresh_token", "token_type"]);
        assert_eq!(body["token_type"], "bearer");
        assert_ne!(body["access_token"], body["refresh_token"]);
    }

    async fn login_ignores_case_of_the_address(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let _ = app.login("ADA@Example.ORG", PASSWORD).await.expect(200);
    }

    async fn wrong_password_and_unknown_or_inactive_account_get_the_same_401(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let gone = app.account("gone@example.org", Flags::default()).await;
        app.deactivate(gone.id).await;
        let long = "x".repeat(2000);
        for (email, password) in [
            (ADA, "wrong"),
            (ADA, ""),
            (ADA, long.as_str()),
            ("unknown@example.org", PASSWORD),
            ("gone@example.org", PASSWORD),
            ("no address", PASSWORD),
        ] {
            let reply = app.login(email, password).await;
            reply.refused(401, WRONG);
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
    }

    async fn malformed_body_returns_422(setup) {
        let app = setup.start().await;
        let post = async |body: &'static str| app.send(app.request(Method::POST, "/auth/token").body(body)).await;
        post("").await.invalid(&["body"]);
        post("{").await.invalid(&["body"]);
        post("[]").await.invalid(&["body"]);
        post("email=a&password=b").await.invalid(&["body"]);
        post("{}").await.invalid(&["body.email", "body.password"]);
        post(r#"{"email": 1, "password": null}"#).await.invalid(&["body.email", "body.password"]);
    }

    async fn failed_logins_are_rate_limited_per_account(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        for _ in 0..10 {
            app.login(ADA, "wrong").await.refused(401, WRONG);
        }
        for password in ["wrong", PASSWORD] {
            let reply = app.login(ADA, password).await;
            reply.refused(429, "Too Many Requests");
            assert_eq!(reply.header("retry-after"), "900");
        }
        app.account("bob@example.org", Flags::default()).await;
        let _ = app.login("bob@example.org", PASSWORD).await.expect(200);
        app.advance(Duration::from_secs(15 * 60));
        let _ = app.login(ADA, PASSWORD).await.expect(200);
    }

    async fn failed_logins_of_unknown_accounts_are_rate_limited(setup) {
        let app = setup.start().await;
        for _ in 0..10 {
            app.login("unknown@example.org", "x").await.refused(401, WRONG);
        }
        app.login("unknown@example.org", "x").await.refused(429, "Too Many Requests");
    }

    async fn concurrent_guesses_are_rate_limited(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let replies = join_all((0..30).map(|_| app.login(ADA, "wrong"))).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 401).count(), 10);
    }

    async fn successful_login_resets_the_rate_limit(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        for _ in 0..3 {
            for _ in 0..9 {
                app.login(ADA, "wrong").await.refused(401, WRONG);
            }
            let _ = app.login(ADA, PASSWORD).await.expect(200);
        }
    }

    async fn login_without_key_value_store_returns_503(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let detail = "The key-value store cannot be reached";
        app.faults.tokens.fail_all(FaultKind::Unavailable);
        app.login(ADA, PASSWORD).await.refused(503, detail);
        app.faults.tokens.clear();
        app.faults.limiter.fail_all(FaultKind::Unavailable);
        app.login(ADA, PASSWORD).await.refused(503, detail);
        app.faults.limiter.clear();
        let _ = app.login(ADA, PASSWORD).await.expect(200);
    }

    async fn unknown_fields_are_ignored(setup) {
        let app = setup.start().await;
        app.account(ADA, Flags::default()).await;
        let body = json!({ "email": ADA, "password": PASSWORD, "remember": true });
        let _ = app.post("/auth/token", body).await.expect(200);
    }
}
