//! Contract of every repository of term statistics.

use crate::builders::id;
use docent_domain::fault::Result;
use docent_domain::ranking::CorpusStatistics;
use docent_ports::store::{Store, UnitOfWork};
use docent_ports::term_statistics::{Contribution, TermStatistics};
use std::collections::HashMap;
use std::sync::Arc;

const COLLECTION: &str = "chunks";

crate::battery! {
    term_statistics_contract in term_statistics (Arc<dyn Store>);

    async fn contributions_are_summed(store) {
        assert_eq!(read(&*store, COLLECTION).await, TermStatistics::default());
        put(&*store, 1, &added(2, 300, &[(1, 2), (u32::MAX, 1)])).await;
        put(&*store, 2, &added(1, 100, &[(1, 1), (3, 1)])).await;
        let totals = CorpusStatistics { documents: 2, chunks: 3, length: 400 };
        assert_eq!(read(&*store, COLLECTION).await, known(totals, &[(1, 3), (3, 1), (u32::MAX, 1)]));
    }

    async fn put_replaces_contribution(store) {
        put(&*store, 1, &added(2, 300, &[(1, 2), (2, 1)])).await;
        for _ in 0..2 {
            put(&*store, 1, &added(1, 90, &[(2, 1), (3, 5)])).await;
            let totals = CorpusStatistics { documents: 1, chunks: 1, length: 90 };
            assert_eq!(read(&*store, COLLECTION).await, known(totals, &[(2, 1), (3, 5)]));
        }
    }

    // Invariant: Every vector store ranks with the domain's functions, and its corpus statistics are exact
    // after deletions.
    async fn removed_contribution_leaves_nothing(store) {
        put(&*store, 1, &added(2, 300, &[(1, 2), (2, 1)])).await;
        put(&*store, 2, &added(1, 100, &[(2, 1)])).await;
        for _ in 0..2 {
            change(&*store, async |unit| unit.term_statistics().remove(COLLECTION, id(1)).await).await;
            let totals = CorpusStatistics { documents: 1, chunks: 1, length: 100 };
            assert_eq!(read(&*store, COLLECTION).await, known(totals, &[(2, 1)]));
        }
        change(&*store, async |unit| unit.term_statistics().remove(COLLECTION, id(2)).await).await;
        assert_eq!(read(&*store, COLLECTION).await, TermStatistics::default());
    }

    async fn collections_are_separate(store) {
        put(&*store, 1, &added(1, 10, &[(1, 1)])).await;
        let there = added(4, 40, &[(1, 4)]);
        change(&*store, async |unit| unit.term_statistics().put("others", id(1), &there).await).await;
        change(&*store, async |unit| unit.term_statistics().clear(COLLECTION).await).await;
        assert_eq!(read(&*store, COLLECTION).await, TermStatistics::default());
        let totals = CorpusStatistics { documents: 1, chunks: 4, length: 40 };
        assert_eq!(read(&*store, "others").await, known(totals, &[(1, 4)]));
        put(&*store, 1, &added(1, 10, &[(1, 1)])).await;
        assert_eq!(read(&*store, COLLECTION).await.totals.chunks, 1);
    }

    async fn thousands_of_terms_are_stored(store) {
        let places: Vec<(u32, u32)> = (0..40_000).map(|n| (n * 7, 1 + n % 3)).collect();
        put(&*store, 1, &added(9, 90_000, &places)).await;
        put(&*store, 2, &added(9, 90_000, &places)).await;
        let asked = [0, 7, 39_999 * 7, 5];
        let mut view = store.read_latest().await.unwrap();
        let found = view.term_statistics().read(COLLECTION, &asked).await.unwrap().frequencies;
        assert_eq!(found, HashMap::from([(0, 2), (7, 4), (39_999 * 7, 2)]));
        change(&*store, async |unit| unit.term_statistics().remove(COLLECTION, id(1)).await).await;
        let mut view = store.read_latest().await.unwrap();
        let found = view.term_statistics().read(COLLECTION, &asked).await.unwrap().frequencies;
        assert_eq!(found, HashMap::from([(0, 1), (7, 2), (39_999 * 7, 1)]));
    }

    async fn concurrent_contributions_are_all_counted(store) {
        let documents = (0..8_u32).map(|n| {
            let store = Arc::clone(&store);
            tokio::spawn(async move {
                for round in 0..5 {
                    // All have most places in common, each in another order of magnitude.
                    let places: Vec<_> = (0..200).map(|place| (place * (1 + n % 2), 1 + round)).collect();
                    put(&*store, n, &added(1 + round, 100, &places)).await;
                    // The same document from two sides.
                    put(&*store, 100, &added(1, 1, &[(n, 1), (1_000, 1)])).await;
                }
                put(&*store, n, &added(1, 100, &[(1, 1), (2_000 + n, 1)])).await;
            })
        });
        for document in documents.collect::<Vec<_>>() {
            document.await.unwrap();
        }
        change(&*store, async |unit| unit.term_statistics().remove(COLLECTION, id(100)).await).await;
        let totals = CorpusStatistics { documents: 8, chunks: 8, length: 800 };
        assert_eq!(read(&*store, COLLECTION).await, known(totals, &[(1, 8)]));
    }

    async fn dropped_unit_contributes_nothing(store) {
        let mut unit = store.begin().await.unwrap();
        unit.term_statistics().put(COLLECTION, id(1), &added(1, 10, &[(1, 1)])).await.unwrap();
        drop(unit);
        assert_eq!(read(&*store, COLLECTION).await, TermStatistics::default());
    }
}

fn added(chunks: u32, length: u64, places: &[(u32, u32)]) -> Contribution {
    Contribution { chunks, length, places: places.iter().copied().collect() }
}

fn known(totals: CorpusStatistics, frequencies: &[(u32, u64)]) -> TermStatistics {
    TermStatistics { totals, frequencies: frequencies.iter().copied().collect() }
}

async fn put(store: &dyn Store, document: u32, added: &Contribution) {
    let mut unit = store.begin().await.unwrap();
    unit.term_statistics().put(COLLECTION, id(document), added).await.unwrap();
    unit.commit().await.unwrap();
}

async fn change(store: &dyn Store, change: impl AsyncFnOnce(&mut dyn UnitOfWork) -> Result<()>) {
    let mut unit = store.begin().await.unwrap();
    change(&mut *unit).await.unwrap();
    unit.commit().await.unwrap();
}

/// What is known of some places.
async fn read(store: &dyn Store, collection: &str) -> TermStatistics {
    let mut view = store.read_latest().await.unwrap();
    view.term_statistics().read(collection, &[0, 1, 2, 3, 1_000, u32::MAX]).await.unwrap()
}
