//! Contract of every set of vector indexes.

use crate::builders::id;
use crate::retrieval::{entry, hybrid_entry, indexed, query, version_id};
use docent_domain::retrieval::ChunkFilter;
use docent_ports::vector_indexes::VectorIndexes;
use std::sync::Arc;

crate::battery! {
    vector_indexes_contract in vector_indexes (Arc<dyn VectorIndexes>);

    /// Vector collections can have different dimensions.
    async fn collections_are_separate(subject) {
        let (one, other) = (subject.open("one", id(1)).await.unwrap(), subject.open("other", id(1)).await.unwrap());
        one.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])]).await.unwrap();
        other.replace(&indexed(1), vec![hybrid_entry(1, 0, "valve", &[1.0, 0.0, 0.0])]).await.unwrap();
        assert_eq!(one.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 1);
        assert!(other.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().is_empty());
        other.remove(version_id(1)).await.unwrap();
        assert_eq!(one.count(version_id(1)).await.unwrap(), 1);
    }

    async fn chunks_survive_close_and_reopen(subject) {
        let index = subject.open("one", id(1)).await.unwrap();
        index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
        assert_eq!(subject.open("one", id(1)).await.unwrap().count(version_id(1)).await.unwrap(), 1);
        drop(index);
        subject.close("one").await.unwrap();
        subject.close("one").await.unwrap();
        assert!(subject.exists("one").await.unwrap());
        assert_eq!(subject.open("one", id(1)).await.unwrap().count(version_id(1)).await.unwrap(), 1);
    }

    /// Removing is idempotent.
    async fn removed_collection_is_empty_when_recreated(subject) {
        assert!(!subject.exists("one").await.unwrap());
        for _ in 0..2 {
            let index = subject.open("one", id(1)).await.unwrap();
            assert_eq!(index.count(version_id(1)).await.unwrap(), 0);
            index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
            drop(index);
            assert!(subject.exists("one").await.unwrap());
            subject.remove("one").await.unwrap();
            assert!(!subject.exists("one").await.unwrap());
            subject.remove("one").await.unwrap();
        }
    }

    async fn more_collections_than_open_limit_are_usable(subject) {
        for n in 0..6_u32 {
            let index = subject.open(&format!("c{n}"), id(1)).await.unwrap();
            index.replace(&indexed(n), vec![entry(n, 0, "pump")]).await.unwrap();
        }
        for n in 0..6_u32 {
            let index = subject.open(&format!("c{n}"), id(1)).await.unwrap();
            assert_eq!(index.count(version_id(n)).await.unwrap(), 1);
        }
        subject.check().await.unwrap();
    }
}
