//! Tests of the clients of Redis and S3 against impostor servers: each call ends with a transient fault.
// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

use docent_domain::fault::Component;
use docent_ports::blob_store::BlobStore;
use docent_ports::rate_limiter::RateLimiter;
use docent_ports::token_store::TokenStore;
use docent_services::blob::{ObjectBlobStore, S3Credentials, S3Options};
use docent_services::redis::{self, Redis, RedisRateLimiter, RedisTokenStore};
use docent_testkit::servers::check_impostor_faults;
use std::time::Duration;

/// Timeout of the clients.
const LIMIT: Duration = Duration::from_millis(500);

#[tokio::test]
async fn redis_impostor_causes_transient_faults() {
    let redis = |address| {
        let options = redis::Options { timeout: LIMIT, ..redis::Options::default() };
        Redis::new(&format!("redis://:secret@{address}/0"), options).unwrap()
    };
    check_impostor_faults(Component::KeyValueStore, async |address| {
        RedisTokenStore::new(redis(address)).check().await.err()
    })
    .await;
    check_impostor_faults(Component::KeyValueStore, async |address| {
        let now = chrono::DateTime::UNIX_EPOCH;
        RedisRateLimiter::new(redis(address)).hit("a", Duration::from_secs(60), now).await.err()
    })
    .await;
}

#[tokio::test]
async fn bucket_impostor_causes_transient_faults() {
    check_impostor_faults(Component::BlobStore, async |address| {
        let options = S3Options {
            endpoint: Some(format!("http://{address}")),
            connect_timeout: LIMIT,
            read_timeout: LIMIT,
            retry_pause: Duration::from_millis(1),
            ..S3Options::new(S3Credentials::keys("id", "secret"))
        };
        ObjectBlobStore::s3("documents", "", &options).unwrap().check().await.err()
    })
    .await;
}
