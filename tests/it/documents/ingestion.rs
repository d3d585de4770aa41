//! Ingestion of uploads and its retries.

use docent_app::dashboard;
use docent_domain::access::Actor;
use docent_domain::document::DocumentState;
use docent_domain::fault::FaultKind;
use docent_tests::app::TestApp;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::Value;
use std::time::Duration;

/// Returns why the newest failed document failed.
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
    async fn successful_ingestion_sets_vector_doc_id_to_the_document_id(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["some words"])).await;
        app.run_jobs().await;
        let document = ada.document(&id).await;
        assert_eq!((&document["status"], &document["vector_doc_id"]), (&"ingested".into(), &Value::from(id)));
    }

    async fn file_that_is_not_a_pdf_fails_without_vector_doc_id(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", b"this is no PDF".to_vec()).await;
        assert_eq!(app.run_jobs().await, 1, "it is not retried");
        let document = ada.document(&id).await;
        assert_eq!((&document["status"], &document["vector_doc_id"]), (&"failed".into(), &Value::Null));
        assert_eq!(reason(&app, &ada.user).await, "the file is not a PDF");
    }

    async fn upload_without_extractable_text_fails(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("scan.pdf", pdf(&["", ""])).await;
        app.run_jobs().await;
        assert_eq!(ada.document(&id).await["status"], "failed");
        let reason = reason(&app, &ada.user).await;
        assert!(reason.starts_with("no extractable text; ") && reason.contains("tesseract"), "{reason}");
    }

    async fn transient_fault_is_retried(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.faults.index.fail_next(2, FaultKind::Unavailable);
        assert_eq!(app.run_jobs().await, 1);
        assert_eq!(ada.document(&id).await["status"], "pending");
        assert_eq!(app.run_jobs().await, 0, "not immediately");
        for _ in 0..2 {
            app.advance(Duration::from_secs(5));
            assert_eq!(app.run_jobs().await, 1);
        }
        assert_eq!(ada.document(&id).await["status"], "ingested");
    }

    async fn transient_fault_fails_after_three_attempts(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for (switch, kind, expected) in [
            (&app.faults.extractor, FaultKind::Unavailable, "the extraction worker cannot be reached (3 attempts)"),
            (&app.faults.embedder, FaultKind::InvalidResponse, "the embedding back end returned an invalid response (3 attempts)"),
            (&app.faults.index, FaultKind::InvalidResponse, "the vector store returned an invalid response (3 attempts)"),
        ] {
            app.advance(Duration::from_secs(1));
            let id = ada.add("a.pdf", pdf(&["words"])).await;
            switch.fail_next(3, kind);
            for _ in 0..3 {
                assert_eq!(app.run_jobs().await, 1);
                app.advance(Duration::from_secs(5));
            }
            assert_eq!(app.run_jobs().await, 0);
            switch.clear();
            let document = ada.document(&id).await;
            assert_eq!((&document["status"], &document["vector_doc_id"]), (&"failed".into(), &Value::Null));
            assert_eq!(reason(&app, &ada.user).await, expected);
        }
    }

    async fn pending_document_waits_for_an_unavailable_component(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for (switch, expected) in [
            (&app.faults.blobs, "the blob store cannot be reached"),
            (&app.faults.embedder, "the embedding back end cannot be reached"),
            (&app.faults.index, "the vector store cannot be reached"),
        ] {
            app.advance(Duration::from_secs(1));
            let id = ada.add("a.pdf", pdf(&["words"])).await;
            let report = async || ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
            assert_eq!(report().await["waiting"], Value::Null);
            switch.fail_all(FaultKind::Unavailable);
            for _ in 0..3 {
                assert_eq!(app.run_jobs().await, 1);
                app.advance(Duration::from_secs(20));
            }
            let waiting = report().await;
            assert_eq!((&waiting["status"], &waiting["waiting"]["reason"]), (&"pending".into(), &expected.into()));
            assert!(waiting["waiting"]["since"].is_string());
            switch.clear();
            assert_eq!(app.run_jobs().await, 1);
            let report = report().await;
            assert_eq!((&report["status"], &report["waiting"]), (&"ingested".into(), &Value::Null));
        }
    }

    async fn permanent_fault_is_not_retried(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.faults.embedder.fail_all(FaultKind::Rejected);
        assert_eq!(app.run_jobs().await, 1);
        assert_eq!(ada.document(&id).await["status"], "failed");
        assert_eq!(reason(&app, &ada.user).await, "the embedding back end refused the request (1 attempt)");
    }

    async fn running_runner_ingests_new_uploads(setup) {
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
