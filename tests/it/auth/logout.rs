//! `POST /auth/logout`

use docent_domain::fault::FaultKind;
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::reply::Reply;
use docent_tests::rules;
use serde_json::json;

async fn logout(by: &Member, token: &str) -> Reply {
    by.post("/auth/logout", json!({ "refresh_token": token })).await
}

async fn refresh(app: &TestApp, token: &str) -> Reply {
    app.post("/auth/refresh", json!({ "refresh_token": token })).await
}

rules! {
    async fn logout_revokes_the_whole_token_family(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let body = refresh(&app, &ada.refresh).await.expect(200).json();
        let successor = body["refresh_token"].as_str().unwrap();
        let reply = logout(&ada, &ada.refresh).await.expect(204);
        assert_eq!(reply.text, "");
        for token in [ada.refresh.as_str(), successor] {
            refresh(&app, token).await.refused(401, "Invalid refresh token");
        }
    }

    async fn repeated_logout_succeeds(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for _ in 0..2 {
            let _ = logout(&ada, &ada.refresh).await.expect(204);
        }
    }

    async fn logout_ends_access_tokens_of_this_login_alone(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let again = Member::login(&app, ada.user.clone()).await;
        let _ = ada.get("/documents").await.expect(200);
        let _ = logout(&ada, &ada.refresh).await.expect(204);
        ada.get("/documents").await.refused(401, "Could not validate credentials");
        let _ = again.get("/documents").await.expect(200);
    }

    async fn logout_keeps_other_logins(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let again = Member::login(&app, ada.user.clone()).await;
        let _ = logout(&ada, &ada.refresh).await.expect(204);
        let _ = refresh(&app, &again.refresh).await.expect(200);
    }

    async fn logout_with_another_accounts_token_returns_403(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        logout(&bob, &ada.refresh).await.refused(403, "You do not have permission to do this");
        let _ = refresh(&app, &ada.refresh).await.expect(200);
    }

    async fn invalid_refresh_token_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for token in ["x", ada.access.as_str()] {
            logout(&ada, token).await.refused(401, "Invalid refresh token");
        }
    }

    async fn logout_without_key_value_store_returns_503(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.tokens.fail_all(FaultKind::Unavailable);
        logout(&ada, &ada.refresh).await.refused(503, "The key-value store cannot be reached");
    }

    async fn malformed_body_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.post("/auth/logout", json!({})).await.invalid(&["body.refresh_token"]);
    }
}
