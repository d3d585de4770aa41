//! Contract of every cache of embeddings.

use crate::builders::at;
use docent_ports::embedding_cache::{CachedVector, TextDigest};
use docent_ports::store::Store;
use std::collections::HashMap;
use std::sync::Arc;

const SPACE: &str = "model at host";

fn text(n: u16) -> TextDigest {
    let mut digest = [0; 32];
    digest[..2].copy_from_slice(&n.to_be_bytes());
    digest
}

async fn keep(store: &dyn Store, space: &str, vectors: &[(TextDigest, &[f32])], second: i64) {
    let mut unit = store.begin().await.unwrap();
    unit.embedding_cache().put(space, vectors, at(second)).await.unwrap();
    unit.commit().await.unwrap();
}

async fn find(store: &dyn Store, space: &str, texts: &[TextDigest]) -> HashMap<TextDigest, CachedVector> {
    store.read_latest().await.unwrap().embedding_cache().find(space, texts).await.unwrap()
}

crate::battery! {
    embedding_cache_contract in embedding_cache (Arc<dyn Store>);

    /// Vectors are read unchanged; unknown texts are omitted.
    async fn vectors_round_trip(store) {
        let odd = [f32::MIN_POSITIVE, -0.0, 1.0 / 3.0, f32::MAX];
        keep(&*store, SPACE, &[(text(1), &odd), (text(2), &[1.0])], 5).await;
        let found = find(&*store, SPACE, &[text(1), text(2), text(3)]).await;
        assert_eq!(found.len(), 2);
        let bits = |vector: &[f32]| vector.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found[&text(1)].vector), bits(&odd));
        assert_eq!(found[&text(2)], CachedVector { vector: vec![1.0], used_at: at(5) });
        assert_eq!(find(&*store, SPACE, &[]).await, HashMap::new());
    }

    async fn spaces_are_separate(store) {
        keep(&*store, SPACE, &[(text(1), &[1.0])], 1).await;
        keep(&*store, "other", &[(text(1), &[2.0])], 1).await;
        assert_eq!(find(&*store, SPACE, &[text(1)]).await[&text(1)].vector, [1.0]);
        assert_eq!(find(&*store, "other", &[text(1)]).await[&text(1)].vector, [2.0]);
        assert!(find(&*store, "third", &[text(1)]).await.is_empty());
    }

    async fn put_replaces_vector(store) {
        keep(&*store, SPACE, &[(text(1), &[1.0]), (text(2), &[5.0])], 1).await;
        keep(&*store, SPACE, &[(text(3), &[3.0]), (text(1), &[2.0, 3.0])], 7).await;
        let found = find(&*store, SPACE, &[text(1), text(2), text(3)]).await;
        assert_eq!(found[&text(1)], CachedVector { vector: vec![2.0, 3.0], used_at: at(7) });
        assert_eq!(found[&text(2)].used_at, at(1));
        assert_eq!(found.len(), 3);
    }

    /// The number of texts can exceed the limit of a statement.
    async fn many_texts_are_stored_and_found(store) {
        let vector = [0.5; 8];
        let all: Vec<(TextDigest, &[f32])> = (0..700).map(|n| (text(n), &vector[..])).collect();
        keep(&*store, SPACE, &all, 1).await;
        let texts: Vec<TextDigest> = all.iter().map(|(text, _)| *text).collect();
        assert_eq!(find(&*store, SPACE, &texts).await.len(), 700);
        let mut unit = store.begin().await.unwrap();
        unit.embedding_cache().touch(SPACE, &texts, at(9)).await.unwrap();
        assert_eq!(unit.embedding_cache().purge_unused(at(9), 1000).await.unwrap(), 0);
    }

    async fn purge_removes_unused_vectors_up_to_limit(store) {
        let all: Vec<(TextDigest, &[f32])> = (0..5).map(|n| (text(n), &[1.0_f32][..])).collect();
        keep(&*store, SPACE, &all, 1).await;
        keep(&*store, "other", &all[..1], 1).await;
        let mut unit = store.begin().await.unwrap();
        unit.embedding_cache().touch(SPACE, &[text(0), text(99)], at(10)).await.unwrap();
        unit.commit().await.unwrap();
        let purge = async |limit| {
            let mut unit = store.begin().await.unwrap();
            let removed = unit.embedding_cache().purge_unused(at(10), limit).await.unwrap();
            unit.commit().await.unwrap();
            removed
        };
        assert_eq!((purge(3).await, purge(3).await, purge(3).await), (3, 2, 0));
        let texts: Vec<TextDigest> = all.iter().map(|(text, _)| *text).collect();
        let found = find(&*store, SPACE, &texts).await;
        assert_eq!(found.into_keys().collect::<Vec<_>>(), [text(0)]);
        assert!(find(&*store, "other", &texts).await.is_empty());
    }

    async fn concurrent_puts_of_same_texts_succeed(store) {
        let keepers = (0..8).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let vector = [n as f32];
                let mut all: Vec<(TextDigest, &[f32])> = (0..100).map(|n| (text(n), &vector[..])).collect();
                if n % 2 == 0 {
                    all.reverse();
                }
                keep(&*store, SPACE, &all, 1).await;
            })
        });
        for keeper in keepers.collect::<Vec<_>>() {
            keeper.await.unwrap();
        }
        let texts: Vec<TextDigest> = (0..100).map(text).collect();
        let found = find(&*store, SPACE, &texts).await;
        assert_eq!(found.len(), 100);
        assert!(found.values().all(|vector| vector.vector == found[&text(0)].vector), "all of one unit");
    }
}
