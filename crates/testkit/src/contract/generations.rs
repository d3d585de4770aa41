//! Contract of every repository of index generations.

use crate::builders::{at, document, id};
use docent_domain::extraction::Coverage;
use docent_domain::generation::{GenerationState, IndexGeneration, IndexedRevision};
use docent_ports::store::Store;
use std::sync::Arc;

fn first(n: u32) -> IndexGeneration {
    IndexGeneration::first(id(n), "words", "chunks", at(i64::from(n)))
}

fn begun(n: u32) -> IndexGeneration {
    let begun = IndexGeneration::building(id(n), "vectors", "chunks", at(i64::from(n)));
    IndexGeneration { dimensions: Some(768), ..begun }
}

async fn insert(store: &dyn Store, generation: &IndexGeneration) -> bool {
    let mut unit = store.begin().await.unwrap();
    let inserted = unit.generations().insert(generation).await.unwrap();
    unit.commit().await.unwrap();
    inserted
}

async fn active(store: &dyn Store) -> Option<IndexGeneration> {
    let glanced = store.read_latest().await.unwrap().generations().active().await.unwrap();
    let read = store.read().await.unwrap().generations().active().await.unwrap();
    assert_eq!(glanced, read);
    read
}

async fn all(store: &dyn Store) -> Vec<IndexGeneration> {
    store.read().await.unwrap().generations().all().await.unwrap()
}

/// Lets `next` take the place of `now`.
async fn switch(store: &dyn Store, now: &IndexGeneration, next: &IndexGeneration) {
    let mut unit = store.begin().await.unwrap();
    assert!(unit.generations().update(&now.clone().retired(at(9))).await.unwrap());
    assert!(unit.generations().update(&next.clone().active(at(9))).await.unwrap());
    unit.commit().await.unwrap();
}

crate::battery! {
    generations_contract in generations (Arc<dyn Store>);

    /// All fields are stored in every state.
    async fn generation_round_trips(store) {
        assert_eq!(active(&*store).await, None);
        let retired = begun(3).retired(at(7));
        for generation in [&first(1), &begun(2), &retired] {
            assert!(insert(&*store, generation).await);
        }
        assert_eq!(all(&*store).await, [first(1), begun(2), retired]);
        assert_eq!(active(&*store).await, Some(first(1)));
    }

    /// At most one generation is active and one is being built; any number is retired.
    // Invariant: Exactly one index is active, and a new one replaces it atomically.
    async fn one_generation_is_active_and_one_building(store) {
        assert!(insert(&*store, &first(1)).await && insert(&*store, &begun(2)).await);
        assert!(!insert(&*store, &first(3)).await);
        assert!(!insert(&*store, &begun(4)).await);
        assert!(!insert(&*store, &begun(2).retired(at(1))).await, "an id is given once");
        for n in 5..7 {
            assert!(insert(&*store, &begun(n).retired(at(1))).await);
        }
        assert_eq!(all(&*store).await.len(), 4);
        let mut unit = store.begin().await.unwrap();
        assert!(unit.generations().update(&begun(2).active(at(9))).await.is_err());
    }

    async fn concurrent_first_generations_have_one_winner(store) {
        let tries = (1..=10).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { insert(&*store, &first(n)).await })
        });
        let mut won = 0;
        for each in tries.collect::<Vec<_>>() {
            won += u32::from(each.await.unwrap());
        }
        assert_eq!((won, all(&*store).await.len()), (1, 1));
    }

    async fn switch_is_atomic(store) {
        assert!(insert(&*store, &first(1)).await && insert(&*store, &begun(2)).await);
        switch(&*store, &first(1), &begun(2)).await;
        assert_eq!(active(&*store).await, Some(begun(2).active(at(9))));
        let mut unit = store.begin().await.unwrap();
        assert!(!unit.generations().is_active(first(1).id).await.unwrap());
        assert!(unit.generations().is_active(begun(2).id).await.unwrap());
        assert!(!unit.generations().is_active(id(8)).await.unwrap());
        drop(unit);
        let retired = GenerationState::Retired { since: at(9) };
        assert_eq!(all(&*store).await[0].state, retired);
    }

    async fn removed_generation_is_unknown(store) {
        assert!(insert(&*store, &first(1)).await && insert(&*store, &begun(2)).await);
        let mut unit = store.begin().await.unwrap();
        assert!(unit.generations().remove(begun(2).id).await.unwrap());
        assert!(!unit.generations().remove(begun(2).id).await.unwrap());
        assert!(!unit.generations().update(&begun(2)).await.unwrap());
        assert!(unit.generations().insert(&begun(3)).await.unwrap());
        unit.commit().await.unwrap();
        assert_eq!(all(&*store).await, [first(1), begun(3)]);
    }

    /// A unit that relies on the active generation delays a switch, or learns that it happened.
    // Invariant: Exactly one index is active, and a new one replaces it atomically.
    async fn is_active_blocks_switch_or_reports_it(store) {
        assert!(insert(&*store, &first(1)).await && insert(&*store, &begun(2)).await);
        let writers = (0..8_u32).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut unit = store.begin().await.unwrap();
                let relied = unit.generations().is_active(first(1).id).await.unwrap();
                if relied {
                    let owned = document(n);
                    let written = docent_domain::document::Document { owner: None, ..owned };
                    unit.documents().insert(&written).await.unwrap();
                }
                unit.commit().await.unwrap();
                relied
            })
        });
        let writers: Vec<_> = writers.collect();
        let switching = {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                let mut unit = store.begin().await.unwrap();
                let all = unit.generations().all().await.unwrap();
                assert_eq!(all.len(), 2);
                let seen = unit.documents().counts().await.unwrap().pending;
                assert!(unit.generations().update(&first(1).retired(at(9))).await.unwrap());
                assert!(unit.generations().update(&begun(2).active(at(9))).await.unwrap());
                unit.commit().await.unwrap();
                seen
            })
        };
        let mut relied = 0;
        for writer in writers {
            relied += u64::from(writer.await.unwrap());
        }
        assert_eq!(switching.await.unwrap(), relied, "the switch sees all who relied on the one before");
    }

    async fn indexed_revisions_are_of_ingested_documents(store) {
        let mut unit = store.begin().await.unwrap();
        for n in 1..=6_u32 {
            let pending = docent_domain::document::Document { owner: None, ..document(n) };
            let coverage = Coverage { chunks: n, ..Coverage::default() };
            let document = match n {
                3 => pending,
                _ => pending.ingested(coverage, at(i64::from(n))).unwrap(),
            };
            unit.documents().insert(&document).await.unwrap();
        }
        unit.documents().mark_deleted(id(5), at(7)).await.unwrap();
        let mark = |n: u32| IndexedRevision { document: id(n), version: id(n), at: at(i64::from(n)), chunks: n };
        assert_eq!(unit.documents().indexed_revisions(None, 3).await.unwrap(), [mark(1), mark(2), mark(4)]);
        assert_eq!(unit.documents().indexed_revisions(Some(id(4)), 3).await.unwrap(), [mark(6)]);
        assert_eq!(unit.documents().indexed_revisions(Some(id(6)), 3).await.unwrap(), []);
    }
}
