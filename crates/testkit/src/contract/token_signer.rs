//! Contract of every token signer.

use crate::clock::TestClock;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::api_key::ApiKeyScopes;
use docent_domain::id::{ApiKeyId, FamilyId, SessionId, TokenId, UserId};
use docent_domain::token::{AccessClaims, ConnectionClaims, ConnectionToken, RefreshClaims};
use docent_ports::clock::Clock;
use docent_ports::token_signer::{TokenError, TokenSigner};
use std::sync::Arc;

fn now() -> DateTime<Utc> {
    TestClock::default().now()
}

fn access() -> AccessClaims {
    AccessClaims {
        user: UserId::generate(now(), [1; 10]),
        id: TokenId::generate(now(), [2; 10]),
        session: Some(SessionId::generate(now(), [5; 10])),
        issued_at: now(),
        expires_at: now() + TimeDelta::minutes(15),
    }
}

fn refresh() -> RefreshClaims {
    RefreshClaims {
        user: UserId::generate(now(), [1; 10]),
        id: TokenId::generate(now(), [3; 10]),
        family: FamilyId::generate(now(), [4; 10]),
        issued_at: now(),
        expires_at: now() + TimeDelta::days(30),
    }
}

fn connection() -> ConnectionClaims {
    ConnectionClaims {
        user: UserId::generate(now(), [1; 10]),
        id: TokenId::generate(now(), [6; 10]),
        api_key: ApiKeyId::generate(now(), [7; 10]),
        scopes: ApiKeyScopes::parse(["read", "chat"]).unwrap(),
        issued_at: now(),
        expires_at: now() + TimeDelta::minutes(15),
    }
}

crate::battery! {
    token_signer_contract in token_signer (Arc<dyn TokenSigner>);

    async fn claims_round_trip(signer) {
        assert_eq!(signer.verify_access(&signer.sign_access(&access()), now()), Ok(access()));
        let without_session = AccessClaims { session: None, ..access() };
        assert_eq!(signer.verify_access(&signer.sign_access(&without_session), now()), Ok(without_session));
        assert_eq!(signer.verify_refresh(&signer.sign_refresh(&refresh()), now()), Ok(refresh()));
    }

    async fn claims_of_connected_applications_round_trip_and_expire(signer) {
        for (kind, other) in [
            (ConnectionToken::Access, ConnectionToken::Refresh),
            (ConnectionToken::Refresh, ConnectionToken::Access),
        ] {
            let token = signer.sign_connection(kind, &connection());
            assert_eq!(signer.verify_connection(kind, &token, now()), Ok(connection()));
            let end = connection().expires_at;
            assert_eq!(signer.verify_connection(kind, &token, end), Err(TokenError::Expired));
            assert_eq!(signer.verify_connection(other, &token, now()), Err(TokenError::WrongType));
            assert_eq!(signer.verify_access(&token, now()), Err(TokenError::WrongType));
            assert_eq!(signer.verify_refresh(&token, now()), Err(TokenError::WrongType));
            for session in [signer.sign_access(&access()), signer.sign_refresh(&refresh())] {
                assert_eq!(signer.verify_connection(kind, &session, now()), Err(TokenError::WrongType));
            }
            assert_eq!(signer.verify_connection(kind, &format!("{token}x"), now()), Err(TokenError::Invalid));
        }
    }

    async fn token_expires_at_exact_second(signer) {
        let last = TimeDelta::microseconds(1);
        let token = signer.sign_access(&access());
        assert!(signer.verify_access(&token, access().expires_at - last).is_ok());
        assert_eq!(signer.verify_access(&token, access().expires_at), Err(TokenError::Expired));
        let token = signer.sign_refresh(&refresh());
        assert!(signer.verify_refresh(&token, refresh().expires_at - last).is_ok());
        assert_eq!(signer.verify_refresh(&token, refresh().expires_at), Err(TokenError::Expired));
    }

    /// A fraction never extends the life of a token.
    async fn fractional_seconds_are_truncated(signer) {
        let claims = AccessClaims { expires_at: now() + TimeDelta::milliseconds(1900), ..access() };
        let token = signer.sign_access(&claims);
        let read = signer.verify_access(&token, now()).unwrap();
        assert_eq!(read.expires_at, now() + TimeDelta::seconds(1));
    }

    // Invariant: Access and refresh tokens are not interchangeable.
    async fn token_of_other_type_is_rejected(signer) {
        let (access, refresh) = (signer.sign_access(&access()), signer.sign_refresh(&refresh()));
        assert_eq!(signer.verify_refresh(&access, now()), Err(TokenError::WrongType));
        assert_eq!(signer.verify_access(&refresh, now()), Err(TokenError::WrongType));
    }

    /// No character of a token can be changed, removed or added.
    async fn altered_token_is_rejected(signer) {
        let token = signer.sign_access(&access());
        for at in 0..token.len() {
            let other = if &token[at..=at] == "A" { "B" } else { "A" };
            let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
            assert_eq!(signer.verify_access(&changed, now()), Err(TokenError::Invalid), "changed at {at}");
            let shorter = format!("{}{}", &token[..at], &token[at + 1..]);
            assert_eq!(signer.verify_access(&shorter, now()), Err(TokenError::Invalid), "cut at {at}");
        }
        assert_eq!(signer.verify_access(&format!("{token}A"), now()), Err(TokenError::Invalid));
    }

    async fn malformed_token_is_invalid(signer) {
        for garbage in ["", ".", "..", "...", "a.b.c", "Bearer x", "\0", "é.é.é", "e30.e30.e30", "null"] {
            assert_eq!(signer.verify_access(garbage, now()), Err(TokenError::Invalid), "{garbage:?}");
            assert_eq!(signer.verify_refresh(garbage, now()), Err(TokenError::Invalid), "{garbage:?}");
        }
    }
}
