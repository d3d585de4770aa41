//! Access tokens.

use docent_adapters::token_signer::JwtSigner;
use docent_domain::{id::TokenId, token::AccessClaims};
use docent_ports::{clock::Clock, token_signer::TokenSigner};
use docent_tests::{app::TestApp, reply::Reply, rules};
use reqwest::Method;
use std::time::Duration;

const DETAIL: &str = "Could not validate credentials";

async fn with(app: &TestApp, authorization: &str) -> Reply {
    app.send(app.request(Method::GET, "/documents").header("Authorization", authorization)).await
}

fn refused(reply: &Reply) {
    reply.refused(401, DETAIL);
    assert_eq!(reply.header("www-authenticate"), "Bearer");
}

rules! {
    async fn a_missing_token_is_401_on_every_protected_route(setup) {
        let app = setup.start().await;
        let id = "00000000-0000-0000-0000-000000000000";
        for (method, path) in [
            (Method::GET, "/documents".to_owned()),
            (Method::POST, "/documents".to_owned()),
            (Method::GET, format!("/documents/{id}")),
            (Method::GET, "/documents/no-uuid".to_owned()),
            (Method::POST, "/documents/upload".to_owned()),
            (Method::POST, "/agents/chat".to_owned()),
            (Method::POST, "/agents/nobody".to_owned()),
            (Method::POST, "/auth/logout".to_owned()),
        ] {
            refused(&app.send(app.request(method, &path)).await);
        }
    }

    async fn garbage_is_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for wrong in ["", "Bearer", "Bearer ", "Bearer x", "Bearer a.b.c", "Basic YTpi", "Token x"] {
            refused(&with(&app, wrong).await);
        }
        refused(&with(&app, &ada.access).await);
        refused(&with(&app, &format!("Bearer {}x", ada.access)).await);
        let _ = with(&app, &format!("bearer {}", ada.access)).await.expect(200);
    }

    async fn an_expired_token_is_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        app.advance(Duration::from_secs(15 * 60 - 1));
        let _ = ada.get("/documents").await.expect(200);
        app.advance(Duration::from_secs(1));
        refused(&ada.get("/documents").await);
    }

    async fn a_token_signed_with_another_key_is_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let now = app.clock.now();
        let claims = AccessClaims {
            user: ada.user.id,
            id: app.app.new_id(TokenId::generate),
            issued_at: now,
            expires_at: now + Duration::from_secs(900),
        };
        let ours = app.app.signer.sign_access(&claims);
        let _ = with(&app, &format!("Bearer {ours}")).await.expect(200);
        let other = JwtSigner::new(b"another key of more than thirty-two bytes").sign_access(&claims);
        refused(&with(&app, &format!("Bearer {other}")).await);
    }

    async fn a_token_without_a_signature_is_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let payload = ada.access.split('.').nth(1).unwrap();
        // {"alg":"none","typ":"JWT"}
        for signature in ["", ada.access.rsplit('.').next().unwrap()] {
            let token = format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}.{signature}");
            refused(&with(&app, &format!("Bearer {token}")).await);
        }
    }

    async fn a_refresh_token_is_no_access_token(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        refused(&with(&app, &format!("Bearer {}", ada.refresh)).await);
    }

    async fn a_deactivated_account_is_401(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let _ = ada.get("/documents").await.expect(200);
        app.deactivate(ada.user.id).await;
        refused(&ada.get("/documents").await);
    }
}
