//! Creates the blob store.

use anyhow::Context;
use docent::config::{BlobStoreUrl, S3Host, Settings};
use docent_ports::blob_store::BlobStore;
use docent_ports::clock::Clock;
use docent_services::blob::{Addressing, ObjectBlobStore, S3Credentials, S3Options};
use std::sync::Arc;

/// Age after which an unfinished file belongs to an upload whose process has died.
const ABANDONED_AFTER: chrono::TimeDelta = chrono::TimeDelta::hours(1);

pub(super) fn blobs(
    settings: &Settings,
    clock: &dyn Clock,
    is_exclusive: bool,
) -> anyhow::Result<Arc<dyn BlobStore>> {
    match &settings.storage.blob_store {
        BlobStoreUrl::File(folder) => {
            // If no other process writes, every file that is unfinished at the start was abandoned.
            let min_age = if is_exclusive { chrono::TimeDelta::zero() } else { ABANDONED_AFTER };
            Ok(Arc::new(ObjectBlobStore::local(folder, clock.now() - min_age)?))
        }
        BlobStoreUrl::S3 { bucket, prefix, host } => {
            let store =
                ObjectBlobStore::s3(bucket, prefix, &s3(settings, host)).context("DOCENT_BLOB_STORE")?;
            Ok(Arc::new(store))
        }
    }
}

fn s3(settings: &Settings, host: &S3Host) -> S3Options {
    let storage = &settings.storage;
    let credentials = match (&storage.s3_access_key_id, &storage.s3_secret_access_key) {
        (Some(id), Some(secret)) => S3Credentials::keys(id, secret.expose()),
        _ => S3Credentials::from_env(),
    };
    S3Options {
        endpoint: host.endpoint.as_ref().map(|endpoint| endpoint.as_str().to_owned()),
        region: host.region.clone(),
        addressing: if host.is_virtual_hosted { Addressing::VirtualHosted } else { Addressing::Path },
        ..S3Options::new(credentials)
    }
}
