//! Jobs wait while a component is unavailable, and one process owns the embedded index of a shared database.

use super::seconds;
use super::service::Service;
use docent_app::background::index_owner::IndexOwner;
use docent_domain::document::DocumentState;
use docent_domain::fault::FaultKind;
use docent_domain::id::VersionId;
use docent_domain::job::JobState;
use docent_domain::retrieval::IndexedVersion;
use docent_ports::vector_index::VectorIndex;
use docent_testkit::builders;
use docent_testkit::retrieval::{entry, indexed};
use std::sync::Arc;

#[tokio::test]
async fn job_waits_for_an_unavailable_component_without_using_attempts_for_a_day() {
    for kind in [FaultKind::Unavailable, FaultKind::Timeout, FaultKind::RateLimited, FaultKind::Full] {
        let service = Service::new();
        let id = service.upload("some words").await;
        let since = service.app.now();
        service.embedder_switch.fail_all(kind);
        for _ in 0..10 {
            assert_eq!(service.drain().await, 1);
            let job = service.job(id).await;
            assert_eq!((job.state, job.attempts), (JobState::Queued, 0));
            assert_eq!(job.last_error.as_deref(), Some("embedding back end: a scripted fault"));
            let wait = job.wait.unwrap();
            assert_eq!(wait.since, since);
            assert!(wait.reason.starts_with("the embedding back end "), "{}", wait.reason);
            assert_eq!(service.drain().await, 0, "not before it is due");
            service.clock.advance((job.run_at - service.app.now()).to_std().unwrap());
        }
        service.clock.advance(seconds(24 * 60 * 60));
        for attempts in 1..3 {
            assert_eq!(service.drain().await, 1);
            assert_eq!(service.job(id).await.attempts, attempts);
            service.clock.advance(seconds(5));
        }
        assert_eq!(service.drain().await, 1);
        let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
        assert_eq!(failed.failure.code.as_str(), "embedding_failed");
    }
}

// Invariant: An outage of a store or a back end fails no document.
#[tokio::test]
async fn documents_survive_an_outage_of_each_store() {
    for store in 0..4 {
        let service = Service::new();
        let switch = match store {
            0 => &service.index_switch,
            1 => &service.embedder_switch,
            2 => &service.blobs_switch,
            _ => &service.store_switches.all,
        };
        let id = service.upload("some words").await;
        switch.fail_all(FaultKind::Unavailable);
        for _ in 0..25 {
            let _ = service.runner().run_next().await;
            service.clock.advance(seconds(1));
        }
        switch.clear();
        // A lease that could not be returned runs out.
        service.clock.advance(seconds(60));
        service.drain().await;
        assert_eq!(service.document(id).await.state.name(), "ingested", "{store}");
        let job = service.job(id).await;
        assert_eq!((job.attempts, job.wait), (0, None), "{store}");
    }
}

// Invariant: An outage of a store or a back end fails no document.
#[tokio::test]
async fn document_fails_only_when_its_chunks_are_removed() {
    let service = Service::new();
    let id = service.upload("some words").await;
    // Some chunks are written, then the document fails for another reason while the vector store is unavailable.
    service
        .index
        .replace(&IndexedVersion { id: VersionId::first(id), ..indexed(1) }, vec![entry(1, 0, "some")])
        .await
        .unwrap();
    service.embedder_switch.fail_all(FaultKind::Rejected);
    service.index_switch.fail_all(FaultKind::Unavailable);
    assert_eq!(service.drain().await, 1);
    assert_eq!(service.document(id).await.state.name(), "pending");
    assert!(service.job(id).await.wait.is_some());
    service.index_switch.clear();
    service.clock.advance(seconds(60));
    assert_eq!(service.drain().await, 1);
    assert_eq!(service.document(id).await.state.name(), "failed");
    assert!(service.index.entries(VersionId::first(id)).is_empty());
}

#[tokio::test]
async fn database_has_one_owner_of_an_embedded_index_at_a_time() {
    let service = Service::new();
    let owner = |n| IndexOwner::new(Arc::clone(&service.app), builders::id(n));
    assert!(owner(1).acquire().await.unwrap());
    assert!(!owner(2).acquire().await.unwrap(), "another data directory");
    assert!(owner(1).acquire().await.unwrap(), "the same one after a crash");
    service.clock.advance(seconds(31));
    assert!(owner(2).acquire().await.unwrap(), "the first one is gone");
    assert!(!owner(1).acquire().await.unwrap());
    owner(2).release().await;
    assert!(owner(1).acquire().await.unwrap(), "it stopped");
}

#[tokio::test]
async fn owner_learns_that_another_one_took_the_index() {
    let service = Service::new();
    let owner = |n| IndexOwner::new(Arc::clone(&service.app), builders::id(n));
    assert!(owner(1).acquire().await.unwrap());
    let held = tokio::spawn({
        let owner = owner(1);
        async move { owner.hold().await }
    });
    service.store_switches.all.fail_all(FaultKind::Unavailable);
    service.clock.advance(seconds(31));
    service.store_switches.all.clear();
    assert!(owner(2).acquire().await.unwrap());
    while !held.is_finished() {
        service.clock.advance(seconds(31));
        tokio::task::yield_now().await;
    }
}

// Invariant: A sweep deletes nothing from the store of another installation, and the collection of another
// one is not used.
#[tokio::test]
async fn vector_collection_of_another_installation_is_refused() {
    let service = Service::new();
    let foreign = service.collections.get(&service.app.settings().collection);
    foreign.replace(&indexed(7), vec![entry(7, 0, "pump")]).await.unwrap();
    service.ports.collections.open(&service.app.settings().collection, builders::id(9)).await.unwrap();
    let fault = service.app.active_index().await.err().unwrap();
    assert_eq!(fault.kind(), FaultKind::Unconfigured);
    assert!(fault.report().contains("DOCENT_QDRANT_COLLECTION"), "{}", fault.report());
    assert_eq!(foreign.entries(indexed(7).id).len(), 1);
}
