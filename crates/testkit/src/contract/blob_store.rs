//! Contract of every blob store.

use bytes::Bytes;
use docent_domain::document::BlobKey;
use docent_ports::blob_store::BlobStore;
use futures::TryStreamExt;
use std::sync::Arc;

fn key(text: &str) -> BlobKey {
    BlobKey::parse(text).unwrap()
}

async fn put(blobs: &dyn BlobStore, name: &str, pieces: &[&'static [u8]]) {
    let mut writer = blobs.create(&key(name)).await.unwrap();
    for piece in pieces {
        writer.write(Bytes::from_static(piece)).await.unwrap();
    }
    writer.finish().await.unwrap();
}

async fn get(blobs: &dyn BlobStore, name: &str) -> Option<Vec<u8>> {
    let stream = blobs.open(&key(name)).await.unwrap()?;
    Some(stream.try_collect::<Vec<_>>().await.unwrap().concat())
}

async fn listed(blobs: &dyn BlobStore) -> Vec<(String, u64)> {
    let mut found: Vec<_> =
        blobs.list().map_ok(|blob| (blob.key.as_str().to_owned(), blob.bytes)).try_collect().await.unwrap();
    found.sort();
    found
}

crate::battery! {
    blob_store_contract in blob_store (Arc<dyn BlobStore>);

    /// Bytes written in pieces are read in order under their own key.
    async fn blob_round_trips(blobs) {
        put(&*blobs, "documents/a.pdf", &[b"one ", b"", b"two"]).await;
        put(&*blobs, "documents/b.pdf", &[b"other"]).await;
        assert_eq!(get(&*blobs, "documents/a.pdf").await.unwrap(), b"one two");
        assert_eq!(get(&*blobs, "documents/b.pdf").await.unwrap(), b"other");
    }

    /// A blob of many pieces is read unchanged.
    async fn large_blob_round_trips(blobs) {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut writer = blobs.create(&key("large")).await.unwrap();
        for piece in bytes.chunks(65_537) {
            writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
        }
        writer.finish().await.unwrap();
        assert!(get(&*blobs, "large").await.unwrap() == bytes);
    }

    /// An empty blob exists.
    async fn empty_blob_round_trips(blobs) {
        put(&*blobs, "empty", &[]).await;
        assert_eq!(get(&*blobs, "empty").await.unwrap(), b"");
    }

    /// A key without a finished blob has no blob.
    async fn missing_blob_is_none(blobs) {
        assert_eq!(get(&*blobs, "documents/none.pdf").await, None);
        assert_eq!(get(&*blobs, "none").await, None);
    }

    /// Neither a new blob nor a replacement is visible before it is finished.
    // Invariant: An upload is invisible until it is complete.
    async fn blob_is_invisible_before_finish(blobs) {
        let mut writer = blobs.create(&key("a")).await.unwrap();
        writer.write(Bytes::from_static(b"first")).await.unwrap();
        assert_eq!(get(&*blobs, "a").await, None);
        writer.finish().await.unwrap();

        let mut writer = blobs.create(&key("a")).await.unwrap();
        writer.write(Bytes::from_static(b"2nd")).await.unwrap();
        assert_eq!(get(&*blobs, "a").await.unwrap(), b"first");
        writer.finish().await.unwrap();
        assert_eq!(get(&*blobs, "a").await.unwrap(), b"2nd");
    }

    /// An aborted or dropped writer leaves the existing blob.
    async fn aborted_or_dropped_writer_changes_nothing(blobs) {
        put(&*blobs, "a", &[b"old"]).await;
        for name in ["a", "b"] {
            let mut writer = blobs.create(&key(name)).await.unwrap();
            writer.write(Bytes::from_static(b"new")).await.unwrap();
            writer.abort().await.unwrap();
            let mut writer = blobs.create(&key(name)).await.unwrap();
            writer.write(Bytes::from_static(b"new")).await.unwrap();
            drop(writer);
        }
        assert_eq!(get(&*blobs, "a").await.unwrap(), b"old");
        assert_eq!(get(&*blobs, "b").await, None);
    }

    /// Two writers of the same key do not mix their bytes.
    async fn concurrent_writers_do_not_mix(blobs) {
        let mut first = blobs.create(&key("a")).await.unwrap();
        let mut second = blobs.create(&key("a")).await.unwrap();
        first.write(Bytes::from_static(b"first")).await.unwrap();
        second.write(Bytes::from_static(b"second")).await.unwrap();
        second.finish().await.unwrap();
        assert_eq!(get(&*blobs, "a").await.unwrap(), b"second");
        first.finish().await.unwrap();
        assert_eq!(get(&*blobs, "a").await.unwrap(), b"first");
    }

    /// Delete reports whether the blob existed and can be repeated.
    async fn delete_is_idempotent(blobs) {
        put(&*blobs, "documents/a.pdf", &[b"a"]).await;
        put(&*blobs, "documents/b.pdf", &[b"b"]).await;
        assert!(blobs.delete(&key("documents/a.pdf")).await.unwrap());
        assert!(!blobs.delete(&key("documents/a.pdf")).await.unwrap());
        assert!(!blobs.delete(&key("never-there")).await.unwrap());
        assert_eq!(get(&*blobs, "documents/a.pdf").await, None);
        assert_eq!(get(&*blobs, "documents/b.pdf").await.unwrap(), b"b");
    }

    /// Unfinished and deleted blobs have no size.
    async fn size_is_known_for_finished_blobs_only(blobs) {
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), None);
        let mut writer = blobs.create(&key("documents/a.pdf")).await.unwrap();
        writer.write(Bytes::from_static(b"some")).await.unwrap();
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), None);
        writer.finish().await.unwrap();
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), Some(4));
        blobs.delete(&key("documents/a.pdf")).await.unwrap();
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), None);
    }

    /// The list contains all finished blobs with their sizes.
    async fn list_contains_exactly_finished_blobs(blobs) {
        assert_eq!(listed(&*blobs).await, []);
        blobs.check().await.unwrap();
        put(&*blobs, "documents/a.pdf", &[b"one"]).await;
        put(&*blobs, "documents/b.pdf", &[b"three"]).await;
        put(&*blobs, "other", &[]).await;
        put(&*blobs, "gone", &[b"x"]).await;
        blobs.delete(&key("gone")).await.unwrap();
        let mut unfinished = blobs.create(&key("documents/c.pdf")).await.unwrap();
        unfinished.write(Bytes::from_static(b"some")).await.unwrap();
        let expected = [("documents/a.pdf", 3), ("documents/b.pdf", 5), ("other", 0)];
        assert_eq!(listed(&*blobs).await, expected.map(|(key, bytes)| (key.to_owned(), bytes)));
        unfinished.abort().await.unwrap();
    }

    /// The check succeeds repeatedly.
    async fn check_succeeds(blobs) {
        blobs.check().await.unwrap();
        blobs.check().await.unwrap();
    }
}
