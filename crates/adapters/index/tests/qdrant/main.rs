//! The vector store adapter against a server that speaks Qdrant's protocol.
//!
//! Tests requests and the handling of responses and errors; `qdrant_live.rs` runs the same battery on a real
//! server.
// Tests fail by panicking.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod faults;
mod labels;
mod server;

use ::qdrant_client::qdrant::quantization_config::Quantization;
use ::qdrant_client::qdrant::{QuantizationType, vectors_config};
use docent_domain::attributes::{AttributeKey, AttributeValue};
use docent_domain::condition::{Comparison, Condition};
use docent_domain::fault::FaultKind;
use docent_domain::id::{GenerationId, VersionId};
use docent_domain::retrieval::{ChunkFilter, IndexEntry, QueryEmbedding};
use docent_index::qdrant::{Options, QdrantCollections, QdrantIndex};
use docent_ports::vector_index::VectorIndex;
use docent_ports::vector_indexes::VectorIndexes;
use docent_testkit::builders::id;
use docent_testkit::fakes::trace::FakePropagator;
use docent_testkit::retrieval::{document_id, entry, hybrid_entry, indexed, query};
use server::{Fake, Stored};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;
use tonic::Status;

const COLLECTION: &str = "docent_chunks";

fn index(server: &Fake) -> QdrantIndex {
    index_with(server, None, Options::default())
}

fn index_with(server: &Fake, key: Option<&str>, options: Options) -> QdrantIndex {
    QdrantIndex::new(&server.url, key, options, Arc::clone(&server.statistics) as _).unwrap()
}

fn pumps(n: u32) -> Vec<IndexEntry> {
    (0..n).map(|at| entry(1, at, "pump")).collect()
}

mod contract {
    use super::*;

    docent_testkit::vector_index_contract!(async {
        let server = Fake::start();
        (Arc::new(index(&server)) as _, server)
    });
}

mod collections_contract {
    use super::*;

    docent_testkit::vector_indexes_contract!(async {
        let server = Fake::start();
        (Arc::new(QdrantCollections::new(index(&server))) as _, server)
    });
}

#[tokio::test]
async fn collection_is_created_once_with_vectors_and_index() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[0.6, 0.8])]).await.unwrap();
    index.replace(&indexed(2), vec![hybrid_entry(2, 0, "pump", &[0.6, 0.8])]).await.unwrap();
    let state = server.state.lock().unwrap();
    let stored = &state.collections[COLLECTION];
    assert_eq!((stored.dense, &stored.sparse), (Some(2), &vec!["terms".to_owned()]));
    assert_eq!(stored.indexed, ["document_id", "collections"]);
    assert_eq!(state.calls.iter().filter(|call| **call == "create").count(), 1);
}

#[tokio::test]
#[expect(deprecated, reason = "servers before 1.18 do not know what replaces these fields")]
async fn collection_can_be_created_on_disk() {
    let server = Fake::start();
    let index = index_with(&server, None, Options { on_disk: true, ..Options::default() });
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[0.6, 0.8])]).await.unwrap();
    let created = server.state.lock().unwrap().collections[COLLECTION].created.clone();
    // Their numbers are those of the server's configuration.
    assert_eq!((created.shard_number, created.replication_factor), (None, None));
    assert_eq!(created.on_disk_payload, Some(true));
    let sparse = created.sparse_vectors_config.unwrap().map["terms"].index.unwrap();
    assert_eq!(sparse.on_disk, Some(true));
    let Some(vectors_config::Config::ParamsMap(vectors)) = created.vectors_config.unwrap().config else {
        panic!("not named")
    };
    let dense = &vectors.map["dense"];
    assert_eq!(dense.on_disk, Some(true));
    let Some(Quantization::Scalar(bytes)) = dense.quantization_config.unwrap().quantization else {
        panic!("not quantised")
    };
    assert_eq!((bytes.r#type(), bytes.always_ram), (QuantizationType::Int8, Some(true)));
}

#[tokio::test]
async fn attributes_are_indexed_when_a_condition_first_uses_them() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
    let equals = |key: &str, value| {
        Condition::compare(AttributeKey::parse(key).unwrap(), Comparison::Eq, vec![value]).unwrap()
    };
    let year = equals("year", AttributeValue::Number(2018.0));
    let both = Condition::And(vec![year, equals("client", AttributeValue::string("Oriel").unwrap())]);
    let search = async || {
        let filter = ChunkFilter { condition: Some(&both), ..ChunkFilter::all(5) };
        assert_eq!(index.search(&query("pump"), filter).await.unwrap(), []);
    };
    // A search needs no index.
    server.state.lock().unwrap().calls.clear();
    server.state.lock().unwrap().outcomes.extend([Err(Status::unavailable("for now"))]);
    search().await;
    search().await;
    search().await;
    let state = server.state.lock().unwrap();
    let indexed = &state.collections[COLLECTION].indexed;
    assert_eq!(indexed[2..], ["attributes.\"client\"", "attributes.\"year\""]);
    let created = state.calls.iter().filter(|call| **call == "create_field_index").count();
    assert_eq!(created, 3, "{:?}", state.calls);
}

