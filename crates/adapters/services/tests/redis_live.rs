//! Refresh tokens and rate limits on real Redis servers.
//!
//! The batteries run on the server at `DOCENT_TEST_REDIS_URL`, each test with its own key prefix. Tests that stop or
//! slow down a server start one themselves, for which `redis-server` must be installed.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use chrono::TimeDelta;
use deadpool_redis::redis::{Client, Cmd, FromRedisValue};
use docent_domain::fault::FaultKind;
use docent_domain::id::{FamilyId, TokenId, UserId};
use docent_domain::token::RefreshClaims;
use docent_ports::clock::Clock;
use docent_ports::rate_limiter::RateLimiter;
use docent_ports::token_store::{Rotation, RotationOutcome, TokenStore};
use docent_services::redis::{Options, Redis, RedisRateLimiter, RedisTokenStore, Sentinels};
use docent_testkit::clock::TestClock;
use docent_testkit::servers::{RedisSentinel, RedisServer, redis_url, unique_name};
use std::sync::Arc;
use std::time::Duration;

const WINDOW: Duration = Duration::from_secs(60);

/// The configured server, with a key prefix of its own.
fn configured() -> Redis {
    let prefix = unique_name() + ":";
    Redis::new(&redis_url(), Options { prefix, ..Options::default() }).unwrap()
}

mod rate_limiter {
    use super::*;

    docent_testkit::rate_limiter_contract!(async {
        (Arc::new(RedisRateLimiter::new(configured())) as _, ())
    });
}

mod token_store {
    use super::*;

    docent_testkit::token_store_contract!(async { (Arc::new(RedisTokenStore::new(configured())) as _, ()) });
}

fn redis(server: &RedisServer) -> Redis {
    redis_with_timeout(server, Duration::from_secs(10))
}

fn redis_with_timeout(server: &RedisServer, timeout: Duration) -> Redis {
    Redis::new(&server.url(3), Options { timeout, ..Options::default() }).unwrap()
}

async fn ask<T: FromRedisValue>(server: &RedisServer, words: &[&str]) -> T {
    let client = Client::open(server.url(3)).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = Cmd::new();
    for word in words {
        command.arg(*word);
    }
    command.query_async(&mut connection).await.unwrap()
}

fn ids(n: u8) -> (UserId, FamilyId, TokenId) {
    let at = TestClock::default().now();
    (UserId::generate(at, [n; 10]), FamilyId::generate(at, [n; 10]), TokenId::generate(at, [n; 10]))
}

async fn start(tokens: &RedisTokenStore, n: u8) {
    let (user, family, id) = ids(n);
    let issued_at = TestClock::default().now();
    let expires_at = issued_at + TimeDelta::days(30);
    tokens.start(&RefreshClaims { user, id, family, issued_at, expires_at }).await.unwrap();
}

fn first_use(n: u8) -> Rotation {
    let (_, family, presented) = ids(n);
    let now = TestClock::default().now() + TimeDelta::hours(1);
    Rotation {
        family,
        presented,
        successor: ids(n + 100).2,
        expires_at: now + TimeDelta::days(30),
        grace: Duration::from_secs(30),
        now,
    }
}

#[tokio::test]
async fn client_reconnects_after_server_outage() {
    let mut server = RedisServer::start();
    let (limiter, tokens) = (RedisRateLimiter::new(redis(&server)), RedisTokenStore::new(redis(&server)));
    let now = TestClock::default().now();
    start(&tokens, 1).await;
    limiter.hit("a", WINDOW, now).await.unwrap();
    server.kill();
    for _ in 0..3 {
        assert_eq!(limiter.hit("a", WINDOW, now).await.unwrap_err().kind(), FaultKind::Unavailable);
        assert_eq!(tokens.revoke(ids(1).1).await.unwrap_err().kind(), FaultKind::Unavailable);
        assert_eq!(tokens.check().await.unwrap_err().kind(), FaultKind::Unavailable);
    }
    server.restart();
    tokens.check().await.unwrap();
    assert_eq!(limiter.hit("a", WINDOW, now).await.unwrap().events, 2, "stored in the server's log");
    assert!(matches!(tokens.rotate(first_use(1)).await.unwrap(), RotationOutcome::Renewed { .. }));
}

