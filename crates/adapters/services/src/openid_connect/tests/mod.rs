//! Tests with a provider on the wire.

mod server;

use self::server::{CLIENT, Key, Server, Wire};
use super::*;
use docent_domain::identity::IdentityClaims;
use docent_testkit::clock::TestClock;
use docent_testkit::contract::identity_provider::Subject;
use docent_testkit::fakes::identity_provider::Grant;
use openidconnect::core::CoreJwsSigningAlgorithm as Algorithm;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;

fn options(issuer: &str) -> ProviderOptions {
    ProviderOptions {
        issuer: issuer.to_owned(),
        client_id: CLIENT.to_owned(),
        client_secret: Some("client secret".to_owned()),
        scopes: vec!["openid".to_owned(), "email".to_owned()],
        groups_claim: "groups".to_owned(),
        needs_groups: true,
    }
}

async fn start() -> (OpenIdProvider, Arc<Server>, Arc<TestClock>) {
    let (server, clock) = (Server::start().await, Arc::new(TestClock::default()));
    let provider = OpenIdProvider::new(options(&server.issuer), Arc::clone(&clock) as _).unwrap();
    (provider, server, clock)
}

async fn subject() -> (Subject, ()) {
    let (provider, server, clock) = start().await;
    let (issuing, signing, stopping) = (Arc::clone(&server), Arc::clone(&server), server);
    let subject = Subject {
        provider: Arc::new(provider),
        clock,
        issue: Box::new(move |code, grant, request| issuing.issue(code, &grant, &request)),
        sign_logout: Box::new(move |request| signing.logout_token(request, json!({}))),
        set_down: Box::new(move |is_down| stopping.wire().is_down = is_down),
    };
    (subject, ())
}

docent_testkit::identity_provider_contract!(subject());

fn request() -> AuthorizationRequest {
    AuthorizationRequest {
        redirect_uri: "https://docs.example.org/callback".to_owned(),
        state: "s".to_owned(),
        nonce: "n".to_owned(),
        verifier: "v".repeat(64),
        reauthenticates: false,
    }
}

fn grant(server: &Server, clock: &TestClock) -> Grant {
    let claims = IdentityClaims::new(server.issuer.clone(), "1");
    Grant::new(claims, clock.now())
}

async fn redeem(
    provider: &OpenIdProvider,
    server: &Server,
    clock: &TestClock,
) -> Result<IdentityClaims, IdentityError> {
    server.issue("code", &grant(server, clock), &request());
    let AuthorizationRequest { redirect_uri, nonce, verifier, .. } = request();
    provider
        .redeem(&Redemption { code: "code".to_owned(), issuer: None, redirect_uri, nonce, verifier })
        .await
}

fn change(server: &Server, change: impl FnOnce(&mut Wire)) {
    change(&mut server.wire());
}

#[tokio::test]
async fn rotated_keys_are_read_when_a_token_needs_them_but_not_for_each_token() {
    let (provider, server, clock) = start().await;
    assert!(redeem(&provider, &server, &clock).await.is_ok());
    assert_eq!(server.wire().key_reads, 1);
    change(&server, |wire| wire.key = Key::ed25519(2));
    assert!(redeem(&provider, &server, &clock).await.is_ok());
    assert_eq!(server.wire().key_reads, 2);
    // Forged tokens with unknown keys do not make the service ask again and again.
    change(&server, |wire| wire.published = Some(Key::ed25519(2)));
    change(&server, |wire| wire.key = Key::ed25519(3));
    for _ in 0..3 {
        assert!(matches!(redeem(&provider, &server, &clock).await, Err(IdentityError::Refused(_))));
    }
    assert_eq!(server.wire().key_reads, 2);
    clock.advance(Duration::from_secs(11));
    assert!(redeem(&provider, &server, &clock).await.is_err());
    assert_eq!(server.wire().key_reads, 3);
}

#[tokio::test]
async fn metadata_are_kept_for_an_hour_and_while_the_provider_is_down() {
    let (provider, server, clock) = start().await;
    for _ in 0..3 {
        provider.check().await.unwrap();
    }
    assert_eq!(server.wire().metadata_reads, 1);
    clock.advance(Duration::from_secs(3601));
    change(&server, |wire| wire.is_down = true);
    provider.check().await.unwrap();
    change(&server, |wire| wire.is_down = false);
    clock.advance(Duration::from_secs(11));
    provider.check().await.unwrap();
    assert_eq!(server.wire().metadata_reads, 2);
}

#[tokio::test]
async fn rsa_signatures_are_accepted_and_shared_secrets_and_unsigned_tokens_are_not() {
    let (provider, server, clock) = start().await;
    change(&server, |wire| wire.key = Key::rsa());
    assert!(redeem(&provider, &server, &clock).await.is_ok());
    for algorithm in [Algorithm::HmacSha256, Algorithm::None] {
        change(&server, |wire| wire.algorithm = Some(algorithm.clone()));
        let result = redeem(&provider, &server, &clock).await;
        assert!(matches!(result, Err(IdentityError::Refused(_))), "{algorithm:?} {result:?}");
    }
}

