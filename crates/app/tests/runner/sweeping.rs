//! The orphan sweep: what it repairs, and when and where it runs.

use crate::service::{Service, lease_by_another};
use docent_app::background::Background;
use docent_app::maintenance::diagnostics::{Finding, Repair, repair};
use docent_app::maintenance::sweep::{SweepReport, sweep};
use docent_domain::document::{BlobKey, Failure, FailureCode};
use docent_domain::fault::FaultKind;
use docent_domain::id::{LeaseId, VersionId};
use docent_domain::job::{Job, JobState};
use docent_domain::metrics::SweepFinding;
use docent_ports::singleton_tasks::{SingletonTask, TaskClaim};
use docent_ports::vector_index::VectorIndex;
use docent_testkit::builders;
use docent_testkit::fakes::recorder::Noted;
use docent_testkit::retrieval::{entry, indexed};
use docent_testkit::wait::until;
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);

impl Service {
    /// Creates chunks of an unknown document, as a delayed and then crashed runner leaves them.
    async fn create_orphan_chunks(&self, n: u32) -> VersionId {
        let document = indexed(n);
        self.index.replace(&document, vec![entry(n, 0, "pump")]).await.unwrap();
        document.id
    }

    async fn sweep(&self) -> SweepReport {
        sweep(&self.app).await
    }

    /// Takes the sweep's lease as another process would.
    async fn lease_sweep(&self) -> LeaseId {
        let (now, lease) = (self.app.now(), self.app.new_id(LeaseId::generate));
        let mut work = self.ports.store.begin().await.unwrap();
        let until = now + Duration::from_secs(30);
        let claim = TaskClaim { task: SingletonTask::Sweep, lease, now, until, done_by: now };
        assert!(work.singleton_tasks().acquire(claim).await.unwrap());
        work.commit().await.unwrap();
        lease
    }

    fn sweeps(&self) -> usize {
        self.recorder.noted().iter().filter(|noted| matches!(noted, Noted::Swept(..))).count()
    }
}

#[tokio::test]
async fn sweep_without_orphans_changes_nothing() {
    let service = Service::new();
    let id = service.upload("some words").await;
    service.drain().await;
    service.upload("waiting words").await;
    service.clock.advance(2 * HOUR);
    let swept = service.sweep().await;
    assert!(swept.is_complete());
    assert_eq!(swept.repaired(), 0);
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
    assert_eq!(service.drain().await, 1, "the job that was already queued");
}

// Invariant: Orphans of crashed runners are swept while the service runs, by one process at a time.
#[tokio::test]
async fn sweep_removes_only_chunks_of_deleted_and_failed_documents() {
    let service = Service::new();
    let retained = service.upload("some words").await;
    service.drain().await;
    let failure = Failure::of(FailureCode::FileMissing);
    let failed = builders::document(9).failed(failure, None, service.app.now()).unwrap();
    let mut work = service.ports.store.begin().await.unwrap();
    work.documents().insert(&failed).await.unwrap();
    work.commit().await.unwrap();
    let document = docent_domain::retrieval::IndexedVersion { id: VersionId::first(failed.id), ..indexed(9) };
    service.index.replace(&document, vec![entry(9, 0, "pump")]).await.unwrap();
    let deleted = service.create_orphan_chunks(7).await;
    let swept = service.sweep().await;
    assert_eq!((swept.orphan_chunks, swept.repaired(), swept.is_complete()), (2, 2, true));
    for (id, chunks) in [(deleted, 0), (VersionId::first(failed.id), 0), (VersionId::first(retained), 1)] {
        assert_eq!(service.index.entries(id).len(), chunks);
    }
    let noted = service.recorder.noted();
    let repairs = [Noted::Repaired(SweepFinding::OrphanChunks), Noted::Repaired(SweepFinding::OrphanChunks)];
    assert_eq!(noted[noted.len() - 3..], [&repairs[..], &[Noted::Swept(true, Duration::ZERO)]].concat());
    assert_eq!(service.sweep().await.repaired(), 0, "nothing remains to repair");
}

