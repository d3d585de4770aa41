//! What every set of collections does.

use crate::retrieval::{document_id, entry, hybrid_entry, indexed, query};
use docent_ports::vector_indexes::VectorIndexes;
use std::sync::Arc;

crate::battery! {
    vector_indexes_contract in vector_indexes (Arc<dyn VectorIndexes>);

    /// What is written into one collection is not in another, of other dimensions too.
    async fn collections_do_not_mix(subject) {
        let (one, other) = (subject.open("one").await.unwrap(), subject.open("other").await.unwrap());
        one.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])]).await.unwrap();
        other.replace(&indexed(1), vec![hybrid_entry(1, 0, "valve", &[1.0, 0.0, 0.0])]).await.unwrap();
        assert_eq!(one.search(&query("pump"), None, 5).await.unwrap().len(), 1);
        assert!(other.search(&query("pump"), None, 5).await.unwrap().is_empty());
        other.remove(document_id(1)).await.unwrap();
        assert_eq!(one.count(document_id(1)).await.unwrap(), 1);
    }

    /// What was written stays through closing and opening, and through opening twice.
    async fn what_is_written_stays(subject) {
        let index = subject.open("one").await.unwrap();
        index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
        assert_eq!(subject.open("one").await.unwrap().count(document_id(1)).await.unwrap(), 1);
        drop(index);
        subject.close("one").await.unwrap();
        subject.close("one").await.unwrap();
        assert!(subject.exists("one").await.unwrap());
        assert_eq!(subject.open("one").await.unwrap().count(document_id(1)).await.unwrap(), 1);
    }

    /// A removed collection is gone, and may be removed again, and made anew.
    async fn a_removed_collection_is_gone(subject) {
        assert!(!subject.exists("one").await.unwrap());
        for _ in 0..2 {
            let index = subject.open("one").await.unwrap();
            assert_eq!(index.count(document_id(1)).await.unwrap(), 0);
            index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
            drop(index);
            assert!(subject.exists("one").await.unwrap());
            subject.remove("one").await.unwrap();
            assert!(!subject.exists("one").await.unwrap());
            subject.remove("one").await.unwrap();
        }
    }

    /// More collections than are kept open can be used in turns.
    async fn many_collections_take_turns(subject) {
        for n in 0..6_u32 {
            let index = subject.open(&format!("c{n}")).await.unwrap();
            index.replace(&indexed(n), vec![entry(n, 0, "pump")]).await.unwrap();
        }
        for n in 0..6_u32 {
            let index = subject.open(&format!("c{n}")).await.unwrap();
            assert_eq!(index.count(document_id(n)).await.unwrap(), 1);
        }
        subject.check().await.unwrap();
    }
}
