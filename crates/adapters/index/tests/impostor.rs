//! Tests of the Qdrant client against impostor servers: each call ends with a transient fault.
// Tests fail by panicking.
#![allow(clippy::unwrap_used)]

use docent_domain::fault::Component;
use docent_index::qdrant::{self, QdrantIndex};
use docent_ports::vector_index::VectorIndex;
use docent_testkit::fakes::store::FakeStore;
use docent_testkit::servers::check_impostor_faults;
use std::sync::Arc;
use std::time::Duration;

/// Timeout of the clients.
const LIMIT: Duration = Duration::from_millis(500);

#[tokio::test]
async fn qdrant_impostor_causes_transient_faults() {
    let options =
        qdrant::Options { connect_timeout: LIMIT, read_timeout: LIMIT, ..qdrant::Options::default() };
    check_impostor_faults(Component::VectorStore, async |address| {
        let index = QdrantIndex::new(
            &format!("http://{address}"),
            None,
            options.clone(),
            Arc::new(FakeStore::default()),
        )
        .unwrap();
        index.check().await.err()
    })
    .await;
}
