//! A change of the embedding model while an installation serves.

use super::installation::Installation;
use crate::{
    client::{fixture, heard},
    program::{in_time, run},
    upkeep::QUESTION,
};
use reqwest::Method;
use serde_json::json;
use std::time::Duration;

const DOCUMENTS: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_never_fail_while_the_model_is_changed() {
    let installation = Installation::start().await;
    let mut replica = installation.serve("api", &[]).await;
    replica.enter().await;
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
        let (_, sources) = heard(&text);
        assert!(!sources.is_empty(), "{text}");
    };
    ask().await;
    let mut reindex = installation.docent("reindex");
    reindex.args(["reindex", "--json", "--embedding-model", "another"]);
    let done = async { run(&mut reindex).await };
    tokio::pin!(done);
    let mut asked = 0;
    let (status, printed, error) = loop {
        tokio::select! {
            ended = &mut done => break ended,
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
        assert_eq!((state.collections.len(), sizes.len()), (2, 1), "both hold the same chunks for a while");
    }
    // What comes now is embedded with the model of the index, whatever the settings say.
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