#[tokio::test]
async fn hanging_server_costs_each_call_one_timeout() {
    let server = RedisServer::start();
    let limiter = Arc::new(RedisRateLimiter::new(redis_with_timeout(&server, Duration::from_millis(300))));
    let now = TestClock::default().now();
    // Fills the pool with connections that will stop answering.
    let hits = |limiter: &Arc<RedisRateLimiter>| {
        let one = |_| {
            let limiter = Arc::clone(limiter);
            tokio::spawn(async move { limiter.hit("a", WINDOW, now).await })
        };
        (0..50).map(one).collect::<Vec<_>>()
    };
    for hit in hits(&limiter) {
        hit.await.unwrap().unwrap();
    }
    server.pause();
    for hit in hits(&limiter) {
        assert_eq!(hit.await.unwrap().unwrap_err().kind(), FaultKind::Timeout);
    }
    server.resume();
    // Pending calls may or may not be counted; new windows are exact.
    let later = now + TimeDelta::from_std(WINDOW).unwrap();
    let limiter_with_long_timeout = RedisRateLimiter::new(redis(&server));
    limiter_with_long_timeout.hit("a", WINDOW, later).await.unwrap();
    limiter.hit("b", WINDOW, later).await.unwrap();
}

#[tokio::test]
async fn flushed_scripts_are_loaded_again() {
    let server = RedisServer::start();
    let limiter = RedisRateLimiter::new(redis(&server));
    let now = TestClock::default().now();
    for n in 1..=3 {
        assert_eq!(limiter.hit("a", WINDOW, now).await.unwrap().events, n);
        let _: String = ask(&server, &["SCRIPT", "FLUSH"]).await;
    }
}

#[tokio::test]
async fn keys_have_prefix_and_expiry() {
    let server = RedisServer::start();
    let (limiter, tokens) = (RedisRateLimiter::new(redis(&server)), RedisTokenStore::new(redis(&server)));
    let hour_later = TestClock::default().now() + TimeDelta::hours(1);
    start(&tokens, 1).await;
    tokens.rotate(first_use(1)).await.unwrap();
    limiter.hit("a", WINDOW, hour_later).await.unwrap();
    let (user, family, _) = ids(1);
    let mut keys: Vec<String> = ask(&server, &["KEYS", "*"]).await;
    keys.sort();
    let tokens_key = format!("docent:{{tokens}}:family:{family}:tokens");
    let expected = [
        "docent:rate:a".to_owned(),
        format!("docent:{{tokens}}:family:{family}"),
        tokens_key.clone(),
        format!("docent:{{tokens}}:user:{user}"),
    ];
    assert_eq!(keys, expected);
    let month = 30 * 24 * 3600 * 1000;
    for key in &keys {
        let left: i64 = ask(&server, &["PTTL", key]).await;
        let most = if key == "docent:rate:a" { 60_000 } else { month };
        assert!((most - 60_000..=most).contains(&left) && left > 0, "{key} expires in {left} ms");
    }
    tokens.revoke(family).await.unwrap();
    limiter.reset("a").await.unwrap();
    assert_eq!(ask::<Vec<String>>(&server, &["KEYS", "*"]).await, Vec::<String>::new());
}

#[tokio::test]
async fn replaced_tokens_are_removed_after_their_grace_period() {
    let server = RedisServer::start();
    let tokens = RedisTokenStore::new(redis(&server));
    start(&tokens, 1).await;
    let (_, family, first) = ids(1);
    let mut presented = first;
    for n in 0..100_u64 {
        let now = TestClock::default().now() + TimeDelta::seconds(10 * i64::try_from(n).unwrap());
        let mut random = [0; 10];
        random[..8].copy_from_slice(&n.to_be_bytes());
        let successor = TokenId::generate(now, random);
        let rotation = Rotation { presented, successor, now, ..first_use(1) };
        let rotation = Rotation { expires_at: now + TimeDelta::days(30), ..rotation };
        let expected = RotationOutcome::Renewed { token: successor, expires_at: rotation.expires_at };
        assert_eq!(tokens.rotate(rotation).await.unwrap(), expected);
        presented = successor;
    }
    let kept: u64 = ask(&server, &["ZCARD", &format!("docent:{{tokens}}:family:{family}:tokens")]).await;
    let fields: u64 = ask(&server, &["HLEN", &format!("docent:{{tokens}}:family:{family}")]).await;
    // The valid token and those replaced in the last 30 seconds; the fields name the user and the valid token too.
    assert_eq!((kept, fields), (5, 6));
    assert_eq!(tokens.rotate(first_use(1)).await.unwrap(), RotationOutcome::Reused);
}