#[tokio::test]
async fn server_that_refuses_an_index_is_not_asked_again() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
    server.state.lock().unwrap().calls.clear();
    server.state.lock().unwrap().outcomes.extend([Err(Status::permission_denied("read only"))]);
    let key = AttributeKey::parse("year").unwrap();
    let year = Condition::compare(key, Comparison::Eq, vec![AttributeValue::Number(2018.0)]).unwrap();
    for _ in 0..2 {
        let filter = ChunkFilter { condition: Some(&year), ..ChunkFilter::all(5) };
        assert_eq!(index.search(&query("pump"), filter).await.unwrap(), []);
    }
    assert_eq!(server.state.lock().unwrap().calls, ["create_field_index", "query", "query"]);
}

#[tokio::test]
async fn search_reads_the_texts_of_the_best_chunks_only() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])]).await.unwrap();
    server.state.lock().unwrap().calls.clear();
    let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
    assert_eq!(index.search(&both, ChunkFilter::all(5)).await.unwrap().len(), 1);
    // The fake returns the requested fields only: the ranking needs no text.
    assert_eq!(server.state.lock().unwrap().calls, ["query", "get"]);
    server.state.lock().unwrap().calls.clear();
    assert_eq!(index.search(&query("valve"), ChunkFilter::all(5)).await.unwrap(), []);
    assert_eq!(server.state.lock().unwrap().calls, ["query"]);
}

#[tokio::test]
async fn chunks_are_written_in_batches_before_old_ones_are_deleted() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), pumps(150)).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 150);
    server.state.lock().unwrap().calls.clear();
    index.replace(&indexed(1), pumps(70)).await.unwrap();
    assert_eq!(server.state.lock().unwrap().calls, ["upsert", "upsert", "upsert", "count", "delete"]);
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 70);
}

// Invariant: Removing a document from a vector store takes one call, whatever its size.
#[tokio::test]
async fn document_is_removed_by_one_call() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), pumps(5_000)).await.unwrap();
    index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 5_000);
    server.state.lock().unwrap().calls.clear();
    index.remove(VersionId::first(document_id(1))).await.unwrap();
    assert_eq!(server.state.lock().unwrap().calls, ["delete"]);
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 0);
    assert_eq!(index.count(VersionId::first(document_id(2))).await.unwrap(), 1);
}

#[tokio::test]
async fn repetition_after_fault_completes_the_write() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), pumps(3)).await.unwrap();
    let valve = || vec![entry(1, 0, "valve")];
    // The new chunk is written, the old ones are not deleted.
    server.state.lock().unwrap().outcomes.extend([Ok(()), Ok(()), Err(Status::unavailable("for now"))]);
    assert!(index.replace(&indexed(1), valve()).await.unwrap_err().is_transient());
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 3);
    index.replace(&indexed(1), valve()).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 1);
}

#[tokio::test]
async fn deleted_collection_is_created_again() {
    let server = Fake::start();
    let index = index(&server);
    let dense = || vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])];
    index.replace(&indexed(1), dense()).await.unwrap();
    server.state.lock().unwrap().collections.clear();
    let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
    assert_eq!(index.search(&both, ChunkFilter::all(5)).await.unwrap(), []);
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 0);
    index.remove(VersionId::first(document_id(1))).await.unwrap();
    index.replace(&indexed(1), dense()).await.unwrap();
    server.state.lock().unwrap().collections.clear();
    index.replace(&indexed(1), dense()).await.unwrap();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 1);
    assert_eq!(server.state.lock().unwrap().collections[COLLECTION].indexed, ["document_id", "collections"]);
}

#[tokio::test]
async fn calls_have_valid_headers_of_hook() {
    let server = Fake::start();
    let traces = FakePropagator::adding([
        ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),
        ("no header", "x"),
        ("tracestate", "a\nb"),
    ]);
    let options = Options { traces: Some(Arc::new(traces)), ..Options::default() };
    let index = index_with(&server, None, options);
    index.replace(&indexed(1), pumps(1)).await.unwrap();
    let sent = server.state.lock().unwrap().traceparent.clone();
    assert_eq!(sent.as_deref(), Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"));
}