#[tokio::test]
async fn sweep_queues_lost_jobs_again() {
    let service = Service::new();
    let pending = service.upload("some words").await;
    let (job, lease) = lease_by_another(&service).await;
    let deleted = service.upload("other words").await;
    let mut work = service.ports.store.begin().await.unwrap();
    assert!(work.jobs().settle(&Job { state: JobState::Done, ..job }, lease).await.unwrap());
    work.documents().mark_deleted(deleted, service.app.now()).await.unwrap();
    work.commit().await.unwrap();
    let swept = service.sweep().await;
    assert_eq!((swept.not_queued, swept.not_removed, swept.repaired()), (1, 1, 2));
    service.drain().await;
    assert_eq!(service.document(pending).await.state.name(), "ingested");
    let deletion = service.ports.store.read().await.unwrap().documents().deletion(deleted).await.unwrap();
    assert_eq!(deletion, None);
}

#[tokio::test]
async fn sweep_removes_orphan_files_once_no_upload_can_be_in_progress() {
    let service = Service::new();
    let retained = service.upload("some words").await;
    service.drain().await;
    service.blobs.set_time(service.app.now());
    let orphans = [BlobKey::of_version(builders::id(77)), BlobKey::of_extraction(&[7; 32])];
    for key in &orphans {
        let mut writer = service.ports.blobs.create(key).await.unwrap();
        writer.write(bytes::Bytes::from_static(b"bytes")).await.unwrap();
        writer.finish().await.unwrap();
    }
    assert_eq!(service.sweep().await.repaired(), 0, "uploads may be in progress");
    service.clock.advance(HOUR + Duration::from_secs(1));
    assert_eq!(service.sweep().await.orphan_files, 2);
    let keys = service.blobs.keys();
    assert_eq!(keys.len(), 2, "a document's file and cached extraction stay: {keys:?}");
    assert!(keys.contains(&BlobKey::of_version(VersionId::first(retained)).as_str().to_owned()));
    let stale = Finding::OrphanFile { key: orphans[1].clone(), bytes: 5 };
    assert_eq!(repair(&service.app, &stale).await.unwrap(), Repair::Resolved);
}

#[tokio::test]
async fn interrupted_sweep_is_completed_by_the_next_one() {
    let service = Service::new();
    let deleted = service.create_orphan_chunks(7).await;
    // Each call of the sweep fails once.
    for broken in 0_u32.. {
        assert!(broken < 50, "a sweep has an end");
        let id = service.create_orphan_chunks(100 + broken).await;
        service.index_switch.fail_after(broken.into(), 1, FaultKind::Unavailable);
        let swept = service.sweep().await;
        service.index_switch.clear();
        if swept.is_complete() {
            break;
        }
        assert!(service.sweep().await.is_complete());
        assert!(service.index.entries(id).is_empty());
    }
    for switch in [&service.store_switches.read, &service.blobs_switch] {
        let id = service.create_orphan_chunks(200).await;
        switch.fail_all(FaultKind::Unavailable);
        assert!(!service.sweep().await.is_complete());
        switch.clear();
        assert!(service.sweep().await.is_complete());
        assert!(service.index.entries(id).is_empty());
    }
    assert!(service.index.entries(deleted).is_empty());
}

#[tokio::test]
async fn sweep_runs_in_one_process_and_at_most_once_per_interval() {
    let service = Service::new();
    service.lease_sweep().await;
    assert!(service.background().sweep(Duration::ZERO).await.unwrap().is_none(), "another process sweeps");
    service.clock.advance(Duration::from_secs(30));
    let swept = service.background().sweep(HOUR).await.unwrap();
    assert!(swept.is_some(), "the other process has crashed");
    service.clock.advance(HOUR - Duration::from_secs(1));
    let other = Background::new(service.other_app(), Some(HOUR));
    assert!(other.sweep(HOUR).await.unwrap().is_none(), "the last sweep was less than an interval ago");
    service.clock.advance(Duration::from_secs(1));
    assert!(other.sweep(HOUR).await.unwrap().is_some());
}

