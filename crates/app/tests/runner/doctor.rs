//! The doctor: findings and repairs.

use crate::service::{Findings, Service, lease_by_another};
use bytes::Bytes;
use docent_app::maintenance::diagnostics::{Finding, Repair, SkippedCheck, check, repair};
use docent_app::maintenance::progress::NoProgress;
use docent_domain::document::{BlobKey, DocumentState};
use docent_domain::fault::{Component, FaultKind};
use docent_domain::id::{DocumentId, VersionId};
use docent_domain::job::{Job, JobState};
use docent_ports::reranker::Reranker;
use docent_testkit::builders;
use docent_testkit::fakes::reranker::FakeReranker;
use docent_testkit::faults::{FaultSwitch, Faulty};
use docent_testkit::retrieval::{entry, indexed};
use std::sync::Arc;
use std::time::Duration;

impl Service {
    async fn examined(&self) -> (Vec<Finding>, Vec<SkippedCheck>) {
        let mut findings = Findings::default();
        let left_out = check(&self.app, &NoProgress, &mut findings).await;
        (findings.0, left_out)
    }

    pub(crate) async fn codes(&self) -> Vec<(&'static str, String)> {
        let (found, left_out) = self.examined().await;
        assert!(left_out.is_empty(), "{left_out:?}");
        found.iter().map(|finding| (finding.code(), finding.id())).collect()
    }

    /// Repairs all findings and returns the results.
    async fn mend_all(&self) -> Vec<Repair> {
        let mut done = Vec::new();
        for finding in self.examined().await.0 {
            done.push(repair(&self.app, &finding).await.unwrap());
        }
        done
    }

    async fn put(&self, key: &BlobKey) {
        let mut writer = self.blobs_port().create(key).await.unwrap();
        writer.write(Bytes::from_static(b"bytes")).await.unwrap();
        writer.finish().await.unwrap();
    }

    fn blobs_port(&self) -> &dyn docent_ports::blob_store::BlobStore {
        &*self.ports.blobs
    }

    /// Ends a document's job without an outcome, as if it had been lost.
    async fn lose_job(&self, document: DocumentId) {
        let (job, lease) = lease_by_another(self).await;
        assert_eq!(job.document, document);
        let mut work = self.ports.store.begin().await.unwrap();
        assert!(work.jobs().settle(&Job { state: JobState::Done, ..job }, lease).await.unwrap());
        work.commit().await.unwrap();
    }
}

/// Creates a consistent service with an ingested and a pending document.
async fn consistent_service() -> (Service, DocumentId) {
    let service = Service::new();
    let ingested = service.upload("some words").await;
    service.drain().await;
    service.upload("waiting words").await;
    (service, ingested)
}

#[tokio::test]
async fn consistent_service_has_no_findings() {
    let (service, _) = consistent_service().await;
    assert_eq!(service.codes().await, []);
}

#[tokio::test]
async fn failing_reranker_is_found_by_a_call() {
    let switch = FaultSwitch::new(Component::Reranker);
    let fake: Arc<dyn Reranker> = Arc::new(FakeReranker);
    let service = Service::reranking(Arc::new(Faulty::new(fake, &switch)));
    assert_eq!(service.codes().await, []);
    // The health check comes first and succeeds.
    switch.fail_after(1, 1, FaultKind::Rejected);
    assert_eq!(service.codes().await, [("part_down", "reranking_back_end".to_owned())]);
}

#[tokio::test]
async fn pending_document_without_a_job_is_queued() {
    let service = Service::new();
    let id = service.upload("some words").await;
    service.lose_job(id).await;
    assert_eq!(service.codes().await, [("not_queued", id.to_string())]);
    assert_eq!(service.mend_all().await, [Repair::Done("the job is queued")]);
    assert_eq!(service.codes().await, []);
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(repair(&service.app, &Finding::NotQueued(id)).await.unwrap(), Repair::Resolved);
}

