//! Contract of every store of refresh tokens.

use crate::clock::TestClock;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::clock::Clock;
use docent_ports::token_store::RotationOutcome::{Reused, Unknown};
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};
use std::sync::Arc;
use std::time::Duration;

const LIFETIME: TimeDelta = TimeDelta::days(30);
const GRACE: Duration = Duration::from_secs(30);

fn start_of_test() -> DateTime<Utc> {
    TestClock::default().now()
}

fn user(n: u8) -> UserId {
    UserId::generate(start_of_test(), [n; 10])
}

fn family(n: u8) -> FamilyId {
    FamilyId::generate(start_of_test(), [n; 10])
}

fn token(n: u8) -> TokenId {
    TokenId::generate(start_of_test(), [n; 10])
}

/// The first token `n` of family `n` of a user, issued at the start of the test.
fn first(user: UserId, n: u8) -> RefreshClaims {
    let issued_at = start_of_test();
    RefreshClaims { user, id: token(n), family: family(n), issued_at, expires_at: issued_at + LIFETIME }
}

/// Starts family `n` of user `n` with token `n` at the start of the test.
async fn start(tokens: &dyn TokenStore, n: u8) {
    tokens.start(&first(user(n), n)).await.unwrap();
}

/// Uses token `presented` of family `of`, `after` the start of the test. Returns the valid token.
async fn rotate(
    tokens: &dyn TokenStore,
    of: u8,
    presented: u8,
    successor: u8,
    after: TimeDelta,
) -> Result<TokenId, RotationOutcome> {
    let now = start_of_test() + after;
    let rotation = Rotation {
        family: family(of),
        presented: token(presented),
        successor: token(successor),
        expires_at: now + LIFETIME,
        grace: GRACE,
        now,
    };
    match tokens.rotate(rotation).await.unwrap() {
        RotationOutcome::Renewed { token, expires_at } => {
            assert!(now < expires_at && expires_at <= now + LIFETIME);
            Ok(token)
        }
        other => Err(other),
    }
}

fn seconds(n: i64) -> TimeDelta {
    TimeDelta::seconds(n)
}

crate::battery! {
    token_store_contract in token_store (Arc<dyn TokenStore>);

    async fn consecutive_rotations_renew(tokens) {
        start(&*tokens, 1).await;
        for n in 1..20 {
            assert_eq!(rotate(&*tokens, 1, n, n + 1, seconds(i64::from(n) * 900)).await, Ok(token(n + 1)));
        }
    }

    async fn token_of_unknown_family_is_unknown(tokens) {
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(0)).await, Err(Unknown));
        start(&*tokens, 1).await;
        assert_eq!(rotate(&*tokens, 2, 1, 2, seconds(0)).await, Err(Unknown));
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(0)).await, Ok(token(3)));
    }

    // Invariant: A session has one valid refresh token.
    async fn uses_within_grace_get_the_valid_token(tokens) {
        start(&*tokens, 1).await;
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(100)).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(110)).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 2, 4, seconds(120)).await, Ok(token(4)));
        assert_eq!(rotate(&*tokens, 1, 1, 5, seconds(130)).await, Ok(token(4)), "at the last instant of the grace");
        assert_eq!(rotate(&*tokens, 1, 2, 6, seconds(150)).await, Ok(token(4)));
        assert_eq!(rotate(&*tokens, 1, 4, 7, seconds(1000)).await, Ok(token(7)));
    }

    async fn successor_that_was_not_used_is_never_valid(tokens) {
        start(&*tokens, 1).await;
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(0)).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(1)).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 3, 4, seconds(2)).await, Err(Reused));
    }

    // Invariant: Reuse of a refresh token revokes its family.
    async fn reuse_after_grace_revokes_family(tokens) {
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(100)).await, Ok(token(3)));
        let late = seconds(130) + TimeDelta::microseconds(1000);
        assert_eq!(rotate(&*tokens, 1, 1, 4, late).await, Err(Reused));
        for presented in [1, 3, 4] {
            assert_eq!(rotate(&*tokens, 1, presented, 5, late).await, Err(Unknown));
        }
        assert_eq!(rotate(&*tokens, 2, 2, 6, late).await, Ok(token(6)), "other families go on");
    }

    async fn retries_do_not_extend_grace(tokens) {
        start(&*tokens, 1).await;
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(0)).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(20)).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 1, 4, seconds(40)).await, Err(Reused));
    }

    async fn expired_token_is_unknown(tokens) {
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        assert_eq!(rotate(&*tokens, 1, 1, 3, LIFETIME - seconds(1)).await, Ok(token(3)));
        assert_eq!(rotate(&*tokens, 2, 2, 4, LIFETIME).await, Err(Unknown));
    }

    async fn successor_extends_family(tokens) {
        start(&*tokens, 1).await;
        let half = LIFETIME / 2;
        assert_eq!(rotate(&*tokens, 1, 1, 2, half).await, Ok(token(2)));
        assert_eq!(rotate(&*tokens, 1, 2, 3, LIFETIME + seconds(1)).await, Ok(token(3)));
        assert_eq!(rotate(&*tokens, 1, 3, 4, LIFETIME * 2 + seconds(1)).await, Err(Unknown));
    }

    async fn revoke_ends_only_one_family(tokens) {
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        rotate(&*tokens, 1, 1, 3, seconds(0)).await.unwrap();
        for _ in 0..2 {
            tokens.revoke(family(1)).await.unwrap();
            assert_eq!(rotate(&*tokens, 1, 1, 4, seconds(1)).await, Err(Unknown));
            assert_eq!(rotate(&*tokens, 1, 3, 5, seconds(1)).await, Err(Unknown));
        }
        tokens.revoke(family(9)).await.unwrap();
        assert_eq!(rotate(&*tokens, 2, 2, 6, seconds(1)).await, Ok(token(6)));
    }

    /// Later logins are not affected.
    async fn revoke_all_ends_families_of_one_account(tokens) {
        let now = start_of_test();
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        tokens.start(&first(user(1), 3)).await.unwrap();
        for _ in 0..2 {
            tokens.revoke_all(user(1), now).await.unwrap();
        }
        assert_eq!(rotate(&*tokens, 1, 1, 4, seconds(0)).await, Err(Unknown));
        assert_eq!(rotate(&*tokens, 3, 3, 5, seconds(0)).await, Err(Unknown));
        assert_eq!(rotate(&*tokens, 2, 2, 6, seconds(0)).await, Ok(token(6)));
        tokens.start(&first(user(1), 7)).await.unwrap();
        assert_eq!(rotate(&*tokens, 7, 7, 8, seconds(1)).await, Ok(token(8)));
    }

    /// Concurrent uses are not mistaken for theft, and all get the same token.
    async fn concurrent_rotations_get_one_token(tokens) {
        start(&*tokens, 1).await;
        let uses = (2..52).map(|successor| {
            let tokens = Arc::clone(&tokens);
            tokio::spawn(async move { rotate(&*tokens, 1, 1, successor, seconds(1)).await })
        });
        let mut issued = Vec::new();
        for used in uses.collect::<Vec<_>>() {
            issued.push(used.await.unwrap().unwrap());
        }
        issued.dedup();
        assert_eq!(issued.len(), 1);
    }

    async fn check_succeeds(tokens) {
        tokens.check().await.unwrap();
    }
}
