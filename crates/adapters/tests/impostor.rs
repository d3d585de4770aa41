//! Tests of clients against impostor servers: each call ends with a transient fault of its component.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

use docent_adapters::blob::{ObjectBlobStore, S3Credentials, S3Options};
use docent_adapters::openai::backend::BackendSettings;
use docent_adapters::openai::rerank::HttpReranker;
use docent_adapters::qdrant::{self, QdrantIndex};
use docent_adapters::redis::{self, Redis, RedisRateLimiter, RedisTokenStore};
use docent_adapters::sql::{SqlOptions, SqlStore};
use docent_adapters::system::SystemClock;
use docent_domain::fault::{Component, Fault, FaultKind};
use docent_ports::blob_store::BlobStore;
use docent_ports::rate_limiter::RateLimiter;
use docent_ports::reranker::Reranker;
use docent_ports::store::Store;
use docent_ports::token_store::TokenStore;
use docent_ports::vector_index::VectorIndex;
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::servers::{Impostor, Manner};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// Timeout of the clients.
const LIMIT: Duration = Duration::from_millis(500);
/// Calls that respect their timeout are faster even on a busy machine.
const MAX_TEST_TIME: Duration = Duration::from_secs(60);

/// Calls a client of each impostor and checks the fault.
async fn check_faults(component: Component, call: impl AsyncFn(SocketAddr) -> Option<Fault>) {
    for manner in Manner::ALL {
        let impostor = Impostor::start(manner).await;
        let fault = tokio::time::timeout(MAX_TEST_TIME, call(impostor.address())).await;
        let fault = fault.unwrap_or_else(|_| panic!("{manner:?}: the call hangs"));
        let fault = fault.unwrap_or_else(|| panic!("{manner:?}: the call succeeded"));
        assert_eq!(fault.component(), component, "{manner:?}: {fault}");
        assert!(fault.is_transient(), "{manner:?}: {:?}: {fault}", fault.kind());
        if manner == Manner::IsSilent {
            assert_eq!(fault.kind(), FaultKind::Timeout, "{fault}");
        }
    }
}

#[tokio::test]
async fn postgresql_impostor_causes_transient_faults() {
    let store = async |address| {
        let options =
            SqlOptions { acquire_timeout: LIMIT, statement_timeout: LIMIT, ..SqlOptions::default() };
        SqlStore::connect(&format!("postgres://docent:secret@{address}/docent"), options).await.unwrap()
    };
    check_faults(Component::Database, async |address| store(address).await.check().await.err()).await;
    check_faults(Component::Database, async |address| store(address).await.begin().await.err()).await;
}

#[tokio::test]
async fn redis_impostor_causes_transient_faults() {
    let redis = |address| {
        let options = redis::Options { timeout: LIMIT, ..redis::Options::default() };
        Redis::new(&format!("redis://:secret@{address}/0"), options).unwrap()
    };
    check_faults(Component::KeyValueStore, async |address| {
        RedisTokenStore::new(redis(address)).check().await.err()
    })
    .await;
    check_faults(Component::KeyValueStore, async |address| {
        let now = chrono::DateTime::UNIX_EPOCH;
        RedisRateLimiter::new(redis(address)).hit("a", Duration::from_secs(60), now).await.err()
    })
    .await;
}

#[tokio::test]
async fn qdrant_impostor_causes_transient_faults() {
    let options =
        qdrant::Options { connect_timeout: LIMIT, read_timeout: LIMIT, ..qdrant::Options::default() };
    check_faults(Component::VectorStore, async |address| {
        let index = QdrantIndex::new(
            &format!("http://{address}"),
            None,
            options.clone(),
            Arc::new(FakeStore::default()),
        )
        .unwrap();
        index.check().await.err()
    })
    .await;
}

#[tokio::test]
async fn reranker_impostor_causes_transient_faults() {
    check_faults(Component::Reranker, async |address| {
        let settings = BackendSettings {
            base_url: format!("http://{address}"),
            api_key: None,
            model: "m".to_owned(),
            timeout: LIMIT,
            traces: None,
        };
        let reranker = HttpReranker::new(&settings, Arc::new(SystemClock)).unwrap();
        reranker.rerank("q", &["p"]).await.err()
    })
    .await;
}

#[tokio::test]
async fn bucket_impostor_causes_transient_faults() {
    check_faults(Component::BlobStore, async |address| {
        let options = S3Options {
            endpoint: Some(format!("http://{address}")),
            allow_http: true,
            connect_timeout: LIMIT,
            read_timeout: LIMIT,
            retry_pause: Duration::from_millis(1),
            ..S3Options::new(S3Credentials::keys("id", "secret"))
        };
        ObjectBlobStore::s3("documents", "", &options).unwrap().check().await.err()
    })
    .await;
}
