//! What every blob store does.

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

    /// What was written in pieces is read back whole and in order, under its own key.
    async fn gives_back_what_was_written(blobs) {
        put(&*blobs, "documents/a.pdf", &[b"one ", b"", b"two"]).await;
        put(&*blobs, "documents/b.pdf", &[b"other"]).await;
        assert_eq!(get(&*blobs, "documents/a.pdf").await.unwrap(), b"one two");
        assert_eq!(get(&*blobs, "documents/b.pdf").await.unwrap(), b"other");
    }

    /// Blobs of many pieces come back byte for byte.
    async fn keeps_large_blobs(blobs) {
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let mut writer = blobs.create(&key("large")).await.unwrap();
        for piece in bytes.chunks(65_537) {
            writer.write(Bytes::copy_from_slice(piece)).await.unwrap();
        }
        writer.finish().await.unwrap();
        assert!(get(&*blobs, "large").await.unwrap() == bytes);
    }

    /// A blob without bytes is a blob.
    async fn keeps_empty_blobs(blobs) {
        put(&*blobs, "empty", &[]).await;
        assert_eq!(get(&*blobs, "empty").await.unwrap(), b"");
    }

    /// There is nothing under a key before the first finish.
    async fn a_missing_blob_is_none(blobs) {
        assert_eq!(get(&*blobs, "documents/none.pdf").await, None);
        assert_eq!(get(&*blobs, "none").await, None);
    }

    /// Neither a new blob nor a change of an old one is seen before it is finished.
    async fn nothing_is_visible_before_finish(blobs) {
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

    /// An upload that was aborted or dropped leaves what was there before.
    async fn an_unfinished_blob_changes_nothing(blobs) {
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

    /// Two writers of one key do not mix their bytes.
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

    /// Deleting says whether there was something, and may be repeated.
    async fn delete_may_be_repeated(blobs) {
        put(&*blobs, "documents/a.pdf", &[b"a"]).await;
        put(&*blobs, "documents/b.pdf", &[b"b"]).await;
        assert!(blobs.delete(&key("documents/a.pdf")).await.unwrap());
        assert!(!blobs.delete(&key("documents/a.pdf")).await.unwrap());
        assert!(!blobs.delete(&key("never-there")).await.unwrap());
        assert_eq!(get(&*blobs, "documents/a.pdf").await, None);
        assert_eq!(get(&*blobs, "documents/b.pdf").await.unwrap(), b"b");
    }

    /// A blob's size is told without reading it; what is unfinished or gone has none.
    async fn sizes_are_those_of_finished_blobs(blobs) {
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), None);
        let mut writer = blobs.create(&key("documents/a.pdf")).await.unwrap();
        writer.write(Bytes::from_static(b"some")).await.unwrap();
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), None);
        writer.finish().await.unwrap();
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), Some(4));
        blobs.delete(&key("documents/a.pdf")).await.unwrap();
        assert_eq!(blobs.size(&key("documents/a.pdf")).await.unwrap(), None);
    }

    /// The list has all finished blobs with their sizes, and nothing else.
    async fn the_list_has_every_finished_blob(blobs) {
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

    /// The check passes, also more than once.
    async fn a_working_store_passes_its_check(blobs) {
        blobs.check().await.unwrap();
        blobs.check().await.unwrap();
    }
}
