//! Tests of the S3 blob store against a fake server.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod server;

use bytes::Bytes;
use docent_domain::document::BlobKey;
use docent_domain::fault::{Component, Fault as PortFault, FaultKind};
use docent_ports::blob_store::BlobStore;
use docent_services::blob::{ObjectBlobStore, S3Credentials, S3Options};
use futures::TryStreamExt;
use server::{ACCESS_KEY_ID, BUCKET, FakeS3, Fault};
use std::sync::Arc;
use std::time::Duration;

const PART: usize = 5 << 20;

fn options(server: &FakeS3) -> S3Options {
    S3Options {
        endpoint: Some(format!("http://{}", server.address)),
        retries: 2,
        retry_pause: Duration::from_millis(1),
        ..S3Options::new(S3Credentials::keys(ACCESS_KEY_ID, "secret"))
    }
}

fn store(server: &FakeS3) -> ObjectBlobStore {
    ObjectBlobStore::s3(BUCKET, "", &options(server)).unwrap()
}

fn key(text: &str) -> BlobKey {
    BlobKey::parse(text).unwrap()
}

async fn put(store: &ObjectBlobStore, name: &str, bytes: &[u8]) -> Result<(), PortFault> {
    let mut writer = store.create(&key(name)).await?;
    for piece in bytes.chunks(100_000) {
        writer.write(Bytes::copy_from_slice(piece)).await?;
    }
    writer.finish().await
}

async fn get(store: &ObjectBlobStore, name: &str) -> Result<Vec<u8>, PortFault> {
    let stream = store.open(&key(name)).await?.unwrap();
    Ok(stream.try_collect::<Vec<_>>().await?.concat())
}

