//! Reuse between ingestions: each text is embedded once and each file is extracted once.

use docent_app::background::{Runner, RunnerSettings};
use docent_domain::document::BlobKey;
use docent_domain::fault::FaultKind;
use docent_testkit::wire::{Failing, FakeLlm, RateLimit, Reply};
use docent_tests::app::TestApp;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use docent_tests::setup::{Setup, Started};
use docent_tests::stack::Stack;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Returns a PDF of this many chunks, shared with no other document.
fn long_pdf(document: usize, chunks: usize) -> Vec<u8> {
    let page = |page| {
        let line =
            |n| format!("Document {document} page {page} line {n} tells of pumps, valves and pipes.\n");
        (0..60).map(line).collect::<String>()
    };
    let pages: Vec<String> = (0..chunks).map(page).collect();
    pdf(&pages.iter().map(String::as_str).collect::<Vec<_>>())
}

async fn has_extraction(app: &TestApp, file: &[u8]) -> bool {
    let key = BlobKey::of_extraction(&Sha256::digest(file).into());
    app.ports.blobs.open(&key).await.unwrap().is_some()
}

async fn delete(ada: &Member, id: &str) {
    let _ = ada.delete(&format!("/documents/{id}")).await.expect(204);
}

async fn status(ada: &Member, id: &str) -> String {
    ada.document(id).await["status"].as_str().unwrap().to_owned()
}

rules! {
    async fn identical_files_are_embedded_once(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        let file = long_pdf(1, 3);
        let first = ada.add("a.pdf", file.clone()).await;
        app.run_jobs().await;
        let spent = fake.counts().embeddings;
        assert!(spent > 0);
        // Further extractions fail.
        app.faults.extractor.fail_all(FaultKind::Rejected);
        let second = ada.add("a.pdf", file).await;
        app.run_jobs().await;
        assert_ne!(first, second);
        assert_eq!((status(&ada, &first).await, status(&ada, &second).await), ("ingested".into(), "ingested".into()));
        assert_eq!(fake.counts().embeddings, spent);
    }

    // Invariant: A retry resumes at the first missing batch.
    async fn retry_resumes_at_the_first_missing_batch(setup) {
        let fake = FakeLlm::start().await;
        let app = setup.embeddings(&fake).start().await;
        let ada = app.ada().await;
        for reply in [Reply::json(200, two_vectors()), Reply::json(401, "{}")] {
            fake.script(reply);
        }
        let id = ada.add("a.pdf", long_pdf(1, 8)).await;
        app.run_jobs().await;
        assert_eq!(status(&ada, &id).await, "failed");
        app.faults.extractor.fail_all(FaultKind::Rejected);
        ada.post(&format!("/documents/{id}/retry"), serde_json::json!({})).await;
        app.run_jobs().await;
        assert_eq!(status(&ada, &id).await, "ingested");
        let counts = fake.counts();
        assert_eq!((counts.embedded_again, counts.embeddings), (0, counts.embedded + 1), "only the refused batch is sent twice");
    }

    // Invariant: A cached extraction is deleted with the last document of its file, even during its
    // ingestion.
    async fn cached_extraction_is_deleted_with_the_last_document_of_the_file(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let file = pdf(&["some words"]);
        let first = ada.add("a.pdf", file.clone()).await;
        let second = ada.add("b.pdf", file.clone()).await;
        app.run_jobs().await;
        assert!(has_extraction(&app, &file).await);
        delete(&ada, &first).await;
        app.run_jobs().await;
        assert!(has_extraction(&app, &file).await, "the other document still has the file");
        delete(&ada, &second).await;
        app.run_jobs().await;
        assert!(!has_extraction(&app, &file).await);
    }

    async fn damaged_cached_extraction_is_replaced(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let file = pdf(&["some words"]);
        ada.add("a.pdf", file.clone()).await;
        app.run_jobs().await;
            let key = BlobKey::of_extraction(&Sha256::digest(&file).into());
        let mut writer = app.ports.blobs.create(&key).await.unwrap();
        writer.write("nonsense".into()).await.unwrap();
        writer.finish().await.unwrap();
        let id = ada.add("a.pdf", file).await;
        app.run_jobs().await;
        assert_eq!(status(&ada, &id).await, "ingested");
    }

    async fn file_without_text_fails_again_when_uploaded_again(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for _ in 0..2 {
            let id = ada.add("a.pdf", pdf(&[""])).await;
            app.run_jobs().await;
            assert_eq!(status(&ada, &id).await, "failed");
        }
    }
}

/// Returns a response with vectors for two texts, of the fake's number of dimensions.
fn two_vectors() -> String {
    let data = [0, 1].map(|n| {
        let vector: Vec<f32> = (0..64).map(|at| if at == n { 1.0 } else { 0.0 }).collect();
        serde_json::json!({"index": n, "embedding": vector})
    });
    serde_json::json!({ "data": data }).to_string()
}

/// Uploads twenty documents and ingests four at a time while the clock advances.
async fn ingest_many(fake: &FakeLlm, configure_faults: impl FnOnce(&TestApp)) {
    let started = Started::default();
    let app = Setup::new(Stack::Fakes, &started).embeddings(fake).start().await;
    configure_faults(&app);
    let ada = app.ada().await;
    for document in 0..20 {
        ada.add("a.pdf", long_pdf(document, 12)).await;
    }
    let (stop, settings) =
        (CancellationToken::new(), RunnerSettings { concurrency: 4, ..RunnerSettings::default() });
    let runner = Runner::new(Arc::clone(&app.app), settings);
    let running = runner.run(stop.clone(), Duration::ZERO);
    let ended = async {
        while app.job_counts().await.queued + app.job_counts().await.leased > 0 {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    };
    app.clock.pass_while(async { tokio::join!(running, ended) }).await;
    // The access token has expired by now.
    let mut view = app.ports.store.read().await.unwrap();
    assert_eq!(view.documents().counts().await.unwrap().ingested, 20);
    started.finish().await;
}

// Invariant: Rate limits and failures of the embedding back end cost few calls and no document.
#[tokio::test]
async fn rate_limit_costs_few_calls_and_no_document() {
    let fake = FakeLlm::start().await;
    ingest_many(&fake, |app| {
        let limit = RateLimit::new(10, Duration::from_secs(1), &app.clock);
        fake.configure(|model| model.limit = Some(limit));
    })
    .await;
    let counts = fake.counts();
    assert!(counts.embedded > 100 && counts.embedded_again == 0, "{counts:?}");
    assert!(counts.embeddings * 10 <= counts.embedded * 11, "{counts:?}");
}

// Invariant: Rate limits and failures of the embedding back end cost few calls and no document.
#[tokio::test]
async fn random_failures_cost_few_calls_and_no_document_or_repeated_batch() {
    let fake = FakeLlm::start().await;
    ingest_many(&fake, |_| fake.configure(|model| model.failing = Some(Failing::new(30, 1)))).await;
    let counts = fake.counts();
    assert!(counts.embedded > 100 && counts.embedded_again == 0, "{counts:?}");
    assert!(counts.embeddings * 10 <= counts.embedded * 16, "{counts:?}");
}
