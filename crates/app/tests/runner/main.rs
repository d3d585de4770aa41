//! The job runner and the background work of a service. All ports are fakes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")]

mod backup;
mod call_gate;
mod doctor;
mod evaluation;
mod fallback;
mod lifecycle;
mod outages;
mod picture_descriptions;
mod recognition;
mod reindex;
mod replace;
mod scopes;
mod service;
mod summary;
mod sweeping;
mod waiting;
mod webhooks;

use call_gate::GatedTask;
use docent_app::background::RunnerSettings;
use docent_domain::access::Actor;
use docent_domain::document::DocumentState;
use docent_domain::fault::{Component, FaultKind};
use docent_domain::id::VersionId;
use docent_domain::job::JobState;
use docent_domain::listing::{PageRequest, SessionFilter};
use docent_domain::metrics::{JobOutcome, Stage};
use docent_domain::session::Session;
use docent_domain::trace::TraceParent;
use docent_domain::verification::{VerificationPurpose, VerificationToken};
use docent_domain::webhook::{DeliveryState, WebhookDelivery};
use docent_testkit::builders::{self, at};
use docent_testkit::fakes::recorder::Noted;
use docent_testkit::fakes::trace::FakePropagator;
use docent_testkit::wait::until;
use service::{Reading, Service, lease_by_another};
use std::sync::Arc;
use std::time::Duration;

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[tokio::test]
async fn ingested_document_has_a_done_job() {
    let service = Service::new();
    let id = service.upload("some words").await;
    assert_eq!(service.drain().await, 1);
    let document = service.document(id).await;
    assert_eq!(document.state.name(), "ingested");
    assert_eq!(document.coverage.unwrap().chunks, 1);
    let job = service.job(id).await;
    assert_eq!((job.state, job.attempts, job.interruptions, job.last_error), (JobState::Done, 0, 0, None));
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
}

#[tokio::test]
async fn recorder_receives_stages_faults_and_outcomes() {
    let service = Service::new();
    let id = service.upload("some words").await;
    service.index_switch.fail_next(1, FaultKind::Unavailable);
    service.drain().await;
    service.clock.advance(seconds(1));
    service.drain().await;
    assert_eq!(service.document(id).await.state.name(), "ingested");
    let none = Duration::ZERO;
    let stages = [Stage::Extract, Stage::Chunk, Stage::Embed, Stage::Index];
    let stages = || stages.map(|stage| Noted::StageEnded(stage, none)).into_iter();
    let first = stages().chain([
        Noted::Fault(Component::VectorStore, FaultKind::Unavailable),
        Noted::JobEnded(JobOutcome::Waiting, none),
    ]);
    let second = stages().chain([Noted::JobEnded(JobOutcome::Ingested, none)]);
    assert_eq!(service.recorder.noted(), first.chain(second).collect::<Vec<_>>());
    assert_eq!(service.readings(), 1, "the second attempt uses the cached text");
}

#[tokio::test]
async fn runner_continues_the_trace_of_the_upload() {
    let service = Service::new();
    let trace = TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let id = service.upload_traced("some words", trace.clone()).await;
    assert_eq!(service.job(id).await.trace, trace);
    let traces = Arc::new(FakePropagator::default());
    let service = service.changed(|ports| ports.traces = Some(Arc::clone(&traces) as _));
    assert_eq!(service.drain().await, 1);
    assert_eq!(traces.extracted(), [trace.unwrap().as_str()]);
    assert!(service.job(id).await.trace.is_some(), "the trace stays recorded");
}

#[tokio::test]
async fn transient_faults_are_retried_with_exponential_backoff() {
    let service = Service::new();
    let id = service.upload("some words").await;
    service.index_switch.fail_all(FaultKind::InvalidResponse);
    let mut due = Vec::new();
    for _ in 0..2 {
        assert_eq!(service.drain().await, 1);
        let job = service.job(id).await;
        assert_eq!(job.last_error.as_deref(), Some("vector store: a scripted fault"));
        due.push((job.attempts, (job.run_at - service.app.now()).num_milliseconds()));
        service.clock.advance(Duration::from_millis(499));
        assert_eq!(service.drain().await, 0, "not before it is due");
        service.clock.advance(seconds(1));
    }
    assert_eq!(due, [(1, 500), (2, 1000)]);
    assert_eq!(service.drain().await, 1);
    let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "indexing_failed");
    assert_eq!(failed.failure.reason, "the vector store returned an invalid response (3 attempts)");
    assert_eq!(service.job(id).await.state, JobState::Done);
}