#[tokio::test]
async fn interrupted_sweep_is_due_again_after_a_minute() {
    let service = Service::new();
    let deleted = service.create_orphan_chunks(7).await;
    service.index_switch.fail_all(FaultKind::Unavailable);
    assert!(!service.background().sweep(HOUR).await.unwrap().unwrap().is_complete());
    service.index_switch.clear();
    service.clock.advance(Duration::from_secs(59));
    assert!(service.background().sweep(HOUR).await.unwrap().is_none());
    service.clock.advance(Duration::from_secs(1));
    assert!(service.background().sweep(HOUR).await.unwrap().unwrap().is_complete());
    assert!(service.index.entries(deleted).is_empty());
}

/// Advances the clock second by second and lets other tasks run in between.
async fn pass(service: &Service, seconds: u32) {
    for _ in 0..seconds {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        service.clock.advance(Duration::from_secs(1));
    }
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn process_sweeps_after_its_start_and_at_intervals() {
    let service = Service::new();
    let interval = Duration::from_secs(100);
    let (stop, running) = service.spawn_background(Some(interval));
    pass(&service, 29).await;
    assert_eq!(service.sweeps(), 0, "leases of crashed runners have not expired yet");
    pass(&service, 2).await;
    assert_eq!(service.sweeps(), 1);
    let deleted = service.create_orphan_chunks(7).await;
    pass(&service, 102).await;
    assert_eq!(service.sweeps(), 2);
    assert!(service.index.entries(deleted).is_empty());
    stop.cancel();
    running.await.unwrap();
}

// Invariant: Orphans of crashed runners are swept while the service runs, by one process at a time.
#[tokio::test]
async fn two_processes_sweep_once_per_interval() {
    let service = Service::new();
    let interval = Duration::from_secs(100);
    let processes = [service.spawn_background(Some(interval)), service.spawn_background(Some(interval))];
    pass(&service, 95).await;
    assert_eq!(service.sweeps(), 1);
    pass(&service, 100).await;
    assert_eq!(service.sweeps(), 2);
    for (stop, running) in processes {
        stop.cancel();
        running.await.unwrap();
    }
}

#[tokio::test]
async fn process_without_an_interval_never_sweeps() {
    let service = Service::new();
    let (stop, running) = service.spawn_background(None);
    pass(&service, 500).await;
    assert_eq!(service.sweeps(), 0);
    stop.cancel();
    until("it stops", async || running.is_finished()).await;
}

// Invariant: A sweep deletes nothing from the store of another installation, and the collection of another
// one is not used.
#[tokio::test]
async fn sweep_deletes_nothing_from_a_store_that_is_mostly_unknown() {
    let service = Service::new();
    for text in ["one", "two", "three"] {
        service.upload(text).await;
    }
    service.drain().await;
    service.blobs.set_time(service.app.now());
    for n in 100..130 {
        service.create_orphan_chunks(n).await;
        let mut writer = service.ports.blobs.create(&BlobKey::of_version(builders::id(n))).await.unwrap();
        writer.write(bytes::Bytes::from_static(b"bytes")).await.unwrap();
        writer.finish().await.unwrap();
    }
    service.clock.advance(HOUR + Duration::from_secs(1));
    let files = service.blobs.keys().len();
    let swept = service.sweep().await;
    assert_eq!((swept.orphan_chunks, swept.orphan_files), (0, 0));
    assert_eq!(service.blobs.keys().len(), files);
}

// Invariant: Acknowledged chunks that the vector store loses are written again.
#[tokio::test]
async fn sweep_ingests_documents_again_whose_chunks_were_lost() {
    let service = Service::new();
    let (whole, lost) = (service.upload("some words").await, service.upload("other words").await);
    service.drain().await;
    service.index.remove(VersionId::first(lost)).await.unwrap();
    let swept = service.sweep().await;
    assert_eq!((swept.wrong_chunks, swept.repaired()), (1, 1));
    assert_eq!(service.document(lost).await.state.name(), "pending");
    service.drain().await;
    for id in [whole, lost] {
        assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
    }
    assert_eq!(service.sweep().await.repaired(), 0);
}