/// Earlier versions stored neither which token is valid nor that there is only one.
#[tokio::test]
async fn family_of_an_earlier_version_is_rotated() {
    let server = RedisServer::start();
    let tokens = RedisTokenStore::new(redis(&server));
    start(&tokens, 1).await;
    let key = format!("docent:{{tokens}}:family:{}", ids(1).1);
    assert_eq!(ask::<u64>(&server, &["HDEL", &key, "valid"]).await, 1);
    let score = (first_use(1).now + TimeDelta::days(1)).timestamp_micros().to_string();
    let other = ids(2).2.to_string();
    assert_eq!(ask::<u64>(&server, &["ZADD", &format!("{key}:tokens"), &score, &other]).await, 1);
    let rotation = first_use(1);
    let expected = RotationOutcome::Renewed { token: rotation.successor, expires_at: rotation.expires_at };
    assert_eq!(tokens.rotate(rotation).await.unwrap(), expected);
    assert_eq!(tokens.rotate(rotation).await.unwrap(), expected, "a second use gets the same token");
    let fork = Rotation { presented: ids(2).2, ..rotation };
    assert_eq!(tokens.rotate(fork).await.unwrap(), RotationOutcome::Reused);
}

#[tokio::test]
async fn partly_lost_family_is_unknown() {
    let server = RedisServer::start();
    let tokens = RedisTokenStore::new(redis(&server));
    for (n, suffix) in [(1, ""), (2, ":tokens")] {
        start(&tokens, n).await;
        let key = format!("docent:{{tokens}}:family:{}{suffix}", ids(n).1);
        assert_eq!(ask::<u64>(&server, &["DEL", &key]).await, 1);
        assert_eq!(tokens.rotate(first_use(n)).await.unwrap(), RotationOutcome::Unknown);
    }
}

#[tokio::test]
async fn wrong_password_is_rejected() {
    let server = RedisServer::start();
    let url = format!("redis://:wrong@127.0.0.1:{}/0", server.port());
    let tokens = RedisTokenStore::new(Redis::new(&url, Options::default()).unwrap());
    let fault = tokens.check().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Rejected);
    assert!(!fault.report().contains("wrong@"), "{fault}");
}

/// What the sentinel says about the group.
async fn ask_sentinel(sentinel: &RedisSentinel, words: &[&str]) -> Vec<Vec<String>> {
    let client = Client::open(format!("redis://{}", sentinel.address())).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = Cmd::new();
    command.arg("SENTINEL").arg(words);
    command.query_async(&mut connection).await.unwrap()
}

/// Waits for what a server does on its own.
async fn until(what: &str, mut is_done: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !is_done().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let is_in_time = tokio::time::timeout(Duration::from_secs(60), wait).await.is_ok();
    assert!(is_in_time, "never happened: {what}");
}

fn group(sentinel: &RedisSentinel, name: &str) -> Redis {
    let sentinels = Sentinels { addresses: vec![sentinel.address()], password: None };
    let url = format!("redis://:{}@{name}/3", RedisServer::PASSWORD.replace(' ', "%20"));
    Redis::new(&url, Options { sentinels: Some(sentinels), ..Options::default() }).unwrap()
}

#[tokio::test]
async fn primary_that_sentinels_choose_is_used() {
    let mut primary = RedisServer::start();
    let replica = RedisServer::start_replica_of(&primary);
    let sentinel = RedisSentinel::start("docent", &primary);
    let tokens = RedisTokenStore::new(group(&sentinel, "docent"));
    start(&tokens, 1).await;
    until("the replica has the token", async || ask::<u64>(&replica, &["DBSIZE"]).await > 0).await;
    let is_known = async || {
        let replicas = ask_sentinel(&sentinel, &["REPLICAS", "docent"]).await;
        replicas.iter().any(|fields| fields.windows(2).any(|pair| pair == ["master-link-status", "ok"]))
    };
    until("the sentinel knows the replica", is_known).await;

    primary.kill();
    let is_renewed = async || match tokens.rotate(first_use(1)).await {
        Ok(outcome) => matches!(outcome, RotationOutcome::Renewed { .. }),
        Err(fault) => {
            assert!(matches!(fault.kind(), FaultKind::Unavailable | FaultKind::Timeout), "{fault}");
            false
        }
    };
    until("the replica is the primary", is_renewed).await;
    // As a replica of the new primary, the old one is not used.
    primary.restart();
    start(&tokens, 2).await;
    assert!(ask::<u64>(&replica, &["DBSIZE"]).await > 1);
}

#[tokio::test]
async fn group_that_no_sentinel_knows_is_unavailable() {
    let sentinel = RedisSentinel::start("docent", &RedisServer::start());
    let fault = RedisTokenStore::new(group(&sentinel, "other")).check().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unavailable, "{fault}");
}
