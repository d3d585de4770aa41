//! Contract of every store of refresh tokens.

use crate::clock::TestClock;
use chrono::{DateTime, TimeDelta, Utc};
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::clock::Clock;
use docent_ports::token_store::RotationOutcome::{Renewed, Reused, Unknown};
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

/// Uses token `presented` of family `of`, `after` the start of the test.
async fn rotate(
    tokens: &dyn TokenStore,
    of: u8,
    presented: u8,
    successor: u8,
    after: TimeDelta,
) -> RotationOutcome {
    let now = start_of_test() + after;
    let rotation = Rotation {
        family: family(of),
        presented: token(presented),
        successor: token(successor),
        expires_at: now + LIFETIME,
        grace: GRACE,
        now,
    };
    tokens.rotate(rotation).await.unwrap()
}

fn seconds(n: i64) -> TimeDelta {
    TimeDelta::seconds(n)
}

crate::battery! {
    token_store_contract in token_store (Arc<dyn TokenStore>);

    async fn consecutive_rotations_renew(tokens) {
        start(&*tokens, 1).await;
        for n in 1..20 {
            assert_eq!(rotate(&*tokens, 1, n, n + 1, seconds(i64::from(n) * 900)).await, Renewed);
        }
    }

    async fn unissued_token_is_unknown_and_revokes_nothing(tokens) {
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(0)).await, Unknown);
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        assert_eq!(rotate(&*tokens, 1, 9, 10, seconds(0)).await, Unknown);
        assert_eq!(rotate(&*tokens, 1, 2, 10, seconds(0)).await, Unknown, "a token of another family");
        assert_eq!(rotate(&*tokens, 1, 10, 11, seconds(0)).await, Unknown, "a successor that was not taken");
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(0)).await, Renewed);
        assert_eq!(rotate(&*tokens, 2, 2, 4, seconds(0)).await, Renewed);
    }

    /// Two uses within the grace period both succeed, and both successors are valid.
    async fn retry_within_grace_succeeds(tokens) {
        start(&*tokens, 1).await;
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(100)).await, Renewed);
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(130)).await, Renewed, "at the last instant of the grace");
        assert_eq!(rotate(&*tokens, 1, 2, 4, seconds(1000)).await, Renewed);
        assert_eq!(rotate(&*tokens, 1, 3, 5, seconds(1000)).await, Renewed);
    }

    async fn reuse_after_grace_revokes_family(tokens) {
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(100)).await, Renewed);
        let late = seconds(130) + TimeDelta::microseconds(1000);
        assert_eq!(rotate(&*tokens, 1, 1, 4, late).await, Reused);
        for presented in [1, 3, 4] {
            assert_eq!(rotate(&*tokens, 1, presented, 5, late).await, Unknown);
        }
        assert_eq!(rotate(&*tokens, 2, 2, 6, late).await, Renewed, "other families go on");
    }

    async fn retries_do_not_extend_grace(tokens) {
        start(&*tokens, 1).await;
        assert_eq!(rotate(&*tokens, 1, 1, 2, seconds(0)).await, Renewed);
        assert_eq!(rotate(&*tokens, 1, 1, 3, seconds(20)).await, Renewed);
        assert_eq!(rotate(&*tokens, 1, 1, 4, seconds(40)).await, Reused);
    }

    async fn expired_token_is_unknown(tokens) {
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        assert_eq!(rotate(&*tokens, 1, 1, 3, LIFETIME - seconds(1)).await, Renewed);
        assert_eq!(rotate(&*tokens, 2, 2, 4, LIFETIME).await, Unknown);
    }

    async fn successor_extends_family(tokens) {
        start(&*tokens, 1).await;
        let half = LIFETIME / 2;
        assert_eq!(rotate(&*tokens, 1, 1, 2, half).await, Renewed);
        assert_eq!(rotate(&*tokens, 1, 2, 3, LIFETIME + seconds(1)).await, Renewed);
        assert_eq!(rotate(&*tokens, 1, 3, 4, LIFETIME * 2 + seconds(1)).await, Unknown);
    }

    async fn revoke_ends_only_one_family(tokens) {
        start(&*tokens, 1).await;
        start(&*tokens, 2).await;
        rotate(&*tokens, 1, 1, 3, seconds(0)).await;
        for _ in 0..2 {
            tokens.revoke(family(1)).await.unwrap();
            assert_eq!(rotate(&*tokens, 1, 1, 4, seconds(1)).await, Unknown);
            assert_eq!(rotate(&*tokens, 1, 3, 5, seconds(1)).await, Unknown);
        }
        tokens.revoke(family(9)).await.unwrap();
        assert_eq!(rotate(&*tokens, 2, 2, 6, seconds(1)).await, Renewed);
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
        assert_eq!(rotate(&*tokens, 1, 1, 4, seconds(0)).await, Unknown);
        assert_eq!(rotate(&*tokens, 3, 3, 5, seconds(0)).await, Unknown);
        assert_eq!(rotate(&*tokens, 2, 2, 6, seconds(0)).await, Renewed);
        tokens.start(&first(user(1), 7)).await.unwrap();
        assert_eq!(rotate(&*tokens, 7, 7, 8, seconds(1)).await, Renewed);
    }

    /// Concurrent uses are not mistaken for theft.
    async fn concurrent_rotations_all_succeed(tokens) {
        start(&*tokens, 1).await;
        let uses = (2..52).map(|successor| {
            let tokens = Arc::clone(&tokens);
            tokio::spawn(async move { rotate(&*tokens, 1, 1, successor, seconds(1)).await })
        });
        for used in uses.collect::<Vec<_>>() {
            assert_eq!(used.await.unwrap(), Renewed);
        }
        for successor in 2..52 {
            assert_eq!(rotate(&*tokens, 1, successor, successor + 100, seconds(60)).await, Renewed);
        }
    }

    async fn check_succeeds(tokens) {
        tokens.check().await.unwrap();
    }
}
