//! A failed component affects only what needs it, until it is back. See docs/operations/faults.md.
#![allow(clippy::print_stdout, reason = "prints recovery times")]

use super::installation::{Installation, Replica, terminate};
use crate::client::{fixture, parse_answer};
use crate::program::in_time;
use docent_testkit::wire::FakeLlm;
use reqwest::Method;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Sends requests of every kind in a loop and counts the response statuses.
struct Load {
    stop: Arc<AtomicBool>,
    statuses: Arc<Mutex<BTreeMap<(&'static str, u16), u32>>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn start(replica: &Arc<Replica>, document: &str) -> Self {
        let (stop, statuses) = (Arc::default(), Arc::default());
        let mut load = Self { stop, statuses, tasks: Vec::new() };
        for kind in ["get", "get", "chat", "chat", "log in", "upload"] {
            let (replica, path) = (Arc::clone(replica), format!("/documents/{document}"));
            let (stop, statuses) = (Arc::clone(&load.stop), Arc::clone(&load.statuses));
            load.tasks.push(tokio::spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    let request = match kind {
                        "get" => replica.request(Method::GET, &path),
                        "chat" => replica.chat("How long is the warranty?"),
                        "log in" => replica.log_in(),
                        _ => replica.upload(&fixture("letter.pdf")),
                    };
                    let status = replica.status(request).await;
                    *statuses.lock().unwrap().entry((kind, status)).or_insert(0) += 1;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }));
        }
        load
    }

    /// Stops the load; asserts that all responses had an allowed status.
    async fn stop(self, allowed: &[u16]) {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            task.await.unwrap();
        }
        let statuses = self.statuses.lock().unwrap();
        println!("answers under load: {statuses:?}");
        let others: Vec<_> = statuses.keys().filter(|(_, status)| !allowed.contains(status)).collect();
        assert!(others.is_empty(), "{statuses:?}");
    }
}

/// Waits until a condition holds, and prints how long that took.
async fn until(what: &str, condition: impl AsyncFn() -> bool) {
    let began = Instant::now();
    in_time(async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    println!("{what}: after {:.1} s", began.elapsed().as_secs_f32());
}

fn check<'a>(body: &'a Value, component: &str) -> &'a str {
    body["checks"][component].as_str().unwrap_or_default()
}

async fn is_healthy(replica: &Replica) -> bool {
    let (status, body) = replica.health().await;
    status == 200 && body["status"] == "ok"
}

/// Asks the chat agent; returns the status and the text of the answer.
async fn ask(replica: &Replica) -> (u16, String) {
    let (status, stream) = replica.send(replica.chat("How long is the warranty?")).await;
    let answer = if status == 200 { parse_answer(&stream).0 } else { stream };
    (status, answer)
}

async fn expect(replica: &Replica, request: reqwest::RequestBuilder, status: u16) {
    let (answered, text) = replica.send(request).await;
    assert_eq!(answered, status, "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_component_may_fail_and_recover_under_load() {
    let mut installation = Installation::start().await;
    // The database and the key-value store start after the service.
    installation.postgres.stop();
    installation.redis.kill();
    let mut replica = installation.serve("a", &[]).await;
    let mut worker = installation.worker("worker");
    let (status, body) = replica.health().await;
    assert_eq!((status, &body["status"]), (503, &"unavailable".into()), "{body}");
    installation.postgres.restart();
    installation.redis.restart();
    until("start without database and key-value store", async || is_healthy(&replica).await).await;

    let refresh_token = replica.authenticate().await;
    let (status, text) = replica.send(replica.upload(&fixture("handbook.pdf"))).await;
    assert_eq!(status, 202, "{text}");
    let document = serde_json::from_str::<Value>(&text).unwrap()["id"].as_str().unwrap().to_owned();
    until("the first ingestion", async || replica.documents().await[&document] == "ingested").await;
    let (status, answer) = ask(&replica).await;
    assert!(status == 200 && answer.contains("According to the documents"), "{answer}");
    let replica = Arc::new(replica);
    let path = format!("/documents/{document}");
    let get = || replica.request(Method::GET, &path);

    let load = Load::start(&replica, &document);
    installation.postgres.stop();
    until("the database is reported unavailable", async || replica.health().await.0 == 503).await;
    expect(&replica, replica.request(Method::GET, "/health/live"), 200).await;
    expect(&replica, get(), 503).await;
    expect(&replica, replica.log_in(), 503).await;
    expect(&replica, replica.upload(&fixture("handbook.pdf")), 503).await;
    expect(&replica, replica.chat("How long is the warranty?"), 503).await;
    installation.postgres.restart();
    until("the database is back", async || is_healthy(&replica).await && ask(&replica).await.0 == 200).await;

    installation.redis.kill();
    until("the key-value store is reported unavailable", async || {
        check(&replica.health().await.1, "key_value_store") != "ok"
    })
    .await;
    assert_eq!(replica.health().await.1["status"], "degraded");
    expect(&replica, replica.log_in(), 503).await;
    expect(&replica, replica.tokens("/auth/refresh", &refresh_token), 503).await;
    expect(&replica, replica.tokens("/auth/logout", &refresh_token), 503).await;
    expect(&replica, get(), 200).await;
    assert_eq!(ask(&replica).await.0, 200);
    installation.redis.restart();
    until("the key-value store is back", async || {
        is_healthy(&replica).await && replica.status(replica.log_in()).await == 200
    })
    .await;
    expect(&replica, replica.tokens("/auth/refresh", &refresh_token), 200).await;

    let start_qdrant = installation.stop_qdrant().await;
    until("the vector store is reported unavailable", async || {
        check(&replica.health().await.1, "vector_store") != "ok"
    })
    .await;
    assert_eq!(replica.health().await.1["status"], "degraded");
    expect(&replica, replica.log_in(), 200).await;
    expect(&replica, get(), 200).await;
    let (status, answer) = ask(&replica).await;
    assert!(status == 200 && answer.contains("Error searching"), "{answer}");
    start_qdrant(&mut installation);
    let finds = async || !ask(&replica).await.1.contains("Error searching");
    until("the vector store is back", async || is_healthy(&replica).await && finds().await).await;

    let address = installation.llm.take().unwrap().stop().await;
    until("the chat model is reported unavailable", async || ask(&replica).await.0 == 502).await;
    expect(&replica, get(), 200).await;
    assert!(is_healthy(&replica).await, "model back ends are not part of the health check");
    installation.llm = Some(FakeLlm::start_on(&address.to_string()).await);
    until("the chat model is back", async || ask(&replica).await.0 == 200).await;

    let address = installation.embeddings.take().unwrap().stop().await;
    let (status, answer) = ask(&replica).await;
    assert!(status == 200 && answer.contains("Error searching"), "{answer}");
    installation.embeddings = Some(FakeLlm::start_on(&address.to_string()).await);
    until("the embedding back end is back", async || !ask(&replica).await.1.contains("Error searching"))
        .await;

    load.stop(&[200, 202, 502, 503]).await;
    until("every upload has ended", async || {
        replica.documents().await.values().all(|state| state != "pending")
    })
    .await;
    let documents = replica.documents().await;
    let chunks = installation.chunks();
    for (id, state) in &documents {
        assert_eq!(chunks.contains_key(id), state == "ingested", "{id} is {state}");
    }
    let Some(replica) = Arc::into_inner(replica) else { panic!("the replica is still in use") };
    assert!(replica.terminate().await.success());
    assert!(terminate(&mut worker).await.success());
}
