//! `POST /auth/refresh`

use docent_domain::fault::FaultKind;
use docent_ports::clock::Clock;
use docent_tests::app::TestApp;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const REFUSED: &str = "Invalid refresh token";

async fn refresh(app: &TestApp, token: &str) -> Reply {
    app.post("/auth/refresh", json!({ "refresh_token": token })).await
}

fn refresh_token(reply: Reply) -> String {
    reply.expect(200).json()["refresh_token"].as_str().unwrap().to_owned()
}

rules! {
    async fn refresh_returns_a_new_token_pair_without_credentials(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.advance(Duration::from_secs(16 * 60));
        let _ = ada.get("/documents").await.expect(401);
        let body = refresh(&app, &ada.refresh).await.expect(200).json();
        assert_eq!(body["token_type"], "bearer");
        assert_ne!(body["refresh_token"], ada.refresh);
        let access = body["access_token"].as_str().unwrap();
        let _ = app.send(app.request(Method::GET, "/documents").bearer_auth(access)).await.expect(200);
    }

    async fn replaced_token_within_grace_period_gets_the_valid_token(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let second = refresh_token(refresh(&app, &ada.refresh).await);
        app.advance(Duration::from_secs(30));
        let again = refresh(&app, &ada.refresh).await.expect(200).json();
        let claims = |token: &str| app.ports.signer.verify_refresh(token, app.clock.now()).unwrap();
        let retried = again["refresh_token"].as_str().unwrap();
        assert_eq!(claims(retried).id, claims(&second).id, "one valid token");
        let access = again["access_token"].as_str().unwrap();
        let _ = app.send(app.request(Method::GET, "/documents").bearer_auth(access)).await.expect(200);
        let _ = refresh(&app, retried).await.expect(200);
        let _ = refresh(&app, &second).await.expect(200);
        app.advance(Duration::from_secs(31));
        refresh(&app, &second).await.refused(401, REFUSED);
    }

    async fn session_ends_after_its_lifetime(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let day = Duration::from_secs(24 * 60 * 60);
        let mut token = ada.refresh.clone();
        for _ in 0..3 {
            app.advance(day * 29);
            token = refresh_token(refresh(&app, &token).await);
        }
        let reply = {
            app.advance(day * 3 - Duration::from_secs(60));
            refresh(&app, &token).await.expect(200).json()
        };
        let access = reply["access_token"].as_str().unwrap();
        let _ = app.send(app.request(Method::GET, "/documents").bearer_auth(access)).await.expect(200);
        app.advance(Duration::from_secs(60));
        let _ = app.send(app.request(Method::GET, "/documents").bearer_auth(access)).await.expect(401);
        refresh(&app, reply["refresh_token"].as_str().unwrap()).await.refused(401, REFUSED);
    }

    async fn missing_session_is_refused(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let mut work = app.ports.store.begin().await.unwrap();
        work.sessions().revoke_for_user(ada.user.id, app.clock.now()).await.unwrap();
        assert_eq!(work.sessions().purge(app.clock.now() + Duration::from_secs(1), 9).await.unwrap(), 1);
        work.commit().await.unwrap();
        refresh(&app, &ada.refresh).await.refused(401, REFUSED);
        let _ = ada.get("/documents").await.expect(401);
    }

    async fn replaced_token_after_grace_period_revokes_the_family(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let other = docent_tests::member::Member::login(&app, ada.user.clone()).await;
        let second = refresh_token(refresh(&app, &ada.refresh).await);
        app.advance(Duration::from_secs(31));
        let _ = other.get("/documents").await.expect(200);
        for token in [&ada.refresh, &second] {
            let reply = refresh(&app, token).await;
            reply.refused(401, REFUSED);
            assert_eq!(reply.header("www-authenticate"), "Bearer");
        }
        let _ = ada.get("/documents").await.expect(401);
        let _ = refresh(&app, &other.refresh).await.expect(200);
    }

    async fn unknown_expired_and_access_tokens_return_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for token in ["", "x", "a.b.c", ada.access.as_str()] {
            refresh(&app, token).await.refused(401, REFUSED);
        }
        app.advance(Duration::from_secs(30 * 24 * 60 * 60));
        refresh(&app, &ada.refresh).await.refused(401, REFUSED);
    }

    async fn refresh_of_a_deactivated_account_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.deactivate(ada.user.id).await;
        refresh(&app, &ada.refresh).await.refused(401, REFUSED);
    }

    async fn refresh_without_key_value_store_returns_503(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.faults.tokens.fail_all(FaultKind::Unavailable);
        refresh(&app, &ada.refresh).await.refused(503, "The key-value store cannot be reached");
        app.faults.tokens.clear();
        let _ = refresh(&app, &ada.refresh).await.expect(200);
    }

    async fn malformed_body_returns_422(setup) {
        let app = setup.start().await;
        app.post("/auth/refresh", json!({})).await.invalid(&["body.refresh_token"]);
        app.post("/auth/refresh", json!({ "refresh_token": 5 })).await.invalid(&["body.refresh_token"]);
    }
}
