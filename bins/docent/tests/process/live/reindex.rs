//! Reindex with another embedding model while the service runs.

use super::installation::Installation;
use crate::client::{fixture, parse_answer};
use crate::maintenance::QUESTION;
use crate::program::{in_time, run};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const DOCUMENTS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_succeed_during_reindex_with_new_model() {
    let installation = Installation::start().await;
    let mut replica = installation.serve("api", &[]).await;
    replica.authenticate().await;
    for _ in 0..DOCUMENTS {
        assert_eq!(replica.status(replica.upload(&fixture("handbook.pdf"))).await, 202);
    }
    in_time(async {
        while replica.documents().await.values().any(|state| state == "pending") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let ask = async || {
        let body = json!({ "messages": [{ "role": "user", "content": QUESTION }], "include_sources": true });
        let (status, text) = replica.send(replica.request(Method::POST, "/agents/chat").json(&body)).await;
        assert!(status == 200 && !text.contains("event: error"), "{status} {text}");
        let (_, sources) = parse_answer(&text);
        assert!(!sources.is_empty(), "{text}");
    };
    ask().await;
    let mut reindex = installation.docent("reindex");
    reindex.args(["reindex", "--json", "--embedding-model", "another"]);
    let reindexing = async { run(&mut reindex).await };
    tokio::pin!(reindexing);
    let mut asked = 0;
    let (status, printed, error) = loop {
        tokio::select! {
            result = &mut reindexing => break result,
            () = ask() => asked += 1,
        }
    };
    assert!(status.success(), "{printed}{error}");
    assert!(asked > 0 && printed.contains(r#""model":"another""#), "{asked} {printed}");
    for _ in 0..5 {
        ask().await;
    }
    {
        let state = installation.qdrant.as_ref().unwrap().state.lock().unwrap();
        let mut sizes: Vec<usize> = state.collections.values().map(|stored| stored.points.len()).collect();
        sizes.dedup();
        assert_eq!(
            (state.collections.len(), sizes.len()),
            (2, 1),
            "both collections have the same chunks for a while"
        );
    }
    // New documents are embedded with the model of the index, not the one in the settings.
    assert_eq!(replica.status(replica.upload(&fixture("handbook.pdf"))).await, 202);
    in_time(async {
        while replica.documents().await.values().any(|state| state == "pending") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    assert!(replica.documents().await.values().all(|state| state == "ingested"));
    assert!(replica.terminate().await.success());
    let again = installation.serve("again", &[]).await;
    assert!(installation.logged("again").contains("docent reindex"), "the settings name another model");
    assert!(again.terminate().await.success());
}
