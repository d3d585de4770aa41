//! Contract of the purposes and counts of files, the metadata of collections and the batches of files in every relational store.

use super::records::{add_collections, add_documents, add_users};
use crate::builders::{at, collection, collection_id, coverage, document, id, user};
use docent_domain::document::{Document, Failure, FailureCode};
use docent_domain::file_batch::{CollectionMetadata, FileBatch, FilePurpose, Metadata};
use docent_domain::id::{CollectionId, DocumentId};
use docent_domain::listing::{DocumentFilter, FileFilter, ListPosition, TimeOrder};
use docent_domain::scope::Scope;
use docent_ports::documents::{DocumentCounts, FileCounts};
use docent_ports::store::Store;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

crate::battery! {
    file_batches_contract in file_batches (Arc<dyn Store>);

    /// Files are counted by collection and status. Documents without a file are not.
    async fn files_of_collections_are_counted(store) {
        add(&*store).await;
        let failed = document(3).failed(Failure::of(FailureCode::Unreadable), None, at(9)).unwrap();
        let files = [document(1), document(2), failed, without_file(4)];
        add_documents(&*store, &files.map(|of| in_collections(of, &[1]))).await;
        add_documents(&*store, &[in_collections(document(5), &[1, 2])]).await;
        let ids = [1, 2, 9].map(collection_id);
        let counts = store.read().await.unwrap().documents().file_counts(&ids, None).await.unwrap();
        let bytes = |numbers: &[u32]| numbers.iter().map(|n| document(*n).file.unwrap().bytes).sum();
        let first = FileCounts {
            documents: DocumentCounts { pending: 3, ingested: 0, failed: 1 },
            bytes: bytes(&[1, 2, 3, 5]),
        };
        let second =
            FileCounts { documents: DocumentCounts { pending: 1, ingested: 0, failed: 0 }, bytes: bytes(&[5]) };
        assert_eq!(counts, HashMap::from([(ids[0], first), (ids[1], second)]));
        let some = [id(3), id(4), id(9)];
        let counts = store.read().await.unwrap().documents().file_counts(&ids, Some(&some)).await.unwrap();
        let failed = DocumentCounts { pending: 0, ingested: 0, failed: 1 };
        assert_eq!(counts, HashMap::from([(ids[0], FileCounts { documents: failed, bytes: bytes(&[3]) })]));
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().mark_deleted(id(5), at(10)).await.unwrap());
        work.commit().await.unwrap();
        let counts = store.read().await.unwrap().documents().file_counts(&ids[1..], None).await.unwrap();
        assert_eq!(counts, HashMap::new(), "a deleted file is not counted");
        assert!(store.read().await.unwrap().documents().file_counts(&[], None).await.unwrap().is_empty());
    }

    /// A file whose labels the vector store does not have yet is pending.
    async fn file_is_ingested_when_its_labels_are_indexed(store) {
        add(&*store).await;
        let ingested = |n| document(n).ingested(coverage(), at(5)).unwrap();
        let files = [1, 2, 3].map(|n| in_collections(ingested(n), &[1]));
        add_documents(&*store, &files).await;
        let mut work = store.begin().await.unwrap();
        work.documents().set_indexed_labels(id(2), ingested(2).labels_revision).await.unwrap();
        work.documents().set_indexed_labels(id(3), ingested(3).labels_revision + 1).await.unwrap();
        work.commit().await.unwrap();
        let mut view = store.read().await.unwrap();
        let counts = view.documents().file_counts(&[collection_id(1)], None).await.unwrap();
        let expected = DocumentCounts { pending: 2, ingested: 1, failed: 0 };
        assert_eq!(counts[&collection_id(1)].documents, expected);
        let stale = view.documents().with_stale_labels(&[id(1), id(2), id(9)]).await.unwrap();
        assert_eq!(stale, [id(1)].into());
        for (files, status, found) in [
            (Some(FileFilter::default()), "pending", vec![id(3), id(1)]),
            (Some(FileFilter::default()), "ingested", vec![id(2)]),
            (None, "pending", vec![]),
            (None, "ingested", vec![id(3), id(2), id(1)]),
        ] {
            let filter = DocumentFilter { status: Some(status), files, ..DocumentFilter::of(Scope::SERVICE.clone()) };
            let listed = view.documents().list(&filter).await.unwrap();
            assert_eq!(listed.iter().map(|document| document.id).collect::<Vec<DocumentId>>(), found, "{files:?} {status}");
        }
    }

    /// Files are listed by purpose, in both orders, from a position on.
    async fn files_are_listed_by_purpose_in_both_orders(store) {
        add(&*store).await;
        let files = [document(1), document(2), document(3), without_file(4), document(5)];
        add_documents(&*store, &files).await;
        let mut work = store.begin().await.unwrap();
        for n in [2, 5] {
            work.documents().set_purpose(id(n), FilePurpose::UserData).await.unwrap();
        }
        work.commit().await.unwrap();
        let filter = |purpose, order| DocumentFilter {
            files: Some(FileFilter { purpose }),
            order,
            ..DocumentFilter::of(Scope::SERVICE.clone())
        };
        let listed = async |filter: DocumentFilter| -> Vec<DocumentId> {
            let found = store.read().await.unwrap().documents().list(&filter).await.unwrap();
            found.into_iter().map(|document| document.id).collect()
        };
        let ids = |numbers: &[u32]| numbers.iter().map(|n| id(*n)).collect::<Vec<DocumentId>>();
        assert_eq!(listed(filter(None, TimeOrder::Newest)).await, ids(&[5, 3, 2, 1]));
        assert_eq!(listed(filter(None, TimeOrder::Oldest)).await, ids(&[1, 2, 3, 5]));
        let user_data = Some(FilePurpose::UserData);
        assert_eq!(listed(filter(user_data, TimeOrder::Oldest)).await, ids(&[2, 5]));
        assert_eq!(listed(filter(Some(FilePurpose::Assistants), TimeOrder::Oldest)).await, ids(&[1, 3]));
        let after = Some(ListPosition { created_at: document(2).created_at, id: id(2) });
        let from = |order| DocumentFilter { after, ..filter(None, order) };
        assert_eq!(listed(from(TimeOrder::Oldest)).await, ids(&[3, 5]));
        assert_eq!(listed(from(TimeOrder::Newest)).await, ids(&[1]));
        let purposes = store.read().await.unwrap().documents().purposes(&ids(&[1, 2, 9])).await.unwrap();
        assert_eq!(purposes, HashMap::from([(id(2), FilePurpose::UserData)]));
    }

    /// The purpose of a file needs a document, and is removed with it.
    async fn purpose_belongs_to_a_document(store) {
        add(&*store).await;
        add_documents(&*store, &[document(1)]).await;
        let mut work = store.begin().await.unwrap();
        work.documents().set_purpose(id(1), FilePurpose::UserData).await.unwrap();
        assert!(work.documents().mark_deleted(id(1), at(10)).await.unwrap());
        assert!(work.documents().remove_deleted(id(1)).await.unwrap());
        work.commit().await.unwrap();
        let purposes = store.read().await.unwrap().documents().purposes(&[id(1)]).await.unwrap();
        assert_eq!(purposes, HashMap::new());
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().set_purpose(id(1), FilePurpose::UserData).await.is_err());
    }

    /// Metadata is replaced as a whole, and removed with its collection.
    async fn metadata_belongs_to_a_collection(store) {
        add(&*store).await;
        let entries = BTreeMap::from([("team".to_owned(), "ünïcødé \u{1f980}".to_owned())]);
        let full = CollectionMetadata {
            entries: Metadata::new(entries).unwrap(),
            expires_after_days: Some(365),
            last_active_at: at(7) + chrono::TimeDelta::microseconds(5),
        };
        let (first, second) = (collection_id(1), collection_id(2));
        assert_eq!(metadata(&*store, first).await, None);
        set_metadata(&*store, first, &full).await;
        let plain = CollectionMetadata::new(at(8));
        set_metadata(&*store, second, &plain).await;
        assert_eq!((metadata(&*store, first).await, metadata(&*store, second).await), (Some(full), Some(plain.clone())));
        set_metadata(&*store, first, &plain).await;
        assert_eq!(metadata(&*store, first).await, Some(plain.clone()));
        let mut work = store.begin().await.unwrap();
        assert!(work.collections().delete(first).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!(metadata(&*store, first).await, None);
        let mut work = store.begin().await.unwrap();
        assert!(work.collections().set_metadata(first, &plain).await.is_err());
    }

    /// A batch is stored, replaced, and removed with its collection, but not with its files.
    async fn batch_belongs_to_a_collection(store) {
        add(&*store).await;
        let files = (1..=2000).rev().map(id).collect();
        let batch = FileBatch {
            id: id(1),
            collection: collection_id(1),
            files,
            cancelled: BTreeSet::new(),
            is_cancelled: false,
            created_at: at(3),
        };
        put(&*store, &batch).await;
        assert_eq!(read(&*store, 1).await, Some(batch.clone()));
        let cancelled = FileBatch { cancelled: [7, 3].map(id).into(), is_cancelled: true, ..batch };
        put(&*store, &cancelled).await;
        put(&*store, &FileBatch { id: id(2), collection: collection_id(2), ..cancelled.clone() }).await;
        assert_eq!(read(&*store, 1).await, Some(cancelled.clone()));
        let mut work = store.begin().await.unwrap();
        assert!(work.collections().delete(collection_id(1)).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!((read(&*store, 1).await, read(&*store, 2).await.is_some()), (None, true));
        let mut work = store.begin().await.unwrap();
        assert!(work.collections().put_file_batch(&cancelled).await.is_err());
    }

    /// Old batches are deleted up to a limit. Their files stay.
    async fn purge_removes_old_batches_up_to_limit(store) {
        add(&*store).await;
        add_documents(&*store, &[document(1)]).await;
        for n in 1..=5 {
            let batch = FileBatch {
                id: id(n),
                collection: collection_id(1),
                files: vec![id(1)],
                cancelled: BTreeSet::new(),
                is_cancelled: false,
                created_at: at(i64::from(n)),
            };
            put(&*store, &batch).await;
        }
        for (limit, removed) in [(2, 2), (9, 1), (9, 0)] {
            let mut work = store.begin().await.unwrap();
            assert_eq!(work.collections().purge_file_batches(at(4), limit).await.unwrap(), removed);
            work.commit().await.unwrap();
        }
        let left = [read(&*store, 3).await, read(&*store, 4).await, read(&*store, 5).await];
        assert_eq!(left.map(|batch| batch.is_some()), [false, true, true]);
        assert!(store.read().await.unwrap().documents().get(id(1)).await.unwrap().is_some());
    }
}

async fn add(store: &dyn Store) {
    add_users(store, &[user(1)]).await;
    add_collections(store, &[collection(1), collection(2)]).await;
}

fn without_file(n: u32) -> Document {
    Document { file: None, ..document(n) }
}

fn in_collections(document: Document, numbers: &[u32]) -> Document {
    Document { collections: numbers.iter().map(|n| collection_id(*n)).collect(), ..document }
}

async fn set_metadata(store: &dyn Store, id: CollectionId, metadata: &CollectionMetadata) {
    let mut work = store.begin().await.unwrap();
    work.collections().set_metadata(id, metadata).await.unwrap();
    work.commit().await.unwrap();
}

async fn metadata(store: &dyn Store, id: CollectionId) -> Option<CollectionMetadata> {
    store.read().await.unwrap().collections().metadata(&[id]).await.unwrap().remove(&id)
}

async fn put(store: &dyn Store, batch: &FileBatch) {
    let mut work = store.begin().await.unwrap();
    work.collections().put_file_batch(batch).await.unwrap();
    work.commit().await.unwrap();
}

async fn read(store: &dyn Store, batch: u32) -> Option<FileBatch> {
    store.read_latest().await.unwrap().collections().file_batch(id(batch)).await.unwrap()
}