/// Starts a runner of another process that waits after this number of calls. `None` if it has ended before.
async fn delayed_runner(
    service: &Service,
    calls: usize,
) -> Option<GatedTask<Result<bool, docent_app::error::Error>>> {
    let runner = service.other_process();
    let mut late = GatedTask::start(async move { runner.run_next().await }).await;
    for _ in 0..calls {
        if late.step().await {
            return None;
        }
    }
    Some(late)
}

// Invariant: A cached extraction is deleted with the last document of its file, even during its ingestion.
#[tokio::test]
async fn deletion_during_the_ingestion_leaves_no_cached_text() {
    // The runner pauses before its first, second, third … call until the document is removed.
    for calls in 0.. {
        assert!(calls < 100, "an ingestion has an end");
        let service = Service::stepped();
        let id = service.upload("some words").await;
        let Some(late) = delayed_runner(&service, calls).await else { return };
        let owner = Actor::of(&builders::user(1)).unwrap();
        docent_app::documents::delete::delete(&service.app, &owner, id).await.unwrap();
        service.runner().take_over().await.unwrap();
        assert!(service.drain().await >= 1);
        let _ = late.finish().await;
        service.drain().await;
        assert_eq!(service.blobs.keys(), Vec::<String>::new(), "after {calls} calls");
    }
}

#[tokio::test]
async fn vectors_unused_for_a_month_are_removed() {
    let service = Service::new();
    let now = service.app.now();
    let days = |days| now - chrono::TimeDelta::days(days);
    let mut unit = service.ports.store.begin().await.unwrap();
    for n in 0..1200_u16 {
        let mut text = [0; 32];
        text[..2].copy_from_slice(&n.to_be_bytes());
        let used_at = if n == 0 { days(29) } else { days(31) };
        unit.embedding_cache().put("space", &[(text, &[1.0])], used_at).await.unwrap();
    }
    unit.commit().await.unwrap();
    let (stop, running) = service.spawn_background(None);
    let left = async || {
        let mut unit = service.ports.store.begin().await.unwrap();
        unit.embedding_cache().purge_unused(now, u64::MAX).await.unwrap()
    };
    while left().await > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(left().await, 1);
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn old_sessions_old_deliveries_and_expired_links_are_removed() {
    let service = Service::new();
    let now = service.app.now();
    let days = |days| now - chrono::TimeDelta::days(days);
    let user = builders::user(1);
    let mut unit = service.ports.store.begin().await.unwrap();
    unit.users().insert(&user).await.unwrap();
    for (n, ended) in [(1, 29), (2, 31), (3, -1)] {
        let session = Session { expires_at: days(ended), ..builders::session(n, user.id) };
        unit.sessions().insert(&session).await.unwrap();
    }
    for (n, purpose, ended) in
        [(1, VerificationPurpose::ResetPassword, 1), (2, VerificationPurpose::VerifyEmail, -1)]
    {
        let link =
            VerificationToken { expires_at: days(ended), ..builders::verification(n, user.id, purpose) };
        unit.verifications().insert(&link).await.unwrap();
    }
    unit.webhooks().insert(&builders::webhook(1, user.id)).await.unwrap();
    for (n, age) in [(1, 29), (2, 31)] {
        let webhook = builders::webhook(1, user.id).id;
        let delivery = WebhookDelivery {
            state: DeliveryState::Delivered,
            updated_at: days(age),
            ..builders::delivery(n, webhook)
        };
        unit.webhooks().add_delivery(&delivery).await.unwrap();
    }
    unit.commit().await.unwrap();
    let (stop, running) = service.spawn_background(None);
    let all = PageRequest { offset: 0, limit: 9 };
    let log = async || {
        let mut view = service.ports.store.read().await.unwrap();
        let log = view.webhooks().deliveries(builders::id(1), None, all).await.unwrap().records;
        log.into_iter().map(|delivery| delivery.id).collect::<Vec<_>>()
    };
    let left = async || {
        let mut view = service.ports.store.read().await.unwrap();
        let sessions = view.sessions().list(&SessionFilter::default(), all).await.unwrap().records;
        let mut sessions: Vec<_> = sessions.into_iter().map(|session| session.id).collect();
        sessions.sort();
        let links = view.verifications().list(None, all).await.unwrap().records;
        (sessions, links.into_iter().map(|link| link.purpose).collect::<Vec<_>>())
    };
    while left().await.1.len() > 1 || log().await.len() > 1 {
        tokio::task::yield_now().await;
    }
    assert_eq!(log().await, [builders::id(1)]);
    let retained = [1, 3].map(|n| builders::session(n, user.id).id);
    assert_eq!(left().await, (retained.to_vec(), vec![VerificationPurpose::VerifyEmail]));
    stop.cancel();
    running.await.unwrap();
}

#[tokio::test]
async fn document_error_fails_without_retry() {
    let service = Service::new();
    let id = service.upload(" ").await;
    assert_eq!(service.drain().await, 1);
    let document = service.document(id).await;
    let DocumentState::Failed(failed) = document.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "no_extractable_text");
    assert_eq!(document.coverage.unwrap().empty_pages, [1], "the coverage is kept");
    assert_eq!(service.drain().await, 0);
}

