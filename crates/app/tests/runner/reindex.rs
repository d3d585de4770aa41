//! Reindexing: building a new index while the previous one is active.

use crate::call_gate::GatedTask;
use crate::service::{Findings, Reading, Service};
use async_trait::async_trait;
use docent_app::documents;
use docent_app::maintenance::diagnostics::{Finding, Repair, check, repair};
use docent_app::maintenance::progress::{NoProgress, Progress};
use docent_app::maintenance::reindex::{Plan, ReindexError, Reindexed, abandon, build_in_progress, reindex};
use docent_app::search::{self, SearchRequest};
use docent_domain::access::Actor;
use docent_domain::document::BlobKey;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::generation::{GenerationState, IndexGeneration};
use docent_domain::id::{DocumentId, GenerationId, VersionId};
use docent_domain::job::{JobKind, JobState};
use docent_domain::scope::Scope;
use docent_domain::selection::Selection;
use docent_domain::user::User;
use docent_ports::vector_indexes::VectorIndexes;
use docent_testkit::builders;
use docent_testkit::wait::until;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn plan(model: &str) -> Plan {
    Plan { model: Some(model.to_owned()), concurrency: 1 }
}

impl Service {
    async fn reindex(&self, plan: &Plan) -> Result<Reindexed, ReindexError> {
        reindex(&self.app, plan, &CancellationToken::new(), &NoProgress).await
    }

    async fn generations(&self) -> Vec<IndexGeneration> {
        self.ports.store.read().await.unwrap().generations().all().await.unwrap()
    }

    async fn active_generation(&self) -> IndexGeneration {
        self.app.active_index().await.unwrap().generation
    }

    /// Returns the documents that a search for this word finds.
    async fn found(&self, word: &str) -> BTreeSet<DocumentId> {
        let (grant, all) = (root().authorize().unwrap(), Selection::default());
        let request = SearchRequest { query: word, scope: Scope::SERVICE, selection: &all, limit: 50 };
        let found = search::search(&self.app, grant, request).await.unwrap();
        found.passages.into_iter().map(|chunk| chunk.document_id).collect()
    }

    async fn ingested(&self, texts: &[&str]) -> Vec<DocumentId> {
        let mut ids = Vec::new();
        for text in texts {
            ids.push(self.upload(text).await);
        }
        self.drain().await;
        ids
    }

    /// Returns the documents in the active generation, read without the use cases.
    async fn indexed_documents(&self) -> BTreeSet<DocumentId> {
        let active = self.active_generation().await;
        let index = self.collections.open(&active.collection, active.id).await.unwrap();
        let versions = index.versions(None, 1000).await.unwrap().versions;
        versions.into_iter().map(|first| DocumentId::from_uuid(first.as_uuid())).collect()
    }
}

fn root() -> Actor {
    Actor::of(&User { is_superuser: true, ..builders::user(1) }).unwrap()
}

fn set(ids: &[DocumentId]) -> BTreeSet<DocumentId> {
    ids.iter().copied().collect()
}

/// Stops a build after this many documents.
struct StopAfter {
    left: AtomicU64,
    stop: CancellationToken,
}

impl StopAfter {
    fn new(documents: u64) -> Self {
        Self { left: AtomicU64::new(documents), stop: CancellationToken::new() }
    }
}

