//! What the doctor finds and mends.

use crate::service::{Service, lease_by_another};
use async_trait::async_trait;
use bytes::Bytes;
use docent_app::maintenance::{
    diagnostics::{CheckListener, Finding, Repair, SkippedCheck, check, repair},
    progress::NoProgress,
};
use docent_domain::{
    document::{BlobKey, DocumentState},
    id::DocumentId,
    job::{Job, JobState},
};
use docent_ports::{
    error::{Component, FaultKind},
    reranker::Reranker,
};
use docent_testkit::{
    builders,
    fakes::reranker::FakeReranker,
    faults::{FaultSwitch, Faulty},
    retrieval::{entry, indexed},
};
use std::{sync::Arc, time::Duration};

/// Keeps what it is told.
#[derive(Default)]
struct Kept(Vec<Finding>);

#[async_trait]
impl CheckListener for Kept {
    fn healthy(&mut self, _part: Component, _note: &str) {}

    fn in_use(&mut self, _part: Component) {}

    async fn found(&mut self, finding: Finding) {
        self.0.push(finding);
    }
}

impl Service {
    async fn examined(&self) -> (Vec<Finding>, Vec<SkippedCheck>) {
        let mut kept = Kept::default();
        let left_out = check(&self.app, &NoProgress, &mut kept).await;
        (kept.0, left_out)
    }

    async fn codes(&self) -> Vec<(&'static str, String)> {
        let (found, left_out) = self.examined().await;
        assert!(left_out.is_empty(), "{left_out:?}");
        found.iter().map(|finding| (finding.code(), finding.id())).collect()
    }

    /// Mends everything there is, and says what was done.
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
        &*self.app.blobs
    }

    /// Ends a document's job as if it had never been.
    async fn lose_job(&self, document: DocumentId) {
        let (job, lease) = lease_by_another(self).await;
        assert_eq!(job.document, document);
        let mut work = self.app.store.begin().await.unwrap();
        assert!(work.jobs().settle(&Job { state: JobState::Done, ..job }, lease).await.unwrap());
        work.commit().await.unwrap();
    }
}

/// One document of each kind of life, all of them as they should be.
async fn in_order() -> (Service, DocumentId) {
    let service = Service::new();
    let ingested = service.upload("some words").await;
    service.drain().await;
    service.upload("waiting words").await;
    (service, ingested)
}

#[tokio::test]
async fn nothing_is_wrong_with_what_is_in_order() {
    let (service, _) = in_order().await;
    assert_eq!(service.codes().await, []);
}

#[tokio::test]
async fn a_reranker_is_asked_and_not_only_for_how_its_last_call_went() {
    let switch = FaultSwitch::new(Component::Reranker);
    let fake: Arc<dyn Reranker> = Arc::new(FakeReranker);
    let service = Service::reranking(Arc::new(Faulty::new(fake, &switch)));
    assert_eq!(service.codes().await, []);
    // Health is asked first, and its answer passes.
    switch.fail_after(1, 1, FaultKind::Rejected);
    assert_eq!(service.codes().await, [("part_down", "reranking_back_end".to_owned())]);
}