#[tokio::test]
async fn concurrent_creation_by_replicas_succeeds() {
    let server = Fake::start();
    let (one, other) = (index(&server), index(&server));
    let (first, second) = (indexed(1), indexed(2));
    let (one, other) = tokio::join!(
        one.replace(&first, vec![entry(1, 0, "pump")]),
        other.replace(&second, vec![entry(2, 0, "pump")]),
    );
    one.unwrap();
    other.unwrap();
    assert_eq!(index(&server).search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn dense_vectors_can_be_added_later() {
    let server = Fake::start();
    let (old, new) = (index(&server), index(&server));
    old.replace(&indexed(1), vec![entry(1, 0, "pump")]).await.unwrap();
    let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
    assert_eq!(new.search(&both, ChunkFilter::all(5)).await.unwrap().len(), 1, "by its terms alone");
    new.replace(&indexed(2), vec![hybrid_entry(2, 0, "valve", &[1.0, 0.0])]).await.unwrap();
    assert_eq!(new.search(&both, ChunkFilter::all(5)).await.unwrap().len(), 2);
    assert_eq!(old.search(&both, ChunkFilter::all(5)).await.unwrap().len(), 2, "another replica hears of it");
}

#[tokio::test]
async fn other_dimensions_are_rejected_with_remedy() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0, 0.0])]).await.unwrap();
    let fault = index.replace(&indexed(1), vec![hybrid_entry(1, 0, "pump", &[1.0])]).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Rejected);
    let told = fault.report();
    assert!(told.contains("2 dimensions") && told.contains("returns 1") && told.contains("delete"), "{told}");
}

#[tokio::test]
async fn foreign_collection_is_rejected() {
    let server = Fake::start();
    server.state.lock().unwrap().collections.insert(COLLECTION.to_owned(), Stored::default());
    let fault = index(&server).replace(&indexed(1), pumps(1)).await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Rejected);
    assert!(server.state.lock().unwrap().collections[COLLECTION].points.is_empty());
}

#[tokio::test]
async fn every_call_has_api_key() {
    let server = Fake::start();
    server.state.lock().unwrap().key = Some("secret");
    let fault = index(&server).check().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unconfigured);
    assert!(fault.public_message().contains("DOCENT_QDRANT_API_KEY"), "{}", fault.public_message());
    let keyed = index_with(&server, Some("secret"), Options::default());
    keyed.check().await.unwrap();
    keyed.replace(&indexed(1), pumps(1)).await.unwrap();
    assert_eq!(keyed.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn client_reconnects_after_server_outage() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), pumps(1)).await.unwrap();
    let address = server.url.trim_start_matches("http://").to_owned();
    let state = server.stop().await;
    for _ in 0..3 {
        let fault = index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap_err();
        assert_eq!(fault.kind(), FaultKind::Unavailable);
        assert_eq!(index.check().await.unwrap_err().kind(), FaultKind::Unavailable);
    }
    let _server = Fake::at(&address, state);
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn hanging_server_times_out() {
    let server = Fake::start();
    let short = Duration::from_millis(200);
    let options = Options { read_timeout: short, write_timeout: short, ..Options::default() };
    let index = index_with(&server, None, options);
    index.check().await.unwrap();
    server.state.lock().unwrap().silent = true;
    assert_eq!(
        index.search(&query("pump"), ChunkFilter::all(5)).await.unwrap_err().kind(),
        FaultKind::Timeout
    );
    assert_eq!(index.remove(VersionId::first(document_id(1))).await.unwrap_err().kind(), FaultKind::Timeout);
    assert_eq!(index.check().await.unwrap_err().kind(), FaultKind::Timeout);
    server.state.lock().unwrap().silent = false;
    index.check().await.unwrap();
}

#[tokio::test]
async fn busy_server_sets_retry_pause() {
    let server = Fake::start();
    let mut busy = Status::resource_exhausted("too many requests");
    busy.metadata_mut().insert("retry-after", "7".parse().unwrap());
    server.state.lock().unwrap().outcomes.push_back(Err(busy));
    let fault = index(&server).search(&query("pump"), ChunkFilter::all(5)).await.unwrap_err();
    assert_eq!((fault.kind(), fault.retry_after()), (FaultKind::RateLimited, Some(Duration::from_secs(7))));
}

/// Collections as the owner's, the way the service opens them.
async fn owned(server: &Fake, name: &str, owner: GenerationId) -> Arc<dyn VectorIndex> {
    collections(server, &server.url).open(name, owner).await.unwrap()
}

fn collections(server: &Fake, url: &str) -> QdrantCollections {
    let statistics = Arc::clone(&server.statistics) as _;
    QdrantCollections::new(QdrantIndex::new(url, None, Options::default(), statistics).unwrap())
}