impl Progress for StopAfter {
    fn begin(&self, _stage: &'static str, _steps: Option<u64>) {}

    fn advance(&self, steps: u64) {
        if steps > 0 && self.left.fetch_sub(steps, Ordering::SeqCst) <= steps {
            self.stop.cancel();
        }
    }

    fn end(&self) {}
}

#[tokio::test]
async fn new_index_contains_all_documents_and_becomes_active() {
    let service = Service::new();
    let ids = service.ingested(&["zebras graze", "zebras sleep", "other words"]).await;
    let first = service.active_generation().await;
    let done = service.reindex(&plan("another")).await.unwrap();
    assert_eq!((done.documents, done.written, done.model.as_str()), (3, 3, "another"));
    let active = service.active_generation().await;
    assert_eq!((active.id, active.model.as_str()), (done.generation, "another"));
    assert_ne!(active.collection, first.collection);
    assert_eq!(service.found("zebras").await, set(&ids[..2]));
    // Later ingestions go to the new index.
    let late = service.ingested(&["zebras run"]).await;
    assert_eq!(service.found("zebras").await, set(&[ids[0], ids[1], late[0]]));
    assert!(service.index.entries(VersionId::first(late[0])).is_empty(), "not into the previous index");
}

#[tokio::test]
async fn retired_index_is_removed_once_no_search_can_use_it() {
    let service = Service::new();
    let ids = service.ingested(&["zebras"]).await;
    let searching = service.app.active_index().await.unwrap();
    service.reindex(&plan("another")).await.unwrap();
    docent_app::generations::remove_retired(&service.app).await.unwrap();
    assert_eq!(
        searching.index.count(VersionId::first(ids[0])).await.unwrap(),
        1,
        "a search started before the switch still works"
    );
    service.clock.advance(Duration::from_secs(120));
    for _ in 0..2 {
        docent_app::generations::remove_retired(&service.app).await.unwrap();
        assert_eq!(service.collections.names(), [service.active_generation().await.collection]);
    }
    assert_eq!(service.generations().await.len(), 2, "a delayed process may create it again");
    // A delayed process does so.
    service.collections.get(&searching.generation.collection);
    service.clock.advance(Duration::from_secs(3600));
    docent_app::generations::remove_retired(&service.app).await.unwrap();
    assert_eq!((service.collections.names().len(), service.generations().await.len()), (1, 1));
}

// Invariant: An interrupted build can be resumed, and the previous index remains active.
#[tokio::test]
async fn stopped_build_resumes_and_embeds_nothing_twice() {
    let service = Service::new();
    let texts: Vec<String> = (0..10).map(|n| format!("zebras number {n}")).collect();
    let ids = service.ingested(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let before = service.embedder_switch.calls();
    for runs in 1.. {
        let seen = StopAfter::new(3 * runs);
        match reindex(&service.app, &plan("another"), &seen.stop.clone(), &seen).await {
            Ok(done) => {
                assert_eq!((done.documents, done.written, runs), (10, 1, 4));
                break;
            }
            Err(stopped) => assert!(matches!(stopped, ReindexError::Stopped), "{stopped}"),
        }
    }
    assert_eq!(
        service.embedder_switch.calls() - before,
        10 + 4,
        "each document once, and the model in each run"
    );
    assert_eq!(service.found("zebras").await, set(&ids));
    assert_eq!(service.readings(), 10, "no file was extracted again");
}

#[tokio::test]
async fn documents_added_and_deleted_during_the_build_are_included() {
    let service = Service::reading(Reading::AtOnce);
    let ids = service.ingested(&["zebras a", "zebras b", "zebras c"]).await;
    // Stops the build after all documents are written, before the switch.
    let seen = StopAfter::new(3);
    let stopped = reindex(&service.app, &plan("another"), &seen.stop.clone(), &seen).await.unwrap_err();
    assert!(matches!(stopped, ReindexError::Stopped), "{stopped}");
    let building = build_in_progress(&service.app).await.unwrap().unwrap();
    assert_eq!(service.collections.get(&building.collection).entries(VersionId::first(ids[0])).len(), 1);
    // One document is deleted, one added, one fails and is retried.
    documents::delete::delete(&service.app, &root(), ids[0]).await.unwrap();
    let late = service.upload("zebras d").await;
    service.drain().await;
    let retried = service.upload("zebras e").await;
    service.embedder_switch.fail_next(1, FaultKind::Rejected);
    service.drain().await;
    assert_eq!(service.document(retried).await.state.name(), "failed");
    documents::retry::retry(&service.app, &root(), retried).await.unwrap();
    let done = service.reindex(&plan("another")).await.unwrap();
    assert_eq!((done.documents, done.written), (3, 1));
    assert_eq!(service.indexed_documents().await, set(&[ids[1], ids[2], late]));
    service.drain().await;
    let all = set(&[ids[1], ids[2], late, retried]);
    assert_eq!((service.indexed_documents().await, service.found("zebras").await), (all.clone(), all));
}

/// Pauses a build when it closes its collection, just before the switch, so that a test can change records.
struct PauseBeforeSwitch {
    inner: Arc<dyn VectorIndexes>,
    closings: AtomicU64,
    at: tokio::sync::mpsc::UnboundedSender<tokio::sync::oneshot::Sender<()>>,
}

#[async_trait]
impl VectorIndexes for PauseBeforeSwitch {
    async fn open(
        &self,
        name: &str,
        owner: GenerationId,
    ) -> docent_domain::fault::Result<Arc<dyn docent_ports::vector_index::VectorIndex>> {
        self.inner.open(name, owner).await
    }

    async fn close(&self, name: &str) -> docent_domain::fault::Result<()> {
        self.closings.fetch_add(1, Ordering::SeqCst);
        let (go_on, resumed) = tokio::sync::oneshot::channel();
        if self.at.send(go_on).is_ok() {
            let _ = resumed.await;
        }
        self.inner.close(name).await
    }

    async fn exists(&self, name: &str) -> docent_domain::fault::Result<bool> {
        self.inner.exists(name).await
    }

    async fn remove(&self, name: &str) -> docent_domain::fault::Result<()> {
        self.inner.remove(name).await
    }

    async fn check(&self) -> docent_domain::fault::Result<()> {
        self.inner.check().await
    }
}

// Invariant: A new index includes documents added during its build and excludes documents deleted during it.
#[tokio::test]
async fn changes_right_before_the_switch_are_not_lost() {
    let (at, mut closings) = tokio::sync::mpsc::unbounded_channel();
    let service =
        Service::with_indexes(|inner| Arc::new(PauseBeforeSwitch { inner, closings: AtomicU64::new(0), at }));
    let ids = service.ingested(&["zebras a", "zebras b"]).await;
    let first_plan = plan("another");
    let building = service.reindex(&first_plan);
    let meddling = async {
        let go_on = closings.recv().await.unwrap();
        let late = service.ingested(&["zebras c"]).await[0];
        documents::delete::delete(&service.app, &root(), ids[0]).await.unwrap();
        service.drain().await;
        go_on.send(()).unwrap();
        let go_on = closings.recv().await.unwrap();
        let later = service.ingested(&["zebras d"]).await[0];
        go_on.send(()).unwrap();
        closings.recv().await.unwrap().send(()).unwrap();
        [late, later]
    };
    let (done, [late, later]) = tokio::join!(building, meddling);
    assert_eq!(done.unwrap().documents, 3);
    let all = set(&[ids[1], late, later]);
    assert_eq!((service.indexed_documents().await, service.found("zebras").await), (all.clone(), all));
}

// Invariant: A new index includes documents added during its build and excludes documents deleted during it.
#[tokio::test]
async fn ingestion_started_before_the_switch_is_repeated() {
    let service = Service::reading(Reading::Gated);
    let id = service.upload("zebras").await;
    let runner = service.runner();
    let ingesting = tokio::spawn(async move { runner.run_next().await.unwrap() });
    until("the extractor reads", async || service.is_reading()).await;
    service.reindex(&plan("another")).await.unwrap();
    service.open_gate();
    assert!(ingesting.await.unwrap());
    let job = service.job(id).await;
    assert_eq!((job.state, job.attempts, job.interruptions), (JobState::Queued, 0, 0), "no failed attempt");
    assert!(
        service.index.entries(VersionId::first(id)).is_empty(),
        "nothing is written into the retired index"
    );
    service.drain().await;
    assert_eq!(
        (service.document(id).await.state.name(), service.found("zebras").await),
        ("ingested", set(&[id]))
    );
}

#[tokio::test]
async fn removal_that_ends_after_the_switch_is_repeated() {
    let service = Service::stepped();
    let id = service.ingested(&["zebras"]).await[0];
    documents::delete::delete(&service.app, &root(), id).await.unwrap();
    let runner = service.runner();
    let mut removal = GatedTask::start(async move { runner.run_next().await.unwrap() }).await;
    while !service.index.entries(VersionId::first(id)).is_empty() {
        assert!(!removal.step().await);
    }
    service.reindex(&plan("another")).await.unwrap();
    assert!(removal.finish().await);
    let jobs = service.ports.store.read().await.unwrap().jobs().of_document(id).await.unwrap();
    let removal = jobs.iter().find(|job| job.kind == JobKind::Delete).unwrap();
    assert_eq!((removal.state, removal.attempts), (JobState::Queued, 0), "it is queued again");
    service.drain().await;
    assert!(service.indexed_documents().await.is_empty());
    assert!(service.ports.store.read().await.unwrap().documents().deletion(id).await.unwrap().is_none());
}

#[tokio::test]
async fn failed_build_keeps_the_previous_index_active_and_can_be_resumed() {
    let service = Service::new();
    let ids = service.ingested(&["zebras a", "zebras b", "zebras c"]).await;
    // The first call tests the model; when it fails, no build is started.
    service.embedder_switch.fail_next(1, FaultKind::Rejected);
    assert!(matches!(service.reindex(&plan("another")).await, Err(ReindexError::Fault(_))));
    assert_eq!(build_in_progress(&service.app).await.unwrap(), None);
    service.embedder_switch.fail_after(2, 1, FaultKind::Rejected);
    let failed = service.reindex(&plan("another")).await.unwrap_err();
    let ReindexError::Fault(fault) = failed else { panic!("{failed}") };
    assert_eq!((fault.component(), fault.kind()), (Component::Embedder, FaultKind::Rejected));
    assert_eq!(
        (service.active_generation().await.model.as_str(), service.found("zebras").await.len()),
        ("builtin-lexical-5", 3)
    );
    let other = service.reindex(&plan("third")).await.unwrap_err();
    assert!(matches!(&other, ReindexError::ModelMismatch { building } if building == "another"), "{other}");
    let unnamed = Plan { model: None, concurrency: 4 };
    assert_eq!(service.reindex(&unnamed).await.unwrap().model, "another");
    assert_eq!(service.found("zebras").await, set(&ids));
}

#[tokio::test]
async fn switch_is_retried_and_made_once() {
    let service = Service::new();
    let ids = service.ingested(&["zebras a"]).await;
    let seen = StopAfter::new(1);
    reindex(&service.app, &plan("another"), &seen.stop.clone(), &seen).await.unwrap_err();
    service.store_switches.acknowledge.fail_next(1, FaultKind::Unavailable);
    service.store_switches.commit.fail_next(1, FaultKind::Unavailable);
    let done = service.clock.pass_while(service.reindex(&plan("another"))).await.unwrap();
    assert_eq!(
        (service.active_generation().await.id, service.found("zebras").await),
        (done.generation, set(&ids))
    );
    let retired = |it: &&IndexGeneration| matches!(it.state, GenerationState::Retired { .. });
    assert_eq!(service.generations().await.iter().filter(retired).count(), 1);
}

#[tokio::test]
async fn build_can_be_abandoned() {
    let service = Service::new();
    let ids = service.ingested(&["zebras a", "zebras b"]).await;
    assert_eq!(abandon(&service.app).await.unwrap(), None);
    let seen = StopAfter::new(1);
    reindex(&service.app, &plan("another"), &seen.stop.clone(), &seen).await.unwrap_err();
    let abandoned = abandon(&service.app).await.unwrap().unwrap();
    assert!(!service.collections.exists(&abandoned.collection).await.unwrap());
    assert_eq!(
        (build_in_progress(&service.app).await.unwrap(), service.found("zebras").await),
        (None, set(&ids))
    );
    assert_eq!(service.reindex(&plan("third")).await.unwrap().model, "third");
}

#[tokio::test]
async fn lost_index_is_rebuilt_and_a_lost_file_is_reported() {
    let service = Service::new();
    let ids = service.ingested(&["zebras a", "zebras b"]).await;
    service.collections.remove(&service.active_generation().await.collection).await.unwrap();
    // The other document still has its cached extraction; this one has neither file nor extraction.
    let sha256 = service.document(ids[0]).await.file.unwrap().sha256;
    for key in [BlobKey::of_version(VersionId::first(ids[0])), BlobKey::of_extraction(&sha256)] {
        service.ports.blobs.delete(&key).await.unwrap();
    }
    let same = Plan { model: None, concurrency: 2 };
    let error = service.reindex(&same).await.unwrap_err();
    let ReindexError::Unreadable(documents) = &error else { panic!("{error}") };
    assert_eq!(documents.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [ids[0]]);
    assert!(error.to_string().contains("the stored file is missing"), "{error}");
    documents::delete::delete(&service.app, &root(), ids[0]).await.unwrap();
    assert_eq!(service.reindex(&same).await.unwrap().documents, 1);
    assert_eq!(service.found("zebras").await, set(&ids[1..]));
}

#[tokio::test]
async fn doctor_reports_unfinished_builds_other_models_and_retired_indexes() {
    let service = Service::new();
    service.ingested(&["zebras a", "zebras b"]).await;
    let codes = async || {
        let mut findings = Findings::default();
        assert!(check(&service.app, &NoProgress, &mut findings).await.is_empty());
        findings.0
    };
    let seen = StopAfter::new(1);
    reindex(&service.app, &plan("another"), &seen.stop.clone(), &seen).await.unwrap_err();
    let code = |found: &[Finding]| found.iter().map(Finding::code).collect::<Vec<_>>();
    assert_eq!(code(&codes().await), ["build_unfinished"]);
    service.reindex(&plan("another")).await.unwrap();
    assert_eq!(code(&codes().await), ["other_model"]);
    service.clock.advance(Duration::from_secs(120));
    let found = codes().await;
    assert_eq!(code(&found), ["other_model", "retired_left"]);
    assert_eq!(repair(&service.app, &found[0]).await.unwrap(), Repair::NotSupported);
    assert!(matches!(repair(&service.app, &found[1]).await.unwrap(), Repair::Done(_)));
    assert_eq!(code(&codes().await), ["other_model"]);
}