#[tokio::test]
async fn a_pending_document_without_a_job_gets_one() {
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
async fn a_deletion_without_a_job_gets_one() {
    let (service, id) = in_order().await;
    service.drain().await;
    let mut work = service.app.store.begin().await.unwrap();
    work.documents().mark_deleted(id, service.app.clock.now()).await.unwrap();
    work.commit().await.unwrap();
    assert_eq!(service.codes().await, [("not_removed", id.to_string())]);
    service.mend_all().await;
    assert_eq!(service.codes().await, []);
    service.drain().await;
    assert!(service.index.entries(id).is_empty());
    assert_eq!(repair(&service.app, &Finding::NotRemoved(id)).await.unwrap(), Repair::Resolved);
}

#[tokio::test]
async fn a_lease_that_ran_out_is_told_once_it_should_have_been_taken_up() {
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
async fn a_document_that_lost_its_chunks_is_ingested_again() {
    let (service, id) = in_order().await;
    service.drain().await;
    docent_ports::vector_index::VectorIndex::remove(&*service.index, id).await.unwrap();
    assert_eq!(service.codes().await, [("wrong_chunks", id.to_string())]);
    assert_eq!(service.mend_all().await, [Repair::Done("the document is queued for ingestion")]);
    assert_eq!(service.codes().await, []);
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(service.index.entries(id).len(), 1);
    let stale = Finding::WrongChunks { document: id, recorded: 1, actual: 0 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
}

#[tokio::test]
async fn one_whose_file_is_gone_too_is_failed() {
    let (service, id) = in_order().await;
    service.drain().await;
    docent_ports::vector_index::VectorIndex::remove(&*service.index, id).await.unwrap();
    service.blobs_port().delete(&BlobKey::of_document(id)).await.unwrap();
    let id_text = id.to_string();
    assert_eq!(service.codes().await, [("wrong_chunks", id_text.clone()), ("file_missing", id_text)]);
    service.mend_all().await;
    assert!(matches!(service.document(id).await.state, DocumentState::Failed(_)));
    assert_eq!(service.codes().await, []);
}

#[tokio::test]
async fn chunks_without_a_document_are_removed_and_others_stay() {
    let (service, id) = in_order().await;
    let failing = builders::document(9);
    let failure = docent_domain::document::Failure::of(docent_domain::document::FailureCode::FileMissing);
    let failed = failing.clone().failed(failure, None, service.app.clock.now()).unwrap();
    let mut work = service.app.store.begin().await.unwrap();
    work.documents().insert(&failed).await.unwrap();
    work.commit().await.unwrap();
    for (document, chunk) in [(indexed(7), entry(7, 0, "pump")), (indexed(8), entry(8, 0, "pump"))] {
        let document_id = if document.id == indexed(7).id { failing.id } else { document.id };
        let document = docent_domain::retrieval::IndexedDocument { id: document_id, ..document };
        docent_ports::vector_index::VectorIndex::replace(&*service.index, &document, vec![chunk])
            .await
            .unwrap();
    }
    let mut codes = service.codes().await;
    codes.sort();
    let mut expected = [failing.id, indexed(8).id].map(|id| ("orphan_chunks", id.to_string()));
    expected.sort();
    assert_eq!(codes, expected);
    assert_eq!(service.mend_all().await, [Repair::Done("the chunks are deleted"); 2]);
    assert_eq!(service.codes().await, []);
    assert_eq!(service.index.entries(id).len(), 1);
}

#[tokio::test]
async fn a_file_without_a_document_is_removed_once_no_upload_can_be_under_way() {
    let (service, id) = in_order().await;
    let orphan = BlobKey::of_document(builders::id(77));
    service.blobs.set_time(service.app.clock.now());
    service.put(&orphan).await;
    assert_eq!(service.codes().await, [], "it may be an upload's");
    service.clock.advance(Duration::from_secs(3601));
    assert_eq!(service.codes().await, [("orphan_file", orphan.as_str().to_owned())]);
    assert_eq!(service.mend_all().await, [Repair::Done("the file is deleted")]);
    assert_eq!(service.codes().await, []);
    assert!(service.blobs.keys().contains(&BlobKey::of_document(id).as_str().to_owned()));
}

#[tokio::test]
async fn a_file_that_belongs_to_a_document_by_now_is_not_removed() {
    let (service, id) = in_order().await;
    let stale = Finding::OrphanFile { key: BlobKey::of_document(id), bytes: 1 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
    assert_eq!(service.codes().await, []);
    let stale = Finding::OrphanChunks { document: id, chunks: 1 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
    assert_eq!(service.index.entries(id).len(), 1);
}

#[tokio::test]
async fn files_under_other_names_and_of_other_sizes_are_told_and_left() {
    let (service, id) = in_order().await;
    let (foreign, own) = (BlobKey::parse("documents/mine.txt").unwrap(), BlobKey::of_document(id));
    service.put(&foreign).await;
    service.put(&own).await;
    let codes = service.codes().await;
    assert_eq!(codes, [("file_size", id.to_string()), ("foreign_file", foreign.as_str().to_owned())]);
    assert_eq!(service.mend_all().await, [Repair::NotSupported; 2]);
}

#[tokio::test]
async fn what_cannot_be_asked_is_told_and_the_rest_is_still_checked() {
    let (service, _) = in_order().await;
    service.put(&BlobKey::of_document(builders::id(77))).await;
    service.index_switch.fail_next(100, FaultKind::Unavailable);
    let (found, left_out) = service.examined().await;
    let codes: Vec<_> = found.iter().map(Finding::code).collect();
    assert_eq!(codes, ["part_down", "orphan_file"]);
    let what: Vec<_> = left_out.iter().map(|left_out| left_out.check).collect();
    assert_eq!(what, ["documents without chunks", "chunks without documents"]);
}

#[tokio::test]
async fn an_embedding_model_that_does_not_fit_the_collection_is_told() {
    let (service, id) = in_order().await;
    service.drain().await;
    let document = docent_domain::retrieval::IndexedDocument { id, ..indexed(1) };
    let entry = docent_testkit::retrieval::hybrid_entry(1, 0, "pump", &[0.6, 0.8]);
    docent_ports::vector_index::VectorIndex::replace(&*service.index, &document, vec![entry]).await.unwrap();
    assert_eq!(service.codes().await, [("dimensions", "vector_store".to_owned())]);
}