fn some_bytes(n: usize) -> Vec<u8> {
    (0..n as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn check_kind(fault: &PortFault, kind: FaultKind) {
    assert_eq!((fault.component(), fault.kind()), (Component::BlobStore, kind), "{fault}");
}

mod contract {
    use super::*;

    docent_testkit::blob_store_contract!(async {
        let server = FakeS3::start().await;
        (Arc::new(store(&server)) as _, server)
    });
}

mod contract_below_a_prefix {
    use super::*;

    docent_testkit::blob_store_contract!(async {
        let server = FakeS3::start().await;
        let store = ObjectBlobStore::s3(BUCKET, "docent/blobs", &options(&server)).unwrap();
        (Arc::new(store) as _, server)
    });
}

#[tokio::test]
async fn small_blob_takes_one_request() {
    let server = FakeS3::start().await;
    put(&store(&server), "a", b"small").await.unwrap();
    assert_eq!(server.calls(), ["put"]);
}

#[tokio::test]
async fn object_keys_begin_with_the_prefix() {
    let server = FakeS3::start().await;
    let store = ObjectBlobStore::s3(BUCKET, "docent/blobs", &options(&server)).unwrap();
    put(&store, "documents/a.pdf", b"small").await.unwrap();
    assert!(server.state().objects.contains_key("docent/blobs/documents/a.pdf"));
}

#[tokio::test]
async fn large_blob_is_sent_in_parts_while_it_arrives() {
    let server = FakeS3::start().await;
    let store = store(&server);
    let bytes = some_bytes(2 * PART + 1_000_000);
    let mut writer = store.create(&key("large")).await.unwrap();
    let mut written = 0;
    for piece in bytes.chunks(100_000) {
        writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
        written += piece.len();
        let state = server.state();
        let sent: usize = state.uploads.values().flat_map(|(_, parts)| parts.values()).map(Vec::len).sum();
        assert!(written - sent < PART, "{} bytes in memory", written - sent);
    }
    writer.finish().await.unwrap();
    assert_eq!(server.calls(), ["create", "part", "part", "part", "complete"]);
    assert!(server.state().uploads.is_empty());
    assert!(get(&store, "large").await.unwrap() == bytes);
}

#[tokio::test]
async fn piece_larger_than_a_part_is_split() {
    let server = FakeS3::start().await;
    let store = store(&server);
    let bytes = some_bytes(2 * PART + 7);
    let mut writer = store.create(&key("large")).await.unwrap();
    writer.write(Bytes::from(bytes.clone())).await.unwrap();
    writer.finish().await.unwrap();
    assert_eq!(server.calls(), ["create", "part", "part", "part", "complete"]);
    assert!(server.state().objects["large"] == bytes);
}

#[tokio::test]
async fn unfinished_upload_leaves_no_parts() {
    let server = FakeS3::start().await;
    let store = store(&server);
    for is_dropped in [false, true] {
        let mut writer = store.create(&key("large")).await.unwrap();
        writer.write(Bytes::from(some_bytes(PART + 1))).await.unwrap();
        assert_eq!(server.state().uploads.len(), 1);
        if is_dropped {
            drop(writer);
            server.until(|state| state.uploads.is_empty()).await;
        } else {
            writer.abort().await.unwrap();
            assert!(server.state().uploads.is_empty());
        }
    }
    assert!(server.state().objects.is_empty());
}

#[tokio::test]
async fn failed_upload_leaves_no_parts() {
    for kind in ["part", "complete"] {
        let server = FakeS3::start().await;
        for _ in 0..3 {
            server.fail(kind, Fault::Status(500, "InternalError"));
        }
        let fault = put(&store(&server), "large", &some_bytes(PART + 1)).await.unwrap_err();
        check_kind(&fault, FaultKind::Unavailable);
        assert!(fault.report().contains("500") && fault.report().contains("InternalError"), "{fault}");
        server.until(|state| state.uploads.is_empty()).await;
        assert!(server.state().objects.is_empty());
    }
}

#[tokio::test]
async fn transient_faults_are_retried() {
    let transient = [Fault::Status(500, "InternalError"), Fault::Status(503, "SlowDown"), Fault::Reset];
    for fault in transient {
        let server = FakeS3::start().await;
        let store = store(&server);
        let large = some_bytes(PART + 1);
        for kind in ["put", "create", "part", "complete", "get", "head"] {
            server.fail(kind, fault);
        }
        put(&store, "small", b"small").await.unwrap();
        put(&store, "large", &large).await.unwrap();
        assert_eq!(get(&store, "small").await.unwrap(), b"small");
        assert!(get(&store, "large").await.unwrap() == large);
        assert!(store.delete(&key("small")).await.unwrap());
        assert!(server.state().faults.is_empty(), "{fault:?}: {:?}", server.state().faults);
    }
}

#[tokio::test]
async fn lost_response_to_a_completed_write_is_retried() {
    let server = FakeS3::start().await;
    let store = store(&server);
    server.fail("put", Fault::DoneReset);
    server.fail("part", Fault::DoneReset);
    put(&store, "small", b"small").await.unwrap();
    put(&store, "large", &some_bytes(PART + 1)).await.unwrap();
    assert_eq!(server.state().objects.len(), 2);
}

#[tokio::test]
async fn interrupted_download_resumes() {
    let server = FakeS3::start().await;
    let store = store(&server);
    let bytes = some_bytes(1_000_000);
    put(&store, "a", &bytes).await.unwrap();
    server.calls();
    server.fail("get", Fault::Cut(300_000));
    assert!(get(&store, "a").await.unwrap() == bytes);
    assert_eq!(server.calls(), ["get", "get"]);
}

#[tokio::test]
async fn repeatedly_interrupted_download_fails() {
    let server = FakeS3::start().await;
    let store = store(&server);
    put(&store, "a", &some_bytes(1_000_000)).await.unwrap();
    for _ in 0..3 {
        server.fail("get", Fault::Cut(100));
    }
    let fault = get(&store, "a").await.unwrap_err();
    assert!(fault.is_transient(), "{fault}");
}

/// A store with keys and a session token from `AWS_…` variables.
fn store_with_token(server: &FakeS3, token: &str) -> ObjectBlobStore {
    let credentials = S3Credentials::from_variables([
        ("AWS_ACCESS_KEY_ID", ACCESS_KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_SESSION_TOKEN", token),
    ]);
    ObjectBlobStore::s3(BUCKET, "", &S3Options { credentials, ..options(server) }).unwrap()
}

#[tokio::test]
async fn rejection_is_reported_once_without_secrets() {
    let server = FakeS3::start().await;
    server.change(|state| state.token = Some("hunter1"));
    store_with_token(&server, "hunter1").check().await.unwrap();
    server.calls();
    let wrong = store_with_token(&server, "hunter2");
    for fault in [
        put(&wrong, "a", b"a").await.unwrap_err(),
        get(&wrong, "a").await.unwrap_err(),
        wrong.check().await.unwrap_err(),
    ] {
        check_kind(&fault, FaultKind::Rejected);
        let message = fault.report();
        assert!(
            message.contains("403 SignatureDoesNotMatch") && message.contains("check the cred"),
            "{message}"
        );
        assert!(!message.contains("hunter"), "{message}");
    }
    assert_eq!(server.calls(), ["put", "get", "put"]);
    check_kind(&wrong.delete(&key("a")).await.unwrap_err(), FaultKind::Rejected);
}

#[tokio::test]
async fn role_credentials_are_fetched_from_the_metadata_service() {
    let server = FakeS3::start().await;
    server.change(|state| state.token = Some("role-token"));
    let address = format!("http://{}", server.address);
    let container = format!("{address}/container-credentials");
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, "container-token").unwrap();
    let instance = vec![("AWS_METADATA_ENDPOINT", address.as_str())];
    let task = vec![
        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", container.as_str()),
        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token_file.to_str().unwrap()),
    ];
    for (variables, calls) in [(instance, 3), (task, 1)] {
        let credentials = S3Credentials::from_variables(variables);
        let store = ObjectBlobStore::s3(BUCKET, "", &S3Options { credentials, ..options(&server) }).unwrap();
        put(&store, "a", b"small").await.unwrap();
        assert_eq!(get(&store, "a").await.unwrap(), b"small");
        assert_eq!(server.calls().len(), calls + 2, "credentials are fetched once");
    }
}

#[tokio::test]
async fn web_identity_is_exchanged_for_role_credentials() {
    let server = FakeS3::start().await;
    server.change(|state| state.token = Some("role-token"));
    let folder = tempfile::tempdir().unwrap();
    let token_file = folder.path().join("token");
    std::fs::write(&token_file, "web-identity").unwrap();
    let sts = format!("http://{}/sts", server.address);
    let credentials = S3Credentials::from_variables([
        ("AWS_WEB_IDENTITY_TOKEN_FILE", token_file.to_str().unwrap()),
        ("AWS_ROLE_ARN", "arn:aws:iam::1:role/docent"),
        ("AWS_ENDPOINT_URL_STS", sts.as_str()),
    ]);
    let store = ObjectBlobStore::s3(BUCKET, "", &S3Options { credentials, ..options(&server) }).unwrap();
    put(&store, "a", b"small").await.unwrap();
}

#[tokio::test]
async fn missing_instance_role_is_a_fault() {
    let server = FakeS3::start().await;
    let address = format!("http://{}/nowhere", server.address);
    let credentials = S3Credentials::from_variables([("AWS_METADATA_ENDPOINT", address.as_str())]);
    let store = ObjectBlobStore::s3(BUCKET, "", &S3Options { credentials, ..options(&server) }).unwrap();
    let fault = store.check().await.unwrap_err();
    assert_eq!(fault.component(), Component::BlobStore);
}

#[tokio::test]
async fn missing_bucket_is_not_a_missing_blob() {
    let server = FakeS3::start().await;
    let store = ObjectBlobStore::s3("another", "", &options(&server)).unwrap();
    for fault in [
        put(&store, "a", b"a").await.unwrap_err(),
        get(&store, "a").await.unwrap_err(),
        store.check().await.unwrap_err(),
    ] {
        check_kind(&fault, FaultKind::Rejected);
        assert!(fault.report().contains("NoSuchBucket"), "{fault}");
    }
}

#[tokio::test]
async fn silent_service_times_out() {
    let server = FakeS3::start().await;
    let short = S3Options { read_timeout: Duration::from_millis(200), retries: 0, ..options(&server) };
    let store = ObjectBlobStore::s3(BUCKET, "", &short).unwrap();
    server.fail("put", Fault::Silence);
    check_kind(&put(&store, "a", b"a").await.unwrap_err(), FaultKind::Timeout);
    server.fail("get", Fault::Silence);
    check_kind(&get(&store, "a").await.unwrap_err(), FaultKind::Timeout);
    put(&store, "a", b"a").await.unwrap();
}

#[tokio::test]
async fn unreachable_service_is_unavailable() {
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nowhere = S3Options {
        endpoint: Some(format!("http://{address}")),
        retries: 0,
        ..S3Options::new(S3Credentials::keys(ACCESS_KEY_ID, "secret"))
    };
    let store = ObjectBlobStore::s3(BUCKET, "", &nowhere).unwrap();
    for fault in [store.check().await.unwrap_err(), put(&store, "a", b"a").await.unwrap_err()] {
        check_kind(&fault, FaultKind::Unavailable);
        assert!(fault.report().contains("efused"), "{fault}");
    }
}

#[tokio::test]
async fn check_writes_once_and_again_after_the_bucket_was_emptied() {
    let server = FakeS3::start().await;
    let store = store(&server);
    for _ in 0..3 {
        store.check().await.unwrap();
    }
    assert_eq!(server.calls(), ["put", "get", "get", "get"]);
    server.change(|state| state.objects.clear());
    store.check().await.unwrap_err();
    store.check().await.unwrap();
}
