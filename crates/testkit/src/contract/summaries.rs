//! Contract of the summaries of documents in every relational store.

use super::records::{add_documents, add_users};
use crate::builders::{at, document, id, user};
use docent_domain::id::DocumentId;
use docent_domain::summary::{
    Description, DocumentSummary, Fallback, Heading, KeyPoint, Place, SuggestedQuestion,
};
use docent_ports::store::Store;
use std::sync::Arc;

crate::battery! {
    summaries_contract in summaries (Arc<dyn Store>);

    /// All fields are stored and read unchanged.
    async fn summary_round_trips(store) {
        add(&*store, 2).await;
        assert_eq!(read(&*store, 1).await, None);
        let full = summary(1);
        set(&*store, 1, Some(&full)).await;
        assert_eq!(read(&*store, 1).await, Some(full));
        let empty = DocumentSummary {
            description: None,
            points: Vec::new(),
            headings: Vec::new(),
            years: Vec::new(),
            questions: Vec::new(),
            model: None,
            fallback: None,
            ..summary(2)
        };
        set(&*store, 2, Some(&empty)).await;
        assert_eq!(read(&*store, 2).await, Some(empty));
        for fallback in Fallback::ALL {
            let fallen = DocumentSummary { fallback: Some(fallback), ..summary(2) };
            set(&*store, 2, Some(&fallen)).await;
            assert_eq!(read(&*store, 2).await, Some(fallen));
        }
    }

    /// A later summary replaces the earlier one, and a removed one is gone; those of other documents stay.
    async fn summary_is_replaced_and_removed(store) {
        add(&*store, 2).await;
        set(&*store, 1, Some(&summary(1))).await;
        set(&*store, 2, Some(&summary(2))).await;
        let later = DocumentSummary { version: id(9), created_at: at(900), ..summary(1) };
        set(&*store, 1, Some(&later)).await;
        assert_eq!(read(&*store, 1).await, Some(later));
        set(&*store, 1, None).await;
        set(&*store, 1, None).await;
        assert_eq!(read(&*store, 1).await, None);
        assert_eq!(read(&*store, 2).await, Some(summary(2)));
    }

    /// The summary of a document is removed with it.
    async fn summary_is_removed_with_its_document(store) {
        add(&*store, 1).await;
        set(&*store, 1, Some(&summary(1))).await;
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().mark_deleted(id(1), at(50)).await.unwrap());
        work.commit().await.unwrap();
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().remove_deleted(id(1)).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!(read(&*store, 1).await, None);
    }

    /// A summary of an unknown document is refused.
    async fn summary_needs_a_document(store) {
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().set_summary(id(1), Some(&summary(1))).await.is_err());
    }
}

async fn add(store: &dyn Store, documents: u32) {
    add_users(store, &[user(1)]).await;
    let documents: Vec<_> = (1..=documents)
        .map(|n| docent_domain::document::Document { owner: Some(user(1).id), ..document(n) })
        .collect();
    add_documents(store, &documents).await;
}

async fn set(store: &dyn Store, document: u32, summary: Option<&DocumentSummary>) {
    let mut work = store.begin().await.unwrap();
    work.documents().set_summary(id(document), summary).await.unwrap();
    work.commit().await.unwrap();
}

async fn read(store: &dyn Store, document: u32) -> Option<DocumentSummary> {
    let id: DocumentId = id(document);
    let latest = store.read_latest().await.unwrap().documents().summary(id).await.unwrap();
    assert_eq!(store.read().await.unwrap().documents().summary(id).await.unwrap(), latest);
    latest
}

fn summary(n: u32) -> DocumentSummary {
    DocumentSummary {
        version: id(n),
        ingested_at: at(10) + chrono::TimeDelta::microseconds(123_457),
        created_at: at(20),
        description: Some(Description {
            text: "Ünïcødé “quoted” \u{1f980}".to_owned(),
            place: Some(Place { page: u32::MAX, chunk: 0 }),
        }),
        points: (1..=6)
            .map(|page| KeyPoint { text: format!("Point {page}."), place: Place { page, chunk: u32::MAX } })
            .collect(),
        headings: vec![
            Heading { title: "Safety".to_owned(), page: Some(2) },
            Heading { title: "Annex".to_owned(), page: None },
        ],
        years: vec![2023, 2024],
        questions: vec![SuggestedQuestion { text: "What?".to_owned(), page: 3 }],
        model: Some("model-1".to_owned()),
        fallback: None,
    }
}
