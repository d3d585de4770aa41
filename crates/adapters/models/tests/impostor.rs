//! Tests of the client of a reranker against impostor servers: each call ends with a transient fault.
// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

use docent_domain::fault::Component;
use docent_models::openai::backend::BackendSettings;
use docent_models::openai::rerank::HttpReranker;
use docent_ports::reranker::Reranker;
use docent_testkit::clock::TestClock;
use docent_testkit::servers::check_impostor_faults;
use std::sync::Arc;
use std::time::Duration;

/// Timeout of the clients.
const LIMIT: Duration = Duration::from_millis(500);

#[tokio::test]
async fn reranker_impostor_causes_transient_faults() {
    check_impostor_faults(Component::Reranker, async |address| {
        let settings = BackendSettings {
            base_url: format!("http://{address}"),
            api_key: None,
            model: "m".to_owned(),
            timeout: LIMIT,
            traces: None,
        };
        let reranker = HttpReranker::new(&settings, Arc::new(TestClock::default())).unwrap();
        reranker.rerank("q", &["p"]).await.err()
    })
    .await;
}
