//! Contract of the IDs that other programs gave to files, in every relational store.

use super::records::{add_collections, add_documents, add_users};
use crate::builders::{at, collection, document, id, user};
use docent_domain::external_file::{ExternalFile, ExternalId};
use docent_ports::store::Store;
use std::sync::Arc;

crate::battery! {
    external_files_contract in external_files (Arc<dyn Store>);

    /// Files are found by the IDs that another program gave them, and by their documents.
    async fn file_is_found_by_its_external_id(store) {
        add(&*store).await;
        let first = file(1, "a", None);
        // Another account can have the same ID.
        let second = file(2, "a", Some("agent_ünïcødé"));
        for file in [&first, &second, &file(3, "b", None)] {
            set(&*store, file).await;
        }
        assert_eq!(found(&*store, &["a", "none"]).await, [first.clone(), second.clone()]);
        assert_eq!(found(&*store, &[]).await, []);
        let mut view = store.read_latest().await.unwrap();
        assert_eq!(view.documents().external_file(id(2)).await.unwrap(), Some(second));
        assert_eq!(view.documents().external_file(id(4)).await.unwrap(), None);
        drop(view);
        let renamed = file(1, "c", Some("agent"));
        set(&*store, &renamed).await;
        assert_eq!(found(&*store, &["a", "c"]).await, [renamed, file(2, "a", Some("agent_ünïcødé"))]);
    }

    /// An external ID needs a document, and is removed when the document is marked as deleted.
    async fn external_id_belongs_to_a_document(store) {
        add(&*store).await;
        set(&*store, &file(1, "a", None)).await;
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().mark_deleted(id(1), at(10)).await.unwrap());
        work.commit().await.unwrap();
        assert_eq!(found(&*store, &["a"]).await, []);
        let mut work = store.begin().await.unwrap();
        assert!(work.documents().set_external_file(&file(9, "a", None)).await.is_err());
    }
}

async fn add(store: &dyn Store) {
    add_users(store, &[user(1)]).await;
    add_collections(store, &[collection(1)]).await;
    add_documents(store, &[document(1), document(2), document(3), document(4)]).await;
}

fn file(document: u32, external: &str, entity: Option<&str>) -> ExternalFile {
    let external_id = |text: &str| ExternalId::parse(text).unwrap();
    ExternalFile { document: id(document), id: external_id(external), entity: entity.map(external_id) }
}

async fn set(store: &dyn Store, file: &ExternalFile) {
    let mut work = store.begin().await.unwrap();
    work.documents().set_external_file(file).await.unwrap();
    work.commit().await.unwrap();
}

async fn found(store: &dyn Store, ids: &[&str]) -> Vec<ExternalFile> {
    let ids: Vec<ExternalId> = ids.iter().map(|text| ExternalId::parse(text).unwrap()).collect();
    let mut found = store.read_latest().await.unwrap().documents().external_files(&ids).await.unwrap();
    found.sort_by_key(|file| file.document);
    found
}
