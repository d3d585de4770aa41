//! The vector store on the Qdrant server at `DOCENT_TEST_QDRANT_URL` (its gRPC port), with the API key in
//! `DOCENT_TEST_QDRANT_API_KEY` if required. Each test creates and deletes its own collection.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::id::{CollectionId, VersionId};
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::{ChunkFilter, IndexedVersion};
use docent_domain::scope::Scope;
use docent_index::qdrant::{Options, QdrantIndex};
use docent_ports::vector_index::VectorIndex;
use docent_testkit::builders::id;
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::retrieval::{document_id, entry, hybrid_entry, indexed, query};
use docent_testkit::servers::unique_name;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{DeleteFieldIndexCollectionBuilder, DeletePayloadPointsBuilder, Filter};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A collection's name. Dropping it deletes the collection.
struct Own {
    name: String,
    url: String,
    key: Option<String>,
    statistics: FakeStore,
}

impl Own {
    #[expect(clippy::disallowed_methods, reason = "tests have no other settings than these")]
    fn new() -> Self {
        Self {
            name: unique_name(),
            url: std::env::var("DOCENT_TEST_QDRANT_URL")
                .expect("DOCENT_TEST_QDRANT_URL names a Qdrant server"),
            key: std::env::var("DOCENT_TEST_QDRANT_API_KEY").ok(),
            statistics: FakeStore::default(),
        }
    }

    fn index(&self) -> QdrantIndex {
        let options = Options { collection: self.name.clone(), ..Options::default() };
        QdrantIndex::new(&self.url, self.key.as_deref(), options, Arc::new(self.statistics.clone())).unwrap()
    }

    fn client(&self) -> Qdrant {
        Qdrant::from_url(&self.url).api_key(self.key.clone()).skip_compatibility_check().build().unwrap()
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let client = self.client();
        let name = self.name.clone();
        // The test's own runtime does not wait in a destructor.
        let deleting = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(client.delete_collection(name)).map(|_| ())
        });
        assert!(deleting.join().is_ok_and(|deleted| deleted.is_ok()) || std::thread::panicking());
    }
}

mod contract {
    use super::*;

    docent_testkit::vector_index_contract!(async {
        let own = Own::new();
        (Arc::new(own.index()) as _, own)
    });
}

#[tokio::test]
async fn deleted_collection_is_created_again() {
    let own = Own::new();
    let index = own.index();
    let dense = || vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])];
    index.replace(&indexed(1), dense()).await.unwrap();
    own.client().delete_collection(&own.name).await.unwrap();
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap(), []);
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 0);
    index.replace(&indexed(1), dense()).await.unwrap();
    own.client().delete_collection(&own.name).await.unwrap();
    index.replace(&indexed(1), dense()).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 1);
}

#[tokio::test]
async fn hundreds_of_chunks_are_written_and_replaced() {
    let own = Own::new();
    let index = own.index();
    let pumps = |n| (0..n).map(|at| entry(1, at, "pump")).collect();
    index.replace(&indexed(1), pumps(500)).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 500);
    index.replace(&indexed(1), pumps(130)).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 130);
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(1000)).await.unwrap().len(), 130);
}

fn labelled(n: u32, collections: &[u32], attribute: &str, value: f64) -> IndexedVersion {
    let document = indexed(n);
    let collections: BTreeSet<CollectionId> = collections.iter().map(|n| id(*n)).collect();
    let attributes = [(AttributeKey::parse(attribute).unwrap(), AttributeValue::Number(value))];
    let attributes = Attributes::new(attributes.into()).unwrap();
    IndexedVersion { labels: DocumentLabels { collections, attributes, ..document.labels }, ..document }
}

async fn found(index: &QdrantIndex, collections: &[CollectionId], equal: Option<(&str, f64)>) -> usize {
    let scope = Scope::SERVICE.within(collections).unwrap();
    let condition = equal.map(|(key, value)| {
        let key = AttributeKey::parse(key).unwrap();
        Condition::compare(key, Comparison::Eq, vec![AttributeValue::Number(value)]).unwrap()
    });
    let filter = ChunkFilter { scope: &scope, condition: condition.as_ref(), ..ChunkFilter::all(1000) };
    index.search(&query("pump"), filter).await.unwrap().len()
}

#[tokio::test]
async fn labels_of_hundreds_of_chunks_are_replaced_as_a_whole() {
    let own = Own::new();
    let index = own.index();
    index
        .replace(&labelled(1, &[1], "old", 0.1), (0..600).map(|at| entry(1, at, "pump")).collect())
        .await
        .unwrap();
    index.replace(&labelled(2, &[], "old", 0.1), vec![entry(2, 0, "pump")]).await.unwrap();
    assert_eq!(found(&index, &[id(1)], Some(("old", 0.1))).await, 600);
    index.relabel(&labelled(1, &[2], "new-é.1", 1e300)).await.unwrap();
    assert_eq!(
        found(&index, &[id(1), CollectionId::EVERYONE], None).await,
        0,
        "nor a document without collections"
    );
    assert_eq!(found(&index, &[id(2)], Some(("new-é.1", 1e300))).await, 600);
    assert_eq!(found(&index, &[id(2)], Some(("old", 0.1))).await, 0);
}

#[tokio::test]
async fn chunks_of_an_earlier_version_are_in_everyone() {
    let own = Own::new();
    own.index().replace(&labelled(1, &[1], "a", 1.0), vec![entry(1, 0, "pump")]).await.unwrap();
    let fields = ["collections".to_owned(), "attributes".to_owned()];
    let forget =
        DeletePayloadPointsBuilder::new(&own.name, fields).points_selector(Filter::default()).wait(true);
    own.client().delete_payload(forget).await.unwrap();
    let unindexed = DeleteFieldIndexCollectionBuilder::new(&own.name, "collections").wait(true);
    own.client().delete_field_index(unindexed).await.unwrap();
    let index = own.index();
    let everyone = &[CollectionId::EVERYONE];
    assert_eq!((found(&index, everyone, None).await, found(&index, &[id(1)], None).await), (1, 0));
    index.replace(&labelled(2, &[1], "a", 1.0), vec![entry(2, 0, "pump")]).await.unwrap();
    let info = own.client().collection_info(&own.name).await.unwrap().result.unwrap();
    assert!(info.payload_schema.contains_key("collections"));
    assert_eq!((found(&index, everyone, None).await, found(&index, &[id(1)], None).await), (1, 1));
    index.relabel(&labelled(1, &[1], "a", 1.0)).await.unwrap();
    assert_eq!((found(&index, everyone, None).await, found(&index, &[id(1)], None).await), (0, 2));
}