#[tokio::test]
async fn claims_that_the_token_lacks_are_read_from_the_userinfo_endpoint() {
    let (provider, server, clock) = start().await;
    let more = json!({ "sub": "1", "email": "ada@example.org", "email_verified": "true", "name": "Ada", "groups": ["a", "b"] });
    change(&server, |wire| wire.userinfo = more);
    let claims = redeem(&provider, &server, &clock).await.unwrap();
    assert_eq!(claims.email.unwrap().as_str(), "ada@example.org");
    assert_eq!(claims.is_email_verified, Some(true));
    assert_eq!(claims.name.as_ref().map(|name| name.as_str()), Some("Ada"));
    assert_eq!(claims.groups, BTreeSet::from(["a".to_owned(), "b".to_owned()]));
    // Some providers send only the parts of a name, and nothing for what they do not know.
    for (names, expected) in [
        (json!({ "given_name": "Ada", "family_name": "Lovelace" }), Some("Ada Lovelace")),
        (json!({ "name": "", "family_name": "Lovelace" }), Some("Lovelace")),
        (json!({ "name": null, "given_name": null }), None),
    ] {
        change(&server, |wire| {
            wire.userinfo = names.clone();
            (wire.userinfo["sub"], wire.userinfo["email"]) = ("1".into(), "ada@example.org".into());
        });
        let claims = redeem(&provider, &server, &clock).await.unwrap();
        assert_eq!(claims.name.as_ref().map(|name| name.as_str()), expected, "{names}");
    }
    // Those of another person are refused.
    change(&server, |wire| wire.userinfo = json!({ "sub": "2", "email": "eve@example.org" }));
    assert!(matches!(redeem(&provider, &server, &clock).await, Err(IdentityError::Refused(_))));
}

#[tokio::test]
async fn client_authenticates_as_the_provider_expects() {
    for (methods, header, has_secret) in
        [(json!(["client_secret_basic"]), true, false), (json!(["client_secret_post"]), false, true)]
    {
        let (provider, server, clock) = start().await;
        change(&server, |wire| wire.metadata = json!({ "token_endpoint_auth_methods_supported": methods }));
        assert!(redeem(&provider, &server, &clock).await.is_ok());
        let wire = server.wire();
        assert_eq!(
            (wire.has_authorization, wire.token_form.contains("client_secret=")),
            (header, has_secret)
        );
        assert!(wire.token_form.contains("grant_type=authorization_code"), "{}", wire.token_form);
    }
}

#[tokio::test]
async fn response_must_name_its_issuer_if_the_provider_says_that_it_does() {
    let (provider, server, clock) = start().await;
    let names = json!({ "authorization_response_iss_parameter_supported": true });
    change(&server, |wire| wire.metadata = names);
    assert!(matches!(redeem(&provider, &server, &clock).await, Err(IdentityError::Refused(_))));
    let AuthorizationRequest { redirect_uri, nonce, verifier, .. } = request();
    let (code, issuer) = ("code".to_owned(), Some(server.issuer.clone()));
    assert!(provider.redeem(&Redemption { code, issuer, redirect_uri, nonce, verifier }).await.is_ok());
}

#[tokio::test]
async fn metadata_of_another_issuer_or_without_tls_are_refused() {
    for metadata in [
        json!({ "issuer": "https://other.example.net" }),
        json!({ "token_endpoint": "http://idp.example.net/token" }),
        json!({ "jwks_uri": "http://idp.example.net/keys" }),
        json!({ "authorization_endpoint": "javascript:alert(1)" }),
    ] {
        let (provider, server, _) = start().await;
        change(&server, |wire| wire.metadata = metadata.clone());
        let result = provider.check().await;
        assert!(matches!(result, Err(IdentityError::Unavailable(_))), "{metadata} {result:?}");
    }
}

#[tokio::test]
async fn oversized_and_malformed_responses_are_unavailable() {
    let (provider, server, clock) = start().await;
    provider.check().await.unwrap();
    for answer in ["{".to_owned(), "[]".to_owned(), format!("{{\"x\":\"{}\"}}", "y".repeat(2_000_000))] {
        change(&server, |wire| wire.token_answer = Some(answer.clone()));
        let result = redeem(&provider, &server, &clock).await;
        assert!(matches!(result, Err(IdentityError::Unavailable(_))), "{result:?}");
    }
}

#[tokio::test]
async fn logout_tokens_with_wrong_claims_are_refused() {
    let (provider, server, clock) = start().await;
    let asked = LogoutRequest {
        issuer: server.issuer.clone(),
        subject: Some("1".to_owned()),
        provider_session: None,
        issued_at: clock.now(),
    };
    let now = clock.now().timestamp();
    for changed in [
        json!({ "aud": "another" }),
        json!({ "iss": "https://other.example.net" }),
        json!({ "nonce": "n" }),
        json!({ "events": {} }),
        json!({ "events": { "http://schemas.openid.net/event/backchannel-logout": null } }),
        json!({ "sub": null }),
        json!({ "exp": now - 61 }),
        json!({ "exp": null, "iat": now - 700 }),
        json!({ "iat": now + 120 }),
        json!({ "jti": "" }),
    ] {
        let token = server.logout_token(&asked, changed.clone());
        assert!(matches!(provider.verify_logout(&token).await, Err(IdentityError::Refused(_))), "{changed}");
    }
    // An ID token ends nothing.
    let id_token = server.id_token(&grant(&server, &clock), "n");
    assert!(provider.verify_logout(&id_token).await.is_err());
    let token = server.logout_token(&asked, json!({ "aud": ["another", CLIENT], "exp": null }));
    assert_eq!(provider.verify_logout(&token).await.unwrap(), asked);
}
