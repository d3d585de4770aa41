//! Restarts of the server during writes, and a full disk.

use super::*;
use docent_domain::fault::Result;
use server::{PlannedRestart, Restart};
use std::collections::BTreeMap;

/// Another installation's collection on the server. It has chunks of the same documents.
const FOREIGN: &str = "other_chunks";

type Points = BTreeMap<String, ::qdrant_client::qdrant::PointStruct>;

/// Starts a server with two documents, and the same ones in a collection of another installation.
async fn filled() -> (Fake, Arc<dyn VectorIndex>) {
    let server = Fake::start();
    let (own, foreign) = (owned(&server, COLLECTION, id(1)).await, owned(&server, FOREIGN, id(2)).await);
    for index in [&own, &foreign] {
        index.replace(&indexed(1), pumps(70)).await.unwrap();
        index.replace(&indexed(2), vec![entry(2, 0, "pump")]).await.unwrap();
    }
    (server, own)
}

fn valves(n: u32) -> Vec<IndexEntry> {
    (0..n).map(|at| entry(1, at, "valve")).collect()
}

fn points(server: &Fake, collection: &str) -> Points {
    server.state.lock().unwrap().collections[collection].points.clone()
}

/// Restarts the server during each call of a write, at each moment of the call. The write fails, and its
/// repetition completes it. Returns how often the server was restarted.
async fn interrupt(write: impl AsyncFn(&dyn VectorIndex) -> Result<()>, expected: &[(u32, u64)]) -> usize {
    let mut restarts = 0;
    for moment in [Restart::Before, Restart::During, Restart::After] {
        for calls in 0.. {
            let (server, index) = filled().await;
            let foreign = points(&server, FOREIGN);
            server.state.lock().unwrap().restart = Some(PlannedRestart { calls, moment });
            let written = write(&*index).await;
            if server.state.lock().unwrap().restart.is_some() {
                written.unwrap();
                break;
            }
            let fault = written.unwrap_err();
            assert_eq!(fault.kind(), FaultKind::Unavailable, "{}", fault.report());
            assert_eq!(index.count(VersionId::first(document_id(2))).await.unwrap(), 1);
            write(&*index).await.unwrap();
            for (document, chunks) in expected {
                let count = index.count(VersionId::first(document_id(*document))).await.unwrap();
                assert_eq!(count, *chunks, "document {document}, {moment:?} call {calls}");
            }
            assert_eq!(points(&server, FOREIGN), foreign);
            restarts += 1;
        }
    }
    restarts
}

#[tokio::test]
async fn replacement_interrupted_by_a_restart_is_completed_by_its_repetition() {
    let replace = async |index: &dyn VectorIndex| {
        index.replace(&indexed(1), valves(40)).await?;
        let found = index.search(&query("valve"), ChunkFilter::all(100)).await?;
        assert_eq!(found.len(), 40);
        assert_eq!(index.frequencies(&["valve".to_owned(), "pump".to_owned()]).await?, [40, 1]);
        Ok(())
    };
    // Two upserts, a count and a deletion, and the searches that follow.
    assert!(interrupt(replace, &[(1, 40), (2, 1)]).await >= 3 * 4);
}

#[tokio::test]
async fn deletion_interrupted_by_a_restart_is_completed_by_its_repetition() {
    let remove = async |index: &dyn VectorIndex| index.remove(VersionId::first(document_id(1))).await;
    assert_eq!(interrupt(remove, &[(1, 0), (2, 1)]).await, 3);
}

#[tokio::test]
async fn full_disk_refuses_writes_and_searches_still_work() {
    let (server, index) = filled().await;
    let (own, foreign) = (points(&server, COLLECTION), points(&server, FOREIGN));
    server.state.lock().unwrap().is_full = true;
    let first = VersionId::first(document_id(1));
    let added = vec![entry(3, 0, "pump")];
    let fresh = owned(&server, "fresh_chunks", id(3)).await;
    let faults = [
        index.replace(&indexed(3), added.clone()).await.unwrap_err(),
        index.replace(&indexed(1), valves(40)).await.unwrap_err(),
        index.relabel(&indexed(1)).await.unwrap_err(),
        index.remove(first).await.unwrap_err(),
        fresh.replace(&indexed(3), added.clone()).await.unwrap_err(),
    ];
    for fault in faults {
        assert_eq!(fault.kind(), FaultKind::Full, "{}", fault.report());
        assert_eq!(fault.public_message(), "the vector store has no room left");
    }
    assert_eq!(index.search(&query("pump"), ChunkFilter::all(100)).await.unwrap().len(), 71);
    // The index of an attribute cannot be created, which a search does not need.
    let key = AttributeKey::parse("year").unwrap();
    let year = Condition::compare(key, Comparison::Eq, vec![AttributeValue::Number(2018.0)]).unwrap();
    let filter = ChunkFilter { condition: Some(&year), ..ChunkFilter::all(5) };
    assert_eq!(index.search(&query("pump"), filter).await.unwrap(), []);
    index.check().await.unwrap();
    assert_eq!((points(&server, COLLECTION), points(&server, FOREIGN)), (own, foreign.clone()));

    server.state.lock().unwrap().is_full = false;
    index.replace(&indexed(3), added.clone()).await.unwrap();
    index.replace(&indexed(1), valves(40)).await.unwrap();
    index.relabel(&indexed(1)).await.unwrap();
    assert_eq!(index.count(first).await.unwrap(), 40);
    index.remove(first).await.unwrap();
    fresh.replace(&indexed(3), added).await.unwrap();
    assert_eq!(points(&server, COLLECTION).len(), 2);
    assert_eq!(points(&server, FOREIGN), foreign);
}
