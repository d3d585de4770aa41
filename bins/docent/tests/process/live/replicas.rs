//! Several replicas and workers behave like one process.

use super::installation::{Installation, terminate};
use crate::client::fixture;
use crate::program::in_time;
use futures::future::join_all;
use reqwest::Method;
use std::collections::BTreeSet;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rate_limit_is_shared_by_replicas() {
    let installation = Installation::start().await;
    let limit = [("DOCENT_RATE_LIMIT_REQUESTS", "100"), ("DOCENT_RATE_LIMIT_PERIOD", "10m")];
    let replicas = [installation.serve("a", &limit).await, installation.serve("b", &limit).await];
    let asked = (0..500).map(|n| {
        let replica = &replicas[n % 2];
        replica.status(replica.request(Method::GET, "/status"))
    });
    let statuses = join_all(asked).await;
    let count = |status| statuses.iter().filter(|each| **each == status).count();
    assert_eq!((count(200), count(429)), (100, 400), "{statuses:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn uploads_are_ingested_once_despite_killed_worker() {
    const UPLOADS: usize = 60;
    let installation = Installation::start().await;
    let mut replicas =
        [installation.serve_without_jobs("a").await, installation.serve_without_jobs("b").await];
    for replica in &mut replicas {
        replica.authenticate().await;
    }
    let mut steady = installation.worker("steady");
    let mut killed = installation.worker("killed");
    let file = fixture("handbook.pdf");
    for n in 0..UPLOADS {
        let replica = &replicas[n % 2];
        assert_eq!(replica.status(replica.upload(&file)).await, 202);
        if n == UPLOADS / 2 {
            killed.kill().await.unwrap();
        }
        if n == UPLOADS * 3 / 4 {
            killed = installation.worker("killed");
        }
    }
    let documents = in_time(async {
        loop {
            let documents = replicas[0].documents().await;
            if documents.values().all(|state| state != "pending") {
                return documents;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    assert_eq!(documents.len(), UPLOADS);
    assert!(documents.values().all(|state| state == "ingested"), "{documents:?}");
    let chunks = installation.chunks();
    assert!(chunks.keys().eq(documents.keys()), "exactly the uploaded documents have chunks");
    assert_eq!(chunks.values().collect::<BTreeSet<_>>().len(), 1, "copies have the same chunks: {chunks:?}");
    assert_eq!(replicas[1].documents().await, documents, "both replicas list the same");
    for worker in [&mut steady, &mut killed] {
        assert!(terminate(worker).await.success());
    }
    for replica in replicas {
        assert!(replica.terminate().await.success());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worker_serves_only_health_and_metrics() {
    let installation = Installation::start().await;
    let worker = installation.worker_with_health("worker").await;
    let (status, body) = worker.health().await;
    assert_eq!((status, &body["status"]), (200, &"ok".into()), "{body}");
    for path in ["/", "/documents", "/admin/login"] {
        assert_eq!(worker.status(worker.request(Method::GET, path)).await, 404, "{path}");
    }
    assert!(worker.terminate().await.success());
}
