//! Scopes and conditions in requests, and the labels in the payload of points.

use super::*;
use docent_domain::attributes::{AttributeKey, AttributeValue, Attributes};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::id::CollectionId;
use docent_domain::labels::DocumentLabels;
use docent_domain::retrieval::IndexedVersion;
use docent_domain::scope::Scope;
use std::collections::BTreeSet;

fn labelled(n: u32, collections: &[u32], attribute: &str) -> IndexedVersion {
    let document = indexed(n);
    let collections: BTreeSet<CollectionId> = collections.iter().map(|n| id(*n)).collect();
    let attributes = [(AttributeKey::parse(attribute).unwrap(), AttributeValue::Boolean(true))];
    let attributes = Attributes::new(attributes.into()).unwrap();
    IndexedVersion { labels: DocumentLabels { collections, attributes, ..document.labels }, ..document }
}

async fn found(index: &QdrantIndex, collections: &[CollectionId], condition: Option<&Condition>) -> usize {
    let scope = Scope::SERVICE.within(collections).unwrap();
    let filter = ChunkFilter { scope: &scope, condition, ..ChunkFilter::all(50) };
    index.search(&query("pump"), filter).await.unwrap().len()
}

fn has(attribute: &str) -> Condition {
    let key = AttributeKey::parse(attribute).unwrap();
    Condition::compare(key, Comparison::Eq, vec![AttributeValue::Boolean(true)]).unwrap()
}

/// Removes what earlier versions did not store.
fn forget_labels(server: &Fake) {
    let mut state = server.state.lock().unwrap();
    let stored = state.collections.get_mut(COLLECTION).unwrap();
    stored.indexed.retain(|field| field != "collections");
    for point in stored.points.values_mut() {
        point.payload.remove("collections").unwrap();
        point.payload.remove("attributes").unwrap();
    }
}

#[tokio::test]
async fn labels_are_replaced_by_one_write() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&labelled(1, &[1], "old"), pumps(100)).await.unwrap();
    server.state.lock().unwrap().calls.clear();
    index.relabel(&labelled(1, &[2], "new")).await.unwrap();
    assert_eq!(server.state.lock().unwrap().calls, ["count", "set_payload"]);
    assert_eq!(found(&index, &[id(1)], None).await, 0);
    assert_eq!(found(&index, &[id(2)], Some(&has("new"))).await, 50);
    assert_eq!(found(&index, &[id(2)], Some(&has("old"))).await, 0, "no attribute is left");
}

#[tokio::test]
async fn labels_of_document_without_chunks_are_not_written() {
    let server = Fake::start();
    let index = index(&server);
    index.relabel(&labelled(1, &[1], "a")).await.unwrap();
    assert!(server.state.lock().unwrap().collections.is_empty());
    index.replace(&labelled(2, &[1], "a"), vec![entry(2, 0, "pump")]).await.unwrap();
    server.state.lock().unwrap().calls.clear();
    index.relabel(&labelled(1, &[1], "a")).await.unwrap();
    assert_eq!(server.state.lock().unwrap().calls, ["count"]);
}

#[tokio::test]
async fn filtered_search_is_one_query_with_an_index_and_empty_scope_is_none() {
    let server = Fake::start();
    let index = index(&server);
    let one = vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])];
    index.replace(&labelled(1, &[1], "a"), one).await.unwrap();
    index.replace(&labelled(2, &[2], "a"), vec![hybrid_entry(2, 0, "pump", &[1.0, 0.0])]).await.unwrap();
    server.state.lock().unwrap().calls.clear();
    let scope = Scope::SERVICE.within(&[id(1)]).unwrap();
    let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
    let (condition, filter) = (has("a"), ChunkFilter { scope: &scope, ..ChunkFilter::all(5) });
    let filter = ChunkFilter { condition: Some(&condition), ..filter };
    let chunks = index.search(&both, filter).await.unwrap();
    assert_eq!(
        chunks.iter().map(|chunk| chunk.version).collect::<Vec<_>>(),
        [docent_domain::id::VersionId::first(document_id(1))]
    );
    let calls = ["create_field_index", "query", "get"];
    assert_eq!(server.state.lock().unwrap().calls, calls);
    assert_eq!(found(&index, &[], None).await, 0);
    assert_eq!(server.state.lock().unwrap().calls, calls);
}

#[tokio::test]
async fn chunks_of_an_earlier_version_are_in_everyone() {
    let server = Fake::start();
    index(&server).replace(&labelled(1, &[1], "a"), pumps(3)).await.unwrap();
    forget_labels(&server);
    let index = index(&server);
    assert_eq!(found(&index, &[id(1)], None).await, 0);
    assert_eq!(found(&index, &[id(1), CollectionId::EVERYONE], None).await, 3);
    let key = AttributeKey::parse("collection").unwrap();
    let everyone = vec![AttributeValue::String(CollectionId::EVERYONE.to_string())];
    let condition = Condition::compare(key, Comparison::Eq, everyone).unwrap();
    assert_eq!(found(&index, &[CollectionId::EVERYONE], Some(&condition)).await, 3);
    assert_eq!(found(&index, &[CollectionId::EVERYONE], Some(&has("a"))).await, 0);
    index.relabel(&labelled(1, &[1], "a")).await.unwrap();
    assert_eq!(found(&index, &[CollectionId::EVERYONE], None).await, 0);
    assert_eq!(found(&index, &[id(1)], Some(&has("a"))).await, 3);
    assert_eq!(
        server.state.lock().unwrap().collections[COLLECTION].indexed,
        ["document_id", "attributes.\"a\"", "document_id", "collections"]
    );
}

#[tokio::test]
async fn document_without_collections_is_in_no_scope() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&labelled(1, &[], "a"), pumps(1)).await.unwrap();
    assert_eq!(found(&index, &[CollectionId::EVERYONE, id(2)], None).await, 0);
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn existing_collection_gets_its_indexes_at_the_first_write_after_a_search() {
    let server = Fake::start();
    index(&server).replace(&labelled(1, &[1], "a"), pumps(1)).await.unwrap();
    forget_labels(&server);
    let index = index(&server);
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 1);
    index.replace(&labelled(1, &[1], "a"), pumps(1)).await.unwrap();
    assert!(server.state.lock().unwrap().collections[COLLECTION].indexed.contains(&"collections".to_owned()));
    server.state.lock().unwrap().calls.clear();
    index.replace(&labelled(1, &[1], "a"), pumps(1)).await.unwrap();
    assert_eq!(server.state.lock().unwrap().calls, ["upsert", "count"]);
}