#[tokio::test]
async fn empty_file_fails_with_its_own_code() {
    let service = Service::new();
    let id = service.upload("").await;
    assert_eq!(service.drain().await, 1);
    let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "empty_file");
}

#[tokio::test]
async fn panic_fails_the_document() {
    let service = Service::reading(Reading::Panic);
    let id = service.upload("x").await;
    assert_eq!(service.drain().await, 1);
    let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "internal");
}

#[tokio::test]
async fn job_of_a_crashed_runner_is_taken_over_after_its_lease() {
    let service = Service::new();
    let id = service.upload("some words").await;
    lease_by_another(&service).await;
    service.clock.advance(seconds(29));
    assert_eq!(service.drain().await, 0);
    service.clock.advance(seconds(1));
    assert_eq!(service.drain().await, 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
    let job = service.job(id).await;
    assert_eq!((job.attempts, job.interruptions), (0, 1));
}

#[tokio::test]
async fn single_process_releases_leases_of_its_predecessor() {
    let service = Service::new();
    let id = service.upload("some words").await;
    lease_by_another(&service).await;
    assert_eq!(service.runner().take_over().await.unwrap(), 1);
    assert_eq!(service.drain().await, 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
}

#[tokio::test]
async fn job_that_crashes_its_runners_fails() {
    let service = Service::new();
    let id = service.upload("some words").await;
    let allowed = RunnerSettings::default().retry.interruptions;
    for _ in 0..=allowed {
        lease_by_another(&service).await;
        service.clock.advance(seconds(30));
    }
    assert_eq!(service.drain().await, 1);
    let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "interrupted");
}

#[tokio::test]
async fn second_run_after_a_crash_duplicates_nothing() {
    let service = Service::new();
    let id = service.upload(&"many words here. ".repeat(1000)).await;
    // The first attempt indexes everything, but its outcome is never recorded.
    service.store_switches.commit.fail_after(1, 5, FaultKind::Unavailable);
    let first = service.spawn_drain();
    until("five commits failed", async || {
        service.clock.advance(seconds(1));
        service.store_switches.commit.calls() >= 8
    })
    .await;
    service.clock.advance(seconds(60));
    first.await.unwrap();
    service.drain().await;
    let document = service.document(id).await;
    assert_eq!(document.state.name(), "ingested");
    let chunks = document.coverage.unwrap().chunks as usize;
    assert!(chunks > 1);
    assert_eq!(service.index.entries(VersionId::first(id)).len(), chunks);
}

#[tokio::test]
async fn job_outcome_is_recorded_once_the_database_is_available() {
    let service = Service::new();
    let id = service.upload("some words").await;
    service.store_switches.commit.fail_after(1, 3, FaultKind::Unavailable);
    let running = service.spawn_drain();
    until("it is written", async || {
        service.clock.advance(seconds(1));
        running.is_finished()
    })
    .await;
    assert_eq!(running.await.unwrap(), 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(service.job(id).await.interruptions, 0);
}

#[tokio::test]
async fn lease_is_renewed_during_the_work() {
    let service = Service::reading(Reading::Gated);
    let id = service.upload("some words").await;
    let running = service.spawn_drain();
    until("it is reading", async || service.is_reading()).await;
    let begin = service.store_switches.begin.calls();
    for renewals in 1..=6 {
        // Each renewal sleeps for a third of the lease.
        until("a renewal", async || {
            service.clock.advance(Duration::from_millis(100));
            service.store_switches.begin.calls() >= begin + renewals
        })
        .await;
    }
    assert!(service.app.now() - at(0) > chrono::TimeDelta::seconds(30), "longer than one lease");
    service.open_gate();
    assert_eq!(running.await.unwrap(), 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
    assert_eq!(service.job(id).await.interruptions, 0);
}

#[tokio::test]
async fn runner_without_its_lease_writes_nothing() {
    let service = Service::reading(Reading::Gated);
    let id = service.upload("some words").await;
    let running = service.spawn_drain();
    until("it is reading", async || service.is_reading()).await;
    assert_eq!(service.runner().take_over().await.unwrap(), 1);
    let (_, lease) = lease_by_another(&service).await;
    until("the runner stops", async || {
        service.clock.advance(Duration::from_millis(100));
        running.is_finished()
    })
    .await;
    assert_eq!(service.document(id).await.state.name(), "pending");
    let job = service.job(id).await;
    assert!(matches!(job.state, JobState::Leased { lease: held, .. } if held == lease), "{job:?}");
    assert!(service.index.entries(VersionId::first(id)).is_empty());
}

// Invariant: A delayed runner does not undo the work of the runner that replaced it.
#[tokio::test]
async fn delayed_runner_whose_attempt_fails_does_not_undo_its_successors_work() {
    // The first runner pauses before its first, second, third … call until the second runner is done.
    for calls in 0.. {
        assert!(calls < 100, "an ingestion has an end");
        let service = Service::stepped();
        let id = service.upload("some words").await;
        let Some(late) = delayed_runner(&service, calls).await else { return };
        service.runner().take_over().await.unwrap();
        assert!(service.drain().await <= 1);
        service.index_switch.fail_next(1, FaultKind::Rejected);
        let _ = late.finish().await;
        service.drain().await;
        if service.document(id).await.state.name() == "ingested" {
            assert_eq!(service.index.entries(VersionId::first(id)).len(), 1, "after {calls} calls");
        }
    }
}

#[tokio::test]
async fn stopping_runner_returns_unfinished_jobs_to_the_queue() {
    let service = Service::reading(Reading::Gated);
    let id = service.upload("some words").await;
    let (stop, running) = service.spawn_runner();
    until("it is reading", async || service.is_reading()).await;
    stop.cancel();
    running.await.unwrap();
    let job = service.job(id).await;
    assert_eq!((job.state, job.attempts, job.run_at), (JobState::Queued, 0, service.app.now()));
    service.open_gate();
    assert_eq!(service.drain().await, 1);
    assert_eq!(service.document(id).await.state.name(), "ingested");
}

#[tokio::test]
async fn failed_document_leaves_no_chunks() {
    let service = Service::new();
    let id = service.upload("some words").await;
    service.drain().await;
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1);
    let other = service.upload("other words").await;
    service.embedder_switch.fail_all(FaultKind::Rejected);
    service.drain().await;
    assert_eq!(service.document(other).await.state.name(), "failed");
    assert!(service.index.entries(VersionId::first(other)).is_empty());
    assert_eq!(service.index.entries(VersionId::first(id)).len(), 1, "other documents keep their chunks");
}

#[tokio::test]
async fn missing_file_fails_without_retry() {
    let service = Service::new();
    let id = service.upload("some words").await;
    let blob = service.document(id).await.file.unwrap().blob;
    assert!(service.ports.blobs.delete(&blob).await.unwrap());
    assert_eq!(service.drain().await, 1);
    let DocumentState::Failed(failed) = service.document(id).await.state else { panic!("it has failed") };
    assert_eq!(failed.failure.code.as_str(), "file_missing");
}
