//! Access tokens: `Authorization: Bearer`.

use docent_domain::id::TokenId;
use docent_domain::token::AccessClaims;
use docent_ports::clock::Clock;
use docent_ports::token_signer::TokenSigner;
use docent_services::token_signer::JwtSigner;
use docent_tests::app::TestApp;
use docent_tests::reply::Reply;
use docent_tests::rules;
use reqwest::Method;
use std::time::Duration;

const DETAIL: &str = "Could not validate credentials";

/// Lists documents with this `Authorization` header.
async fn with_authorization(app: &TestApp, authorization: &str) -> Reply {
    app.send(app.request(Method::GET, "/documents").header("Authorization", authorization)).await
}

/// Checks that this is the 401 of a missing or invalid token.
fn assert_refused(reply: &Reply) {
    reply.refused(401, DETAIL);
    assert!(reply.header("www-authenticate").starts_with("Bearer"));
}

rules! {
    async fn missing_token_returns_401_on_every_protected_route(setup) {
        let app = setup.start().await;
        let id = "00000000-0000-0000-0000-000000000000";
        for (method, path) in [
            (Method::GET, "/documents".to_owned()),
            (Method::POST, "/documents".to_owned()),
            (Method::GET, format!("/documents/{id}")),
            (Method::GET, "/documents/no-uuid".to_owned()),
            (Method::POST, "/documents/upload".to_owned()),
            (Method::POST, "/agents/chat".to_owned()),
            (Method::POST, "/agents/unknown".to_owned()),
            (Method::POST, "/auth/logout".to_owned()),
        ] {
            assert_refused(&app.send(app.request(method, &path)).await);
        }
    }

    async fn malformed_token_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for wrong in ["", "Bearer", "Bearer ", "Bearer x", "Bearer a.b.c", "Basic YTpi", "Token x"] {
            assert_refused(&with_authorization(&app, wrong).await);
        }
        assert_refused(&with_authorization(&app, &ada.access).await);
        assert_refused(&with_authorization(&app, &format!("Bearer {}x", ada.access)).await);
        let _ = with_authorization(&app, &format!("bearer {}", ada.access)).await.expect(200);
    }

    async fn expired_token_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.advance(Duration::from_secs(15 * 60 - 1));
        let _ = ada.get("/documents").await.expect(200);
        app.advance(Duration::from_secs(1));
        assert_refused(&ada.get("/documents").await);
    }

    async fn token_signed_with_another_key_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let now = app.clock.now();
        let claims = AccessClaims {
            user: ada.user.id,
            id: app.app.new_id(TokenId::generate),
            session: None,
            issued_at: now,
            expires_at: now + Duration::from_secs(900),
        };
        let own = app.ports.signer.sign_access(&claims);
        let _ = with_authorization(&app, &format!("Bearer {own}")).await.expect(200);
        let other = JwtSigner::new(b"another key of more than thirty-two bytes").sign_access(&claims);
        assert_refused(&with_authorization(&app, &format!("Bearer {other}")).await);
    }

    async fn token_without_a_signature_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let payload = ada.access.split('.').nth(1).unwrap();
        // {"alg":"none","typ":"JWT"}
        for signature in ["", ada.access.rsplit('.').next().unwrap()] {
            let token = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.{signature}");
            assert_refused(&with_authorization(&app, &format!("Bearer {token}")).await);
        }
    }

    async fn refresh_token_as_access_token_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        assert_refused(&with_authorization(&app, &format!("Bearer {}", ada.refresh)).await);
    }

    async fn token_of_a_deactivated_account_returns_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let _ = ada.get("/documents").await.expect(200);
        app.deactivate(ada.user.id).await;
        assert_refused(&ada.get("/documents").await);
    }
}