// Invariant: A sweep deletes nothing from the store of another installation, and the collection of another
// one is not used.
#[tokio::test]
async fn collection_of_another_installation_is_neither_read_nor_changed() {
    let server = Fake::start();
    let own = owned(&server, COLLECTION, id(1)).await;
    own.replace(&indexed(1), pumps(3)).await.unwrap();
    let foreign = owned(&server, COLLECTION, id(2)).await;
    let faults = [
        foreign.replace(&indexed(1), pumps(1)).await.unwrap_err(),
        foreign.remove(VersionId::first(document_id(1))).await.unwrap_err(),
        foreign.search(&query("pump"), ChunkFilter::all(5)).await.unwrap_err(),
        foreign.check().await.unwrap_err(),
    ];
    for fault in faults {
        // Jobs wait for another setting.
        assert_eq!(fault.kind(), FaultKind::Unconfigured);
        let message = fault.public_message();
        assert!(
            message.contains("another installation") && message.contains("DOCENT_QDRANT_COLLECTION"),
            "{message}"
        );
    }
    assert_eq!(own.count(VersionId::first(document_id(1))).await.unwrap(), 3);
}

#[tokio::test]
async fn check_reports_a_collection_that_another_installation_created_later() {
    let server = Fake::start();
    let collections = collections(&server, &server.url);
    let own = collections.open(COLLECTION, id(1)).await.unwrap();
    collections.check().await.unwrap();
    owned(&server, COLLECTION, id(2)).await.replace(&indexed(1), pumps(1)).await.unwrap();
    let fault = own.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap_err();
    let checked = collections.check().await.unwrap_err();
    assert_eq!((checked.kind(), checked.report()), (FaultKind::Unconfigured, fault.report()));
    // It recovers when the other collection is gone.
    server.state.lock().unwrap().collections.clear();
    collections.check().await.unwrap();
    own.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
}

#[tokio::test]
async fn collection_of_an_earlier_version_gets_its_owner_at_the_first_write() {
    let server = Fake::start();
    index(&server).replace(&indexed(1), pumps(3)).await.unwrap();
    let own = owned(&server, COLLECTION, id(1)).await;
    assert_eq!(own.search(&query("pump"), ChunkFilter::all(5)).await.unwrap().len(), 3);
    own.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
    let foreign = owned(&server, COLLECTION, id(2)).await;
    assert_eq!(
        foreign.remove(VersionId::first(document_id(1))).await.unwrap_err().kind(),
        FaultKind::Unconfigured
    );
}

// Invariant: Acknowledged chunks that the vector store loses are written again.
#[tokio::test]
async fn acknowledged_chunks_survive_a_restart_that_forgets_half_a_request() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), pumps(100)).await.unwrap();
    server.state.lock().unwrap().restart();
    assert_eq!(index.count(VersionId::first(document_id(1))).await.unwrap(), 100);
}

#[tokio::test]
async fn new_document_is_written_without_a_deletion() {
    let server = Fake::start();
    let index = index(&server);
    index.replace(&indexed(1), pumps(1)).await.unwrap();
    server.state.lock().unwrap().calls.clear();
    index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
    assert_eq!(server.state.lock().unwrap().calls, ["upsert", "count"]);
}

#[tokio::test]
async fn rest_port_is_named() {
    let server = Fake::start();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    // Answers everything as Qdrant's REST port answers at its root.
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let body = r#"{"title":"qdrant - vector search engine","version":"1.19.0"}"#;
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
            let _ = write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        }
    });
    let fault = collections(&server, &url).check().await.unwrap_err();
    assert_eq!(fault.kind(), FaultKind::Unconfigured);
    assert!(fault.report().contains("DOCENT_QDRANT_URL"), "{}", fault.report());
    collections(&server, &server.url).check().await.unwrap();
}

#[tokio::test]
async fn hybrid_search_ranks_all_candidates_of_both_searches() {
    let server = Fake::start();
    let index = index(&server);
    // By its terms alone the server ranks the short chunk after 140 others, and 200 are similar to the query.
    let long = format!("pump pump{}", " other".repeat(30));
    let entries = (0..341).map(|n| match n {
        0..140 => hybrid_entry(1, n, &long, &[0.0, 1.0]),
        140 => hybrid_entry(1, n, "pump", &[0.0, 1.0]),
        _ => hybrid_entry(1, n, "valve", &[0.1, 0.995]),
    });
    index.replace(&indexed(1), entries.collect()).await.unwrap();
    let both = QueryEmbedding { dense: Some(vec![1.0, 0.0]), ..query("pump") };
    let found = index.search(&both, ChunkFilter::all(200)).await.unwrap();
    assert!(found.iter().any(|chunk| chunk.text == "pump"));
}