#[tokio::test]
async fn deletion_without_a_job_is_queued() {
    let (service, id) = consistent_service().await;
    service.drain().await;
    let mut work = service.ports.store.begin().await.unwrap();
    work.documents().mark_deleted(id, service.app.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(service.codes().await, [("not_removed", id.to_string())]);
    service.mend_all().await;
    assert_eq!(service.codes().await, []);
    service.drain().await;
    assert!(service.index.entries(VersionId::first(id)).is_empty());
    assert_eq!(repair(&service.app, &Finding::NotRemoved(id)).await.unwrap(), Repair::Resolved);
}

#[tokio::test]
async fn expired_lease_is_reported_once_it_is_overdue() {
    let service = Service::new();
    service.upload("some words").await;
    let (job, _) = lease_by_another(&service).await;
    service.clock.advance(Duration::from_secs(300));
    assert_eq!(service.codes().await, []);
    service.clock.advance(Duration::from_secs(400));
    assert_eq!(service.codes().await, [("lease_over", job.id.to_string())]);
    assert_eq!(service.mend_all().await, [Repair::NotSupported]);
}

#[tokio::test]
async fn document_without_its_chunks_is_ingested_again() {
    let (service, id) = consistent_service().await;
    service.drain().await;
    docent_ports::vector_index::VectorIndex::remove(&*service.index, VersionId::first(id)).await.unwrap();
    assert_eq!(service.codes().await, [("wrong_chunks", id.to_string())]);
    assert_eq!(service.mend_all().await, [Repair::Done("the document is queued for ingestion")]);
    assert_eq!(service.codes().await, []);
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
    let stale = Finding::WrongChunks { document: id, recorded: 1, actual: 0 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
}

#[tokio::test]
async fn document_without_chunks_and_file_becomes_failed() {
    let (service, id) = consistent_service().await;
    service.drain().await;
    docent_ports::vector_index::VectorIndex::remove(&*service.index, VersionId::first(id)).await.unwrap();
    service.blobs_port().delete(&BlobKey::of_version(VersionId::first(id))).await.unwrap();
    let id_text = id.to_string();
    assert_eq!(service.codes().await, [("wrong_chunks", id_text.clone()), ("file_missing", id_text)]);
    service.mend_all().await;
    assert!(matches!(service.document(id).await.state, DocumentState::Failed(_)));
    assert_eq!(service.codes().await, []);
}

#[tokio::test]
async fn orphan_chunks_are_removed_and_others_stay() {
    let (service, id) = consistent_service().await;
    let failing = builders::document(9);
    let failure = docent_domain::document::Failure::of(docent_domain::document::FailureCode::FileMissing);
    let failed = failing.clone().failed(failure, None, service.app.now()).unwrap();
    let mut work = service.ports.store.begin().await.unwrap();
    work.documents().insert(&failed).await.unwrap();
    work.commit().await.unwrap();
    for (document, chunk) in [(indexed(7), entry(7, 0, "pump")), (indexed(8), entry(8, 0, "pump"))] {
        let document_id =
            if document.id == indexed(7).id { VersionId::first(failing.id) } else { document.id };
        let document = docent_domain::retrieval::IndexedVersion { id: document_id, ..document };
        docent_ports::vector_index::VectorIndex::replace(&*service.index, &document, vec![chunk])
            .await
            .unwrap();
    }
    let mut codes = service.codes().await;
    codes.sort();
    let mut expected =
        [VersionId::first(failing.id), indexed(8).id].map(|id| ("orphan_chunks", id.to_string()));
    expected.sort();
    assert_eq!(codes, expected);
    assert_eq!(service.mend_all().await, [Repair::Done("the chunks are deleted"); 2]);
    assert_eq!(service.codes().await, []);
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
}

// Invariant: Checks and repairs during operation do not touch work in progress.
#[tokio::test]
async fn orphan_file_is_removed_once_no_upload_can_be_in_progress() {
    let (service, id) = consistent_service().await;
    let orphan = BlobKey::of_version(builders::id(77));
    service.blobs.set_time(service.app.now());
    service.put(&orphan).await;
    assert_eq!(service.codes().await, [], "an upload may be in progress");
    service.clock.advance(Duration::from_secs(3601));
    assert_eq!(service.codes().await, [("orphan_file", orphan.as_str().to_owned())]);
    assert_eq!(service.mend_all().await, [Repair::Done("the file is deleted")]);
    assert_eq!(service.codes().await, []);
    assert!(service.blobs.keys().contains(&BlobKey::of_version(VersionId::first(id)).as_str().to_owned()));
}

// Invariant: Checks and repairs during operation do not touch work in progress.
#[tokio::test]
async fn file_that_now_belongs_to_a_document_is_not_removed() {
    let (service, id) = consistent_service().await;
    let stale = Finding::OrphanFile { key: BlobKey::of_version(VersionId::first(id)), bytes: 1 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
    assert_eq!(service.codes().await, []);
    let stale = Finding::OrphanChunks { version: VersionId::first(id), chunks: 1 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
}

#[tokio::test]
async fn files_with_unknown_names_or_wrong_sizes_are_reported_and_kept() {
    let (service, id) = consistent_service().await;
    let (foreign, own) =
        (BlobKey::parse("documents/mine.txt").unwrap(), BlobKey::of_version(VersionId::first(id)));
    service.put(&foreign).await;
    service.put(&own).await;
    let codes = service.codes().await;
    assert_eq!(codes, [("file_size", id.to_string()), ("foreign_file", foreign.as_str().to_owned())]);
    assert_eq!(service.mend_all().await, [Repair::NotSupported; 2]);
}

#[tokio::test]
async fn unavailable_component_is_reported_and_other_checks_run() {
    let (service, _) = consistent_service().await;
    service.put(&BlobKey::of_version(builders::id(77))).await;
    service.index_switch.fail_next(100, FaultKind::Unavailable);
    let (found, left_out) = service.examined().await;
    let codes: Vec<_> = found.iter().map(Finding::code).collect();
    assert_eq!(codes, ["part_down", "orphan_file"]);
    let checks: Vec<_> = left_out.iter().map(|left_out| left_out.check).collect();
    assert_eq!(checks, ["documents without chunks", "chunks without documents"]);
}

#[tokio::test]
async fn embedding_dimensions_that_differ_from_the_index_are_reported() {
    let (service, id) = consistent_service().await;
    service.drain().await;
    let document = docent_domain::retrieval::IndexedVersion { id: VersionId::first(id), ..indexed(1) };
    let entry = docent_testkit::retrieval::hybrid_entry(1, 0, "pump", &[0.6, 0.8]);
    docent_ports::vector_index::VectorIndex::replace(&*service.index, &document, vec![entry]).await.unwrap();
    assert_eq!(service.codes().await, [("dimensions", "vector_store".to_owned())]);
}
