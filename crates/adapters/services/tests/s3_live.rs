//! The S3 blob store on a real server with the protocol of S3.
//!
//! Uses the bucket at `DOCENT_TEST_S3_URL`, such as `http://127.0.0.1:5000/docs`, below a prefix for each test. The server accepts any
//! keys, or those of the `AWS_…` variables.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use bytes::Bytes;
use docent_domain::document::BlobKey;
use docent_domain::fault::{Component, FaultKind};
use docent_ports::blob_store::BlobStore;
use docent_services::blob::{ObjectBlobStore, S3Credentials, S3Options};
use docent_testkit::servers::{s3_url, unique_name};
use futures::TryStreamExt;
use std::sync::Arc;

const PART: usize = 5 << 20;

fn open(bucket: &str, prefix: &str) -> ObjectBlobStore {
    let url = s3_url();
    let (endpoint, _) = url.rsplit_once('/').expect("the URL ends with the bucket");
    let options = S3Options {
        endpoint: Some(endpoint.to_owned()),
        ..S3Options::new(S3Credentials::keys("AKIDEXAMPLE", "secret"))
    };
    ObjectBlobStore::s3(bucket, prefix, &options).unwrap()
}

/// The bucket below a prefix of the test's own.
fn store() -> ObjectBlobStore {
    let url = s3_url();
    open(url.rsplit('/').next().unwrap(), &format!("{}/blobs", unique_name()))
}

fn key(text: &str) -> BlobKey {
    BlobKey::parse(text).unwrap()
}

docent_testkit::blob_store_contract!(async { (Arc::new(store()) as _, ()) });

#[tokio::test]
async fn blob_of_several_parts_is_read_as_it_was_written() {
    let store = store();
    let bytes: Vec<u8> =
        (0..(2 * PART + 1_000_000) as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut writer = store.create(&key("large.pdf")).await.unwrap();
    for piece in bytes.chunks(300_000) {
        writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
    }
    writer.finish().await.unwrap();
    let stream = store.open(&key("large.pdf")).await.unwrap().unwrap();
    let read: Vec<Bytes> = stream.try_collect().await.unwrap();
    assert!(read.concat() == bytes);
    assert!(store.delete(&key("large.pdf")).await.unwrap());
}

#[tokio::test]
async fn aborted_upload_leaves_no_parts() {
    let store = store();
    let mut writer = store.create(&key("unfinished.pdf")).await.unwrap();
    writer.write(Bytes::from(vec![7; PART + 1])).await.unwrap();
    // An error means that another client of the process has installed a provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let http = reqwest::Client::builder().tls_certs_only([]).no_proxy().build().unwrap();
    let uploads = format!("{}?uploads", s3_url());
    let list = async || http.get(&uploads).send().await.unwrap().text().await.unwrap();
    assert!(list().await.contains("unfinished.pdf"));
    writer.abort().await.unwrap();
    assert!(!list().await.contains("unfinished.pdf"));
    assert!(store.open(&key("unfinished.pdf")).await.unwrap().is_none());
}

#[tokio::test]
async fn check_finds_a_missing_bucket() {
    store().check().await.unwrap();
    let missing = open(&unique_name().replace('_', "-"), "");
    let fault = missing.check().await.unwrap_err();
    assert_eq!((fault.component(), fault.kind()), (Component::BlobStore, FaultKind::Rejected), "{fault}");
    assert!(fault.report().contains("NoSuchBucket"), "{}", fault.report());
}
