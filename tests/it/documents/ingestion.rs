//! What becomes of an upload.

use docent_app::dashboard;
use docent_domain::{access::Actor, document::DocumentState};
use docent_ports::error::FaultKind;
use docent_tests::{app::TestApp, pdf::pdf, rules};
use serde_json::Value;
use std::time::Duration;

/// Why the newest failed document failed.
async fn reason(app: &TestApp, by: &docent_domain::user::User) -> String {
    let mut staff = by.clone();
    staff.is_superuser = true;
    let staff = Actor::of(&staff).unwrap();
    let overview = dashboard::overview(&app.app, &staff, staff.authorize().unwrap()).await.unwrap();
    match &overview.documents.unwrap().failures[0].state {
        DocumentState::Failed(failed) => failed.failure.reason.clone(),
        other => panic!("{other:?}"),
    }
}

rules! {
    async fn success_makes_it_ingested_with_its_own_id(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["some words"])).await;
        app.run_jobs().await;
        let document = ada.document(&id).await;
        assert_eq!((&document["status"], &document["vector_doc_id"]), (&"ingested".into(), &Value::from(id)));
    }

    async fn what_is_no_pdf_fails_and_keeps_no_vector_id(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", b"this is no PDF".to_vec()).await;
        assert_eq!(app.run_jobs().await, 1, "it is not tried again");
        let document = ada.document(&id).await;
        assert_eq!((&document["status"], &document["vector_doc_id"]), (&"failed".into(), &Value::Null));
        assert_eq!(reason(&app, &ada.user).await, "the file is not a PDF");
    }

    async fn a_scan_fails_for_want_of_text(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("scan.pdf", pdf(&["", ""])).await;
        app.run_jobs().await;
        assert_eq!(ada.document(&id).await["status"], "failed");
        assert_eq!(reason(&app, &ada.user).await, "no extractable text");
    }

    async fn transient_faults_are_tried_again(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.faults.index.fail_next(2, FaultKind::Unavailable);
        assert_eq!(app.run_jobs().await, 1);
        assert_eq!(ada.document(&id).await["status"], "pending");
        assert_eq!(app.run_jobs().await, 0, "not at once");
        for _ in 0..2 {
            app.advance(Duration::from_secs(5));
            assert_eq!(app.run_jobs().await, 1);
        }
        assert_eq!(ada.document(&id).await["status"], "ingested");
    }

    async fn transient_faults_end_after_three_attempts(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for (switch, said) in [
            (&app.faults.blobs, "the blob store cannot be reached (3 attempts)"),
            (&app.faults.extractor, "the extraction worker cannot be reached (3 attempts)"),
            (&app.faults.embedder, "the embedding back end cannot be reached (3 attempts)"),
            (&app.faults.index, "the vector store cannot be reached (3 attempts)"),
        ] {
            app.advance(Duration::from_secs(1));
            let id = ada.add("a.pdf", pdf(&["words"])).await;
            switch.fail_all(FaultKind::Unavailable);
            for _ in 0..3 {
                assert_eq!(app.run_jobs().await, 1);
                app.advance(Duration::from_secs(5));
            }
            assert_eq!(app.run_jobs().await, 0);
            switch.clear();
            let document = ada.document(&id).await;
            assert_eq!((&document["status"], &document["vector_doc_id"]), (&"failed".into(), &Value::Null));
            assert_eq!(reason(&app, &ada.user).await, said);
        }
    }

    async fn a_final_fault_is_not_tried_again(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.faults.embedder.fail_all(FaultKind::Rejected);
        assert_eq!(app.run_jobs().await, 1);
        assert_eq!(ada.document(&id).await["status"], "failed");
        assert_eq!(reason(&app, &ada.user).await, "the embedding back end refused the request (1 attempt)");
    }

    async fn a_running_runner_picks_uploads_up(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let stop = tokio_util::sync::CancellationToken::new();
        let runner = app.runner();
        let running = tokio::spawn({
            let stop = stop.clone();
            async move { runner.run(stop, Duration::from_secs(5)).await }
        });
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        docent_tests::wait::until("ingested", async || ada.document(&id).await["status"] == "ingested").await;
        stop.cancel();
        running.await.unwrap();
    }
}
