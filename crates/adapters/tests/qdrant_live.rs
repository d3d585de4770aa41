//! The vector store on the Qdrant server at `DOCENT_TEST_QDRANT_URL` (its gRPC port), with the API key in
//! `DOCENT_TEST_QDRANT_API_KEY` if required. Each test creates and deletes its own collection.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use docent_adapters::qdrant::{Options, QdrantIndex};
use docent_adapters::system::SystemEntropy;
use docent_domain::retrieval::ChunkFilter;
use docent_ports::vector_index::VectorIndex;
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::retrieval::{document_id, entry, hybrid_entry, indexed, query};
use docent_testkit::servers::unique_name;
use qdrant_client::Qdrant;
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
            name: unique_name(&SystemEntropy),
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
    assert_eq!(index.count(document_id(1)).await.unwrap(), 0);
    index.replace(&indexed(1), dense()).await.unwrap();
    own.client().delete_collection(&own.name).await.unwrap();
    index.replace(&indexed(1), dense()).await.unwrap();
    assert_eq!(index.count(document_id(1)).await.unwrap(), 1);
}

#[tokio::test]
async fn hundreds_of_chunks_are_written_and_replaced() {
    let own = Own::new();
    let index = own.index();
    let pumps = |n| (0..n).map(|at| entry(1, at, "pump")).collect();
    index.replace(&indexed(1), pumps(500)).await.unwrap();
    assert_eq!(index.count(document_id(1)).await.unwrap(), 500);
    index.replace(&indexed(1), pumps(130)).await.unwrap();
    assert_eq!(index.count(document_id(1)).await.unwrap(), 130);
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(1000)).await.unwrap().len(), 130);
}
