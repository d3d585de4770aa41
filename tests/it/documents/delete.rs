//! `DELETE /documents/{doc_id}`

use docent_domain::document::BlobKey;
use docent_domain::fault::FaultKind;
use docent_domain::id::{DocumentId, VersionId};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::{PASSWORD, TestApp};
use docent_tests::browser::Browser;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use docent_tests::wait::until;
use reqwest::Method;
use std::time::Duration;

async fn delete(by: &Member, id: &str) -> Reply {
    by.delete(&format!("/documents/{id}")).await
}

/// Whether chunks, the file, the record or a job of a document exist.
async fn has_remains(app: &TestApp, id: &str) -> bool {
    let id: DocumentId = id.parse().unwrap();
    let chunks = app.app.active_index().await.unwrap().index.count(VersionId::first(id)).await.unwrap();
    let file = app.ports.blobs.open(&BlobKey::of_version(VersionId::first(id))).await.unwrap().is_some();
    let mut view = app.ports.store.read().await.unwrap();
    let record = view.documents().get(id).await.unwrap().is_some()
        || view.documents().deletion(id).await.unwrap().is_some();
    let jobs = view.jobs().of_document(id).await.unwrap();
    chunks > 0 || file || record || !jobs.is_empty()
}

/// Removes a document's record from the database, as a removal recorded too early would.
async fn remove_record(app: &TestApp, id: &str) {
    let mut work = app.ports.store.begin().await.unwrap();
    work.documents().remove_deleted(id.parse().unwrap()).await.unwrap();
    work.commit().await.unwrap();
}

rules! {
    async fn document_can_be_deleted_while_the_database_is_full(setup) {
        let app = setup.always(Turn::saying("done")).start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        app.faults.database.commit.fail_all(FaultKind::Full);
        let _ = ada.upload("b.pdf", pdf(&["more"])).await.expect(507);
        let _ = delete(&ada, &id).await.expect(204);
        ada.get(&format!("/documents/{id}")).await.refused(404, "Document not found");
        app.faults.database.commit.clear();
        app.run_jobs().await;
        assert!(!has_remains(&app, &id).await);
    }

    async fn document_can_be_deleted_in_the_web_chat_while_the_database_is_full(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        let mut browser = Browser::in_chat(&app, "ada@example.org", PASSWORD).await;
        // Long enough for the next request to record the use of the session.
        app.advance(Duration::from_secs(90));
        app.faults.database.commit.fail_all(FaultKind::Full);
        let _ = browser.delete(&format!("/documents/{id}")).await.expect(204);
        app.faults.database.commit.clear();
        app.run_jobs().await;
        assert!(!has_remains(&app, &id).await);
    }

    // Invariant: A deleted document is no longer found from the moment of its deletion.
    async fn deleted_document_disappears_immediately_and_leaves_nothing(setup) {
        let app = setup.always(Turn::saying("done")).start().await;
        let ada = app.ada().await;
        let (gone, kept) = (ada.add("a.pdf", pdf(&["zebras"])).await, ada.add("b.pdf", pdf(&["zebras too"])).await);
        app.run_jobs().await;
        assert_eq!(ada.search("zebras").await.len(), 2);
        let reply = delete(&ada, &gone).await.expect(204);
        assert_eq!(reply.text, "");
        // The removal job has not run yet.
        ada.get(&format!("/documents/{gone}")).await.refused(404, "Document not found");
        let listed = ada.get("/documents").await.expect(200).json();
        assert_eq!(listed.as_array().unwrap().len(), 1);
        assert_eq!(ada.search("zebras").await, std::slice::from_ref(&kept));
        delete(&ada, &gone).await.refused(404, "Document not found");
        assert!(has_remains(&app, &gone).await);
        assert_eq!(app.run_jobs().await, 1);
        assert!(!has_remains(&app, &gone).await);
        assert!(has_remains(&app, &kept).await);
        assert_eq!(ada.search("zebras").await, [kept]);
    }

    async fn record_without_a_file_can_be_deleted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let document = ada.post("/documents", serde_json::json!({ "title": "t" })).await.expect(201).json();
        let id = document["id"].as_str().unwrap();
        let _ = delete(&ada, id).await.expect(204);
        app.run_jobs().await;
        assert!(!has_remains(&app, id).await);
    }

    async fn failed_document_can_be_deleted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", b"no PDF".to_vec()).await;
        app.run_jobs().await;
        let _ = delete(&ada, &id).await.expect(204);
        app.run_jobs().await;
        assert!(!has_remains(&app, &id).await);
    }

    async fn deleted_document_awaiting_ingestion_is_never_ingested(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        let _ = delete(&ada, &id).await.expect(204);
        app.run_jobs().await;
        assert_eq!(app.faults.index.calls(), 2, "only the first look at the store and the removal; no chunk was written");
        assert!(!has_remains(&app, &id).await);
    }

    async fn deletion_cancels_a_running_ingestion_and_leaves_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.faults.stall.begin();
        let running = tokio::spawn({
            let app = app.clone();
            async move { app.run_jobs().await }
        });
        until("the extraction has begun", async || app.faults.extractor.calls() == 1).await;
        let _ = delete(&ada, &id).await.expect(204);
        running.await.unwrap();
        app.faults.stall.end();
        app.advance(Duration::from_secs(1));
        app.run_jobs().await;
        assert!(!has_remains(&app, &id).await);
    }

    async fn deletion_is_retried_until_it_succeeds(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        let _ = delete(&ada, &id).await.expect(204);
        for switch in [&app.faults.index, &app.faults.blobs] {
            switch.fail_all(FaultKind::Unavailable);
            for _ in 0..10 {
                app.run_jobs().await;
                app.advance(Duration::from_secs(60));
            }
            switch.clear();
            assert!(has_remains(&app, &id).await);
        }
        // A permanent fault is retried too, since an operator may repair it.
        app.faults.index.fail_next(1, FaultKind::Rejected);
        app.run_jobs().await;
        app.advance(Duration::from_secs(60));
        app.run_jobs().await;
        assert!(!has_remains(&app, &id).await);
    }


    // Invariant: During an outage of the vector store no deleted document is found; one sweep after it
    // returns removes the rest.
    async fn deletion_during_a_vector_store_outage_hides_the_document_and_is_swept_later(setup) {
        let app = setup.builtin_answerer().start().await;
        let ada = app.ada().await;
        let gone = ada.add("a.pdf", pdf(&["Zebras have stripes."])).await;
        let kept = ada.add("b.pdf", pdf(&["Zebras have manes."])).await;
        app.run_jobs().await;
        assert_eq!(ada.sources("What do zebras have?").await.len(), 2);
        app.faults.index.fail_all(FaultKind::Unavailable);
        let _ = delete(&ada, &gone).await.expect(204);
        app.run_jobs().await;
        assert!(ada.sources("What do zebras have?").await.is_empty(), "nothing can be searched");
        app.faults.index.clear();
        assert!(app.app.active_index().await.unwrap().index.count(gone.parse().unwrap()).await.unwrap() > 0, "its chunks still exist");
        assert_eq!(ada.sources("What do zebras have?").await, std::slice::from_ref(&kept));
        // The removal job and the database record are lost.
        remove_record(&app, &gone).await;
        assert_eq!(ada.sources("What do zebras have?").await, std::slice::from_ref(&kept));
        let swept = app.background().sweep(Duration::ZERO).await.unwrap().expect("no other process sweeps");
        assert!(swept.is_complete());
        assert_eq!(swept.orphan_chunks, 1);
        assert_eq!(app.app.active_index().await.unwrap().index.count(gone.parse().unwrap()).await.unwrap(), 0);
        assert_eq!(ada.sources("What do zebras have?").await, [kept]);
    }

    async fn sweep_completes_a_lost_removal(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        app.faults.index.fail_all(FaultKind::Unavailable);
        let mut work = app.ports.store.begin().await.unwrap();
        work.documents().mark_deleted(id.parse().unwrap(), app.app.now()).await.unwrap();
        work.commit().await.unwrap();
        let swept = app.background().sweep(Duration::ZERO).await.unwrap().unwrap();
        assert!(!swept.is_complete(), "the chunks could not be examined");
        app.run_jobs().await;
        assert_eq!(app.job_counts().await.queued, 1, "the job that it added waits for the vector store");
        app.faults.index.clear();
        app.advance(Duration::from_secs(60));
        app.run_jobs().await;
        assert!(!has_remains(&app, &id).await);
    }

    async fn only_the_uploader_and_superusers_can_delete(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (bob, root) = (app.member("bob@example.org").await, app.superuser().await);
        let (one, two) = (ada.add("a.pdf", pdf(&["a"])).await, ada.add("b.pdf", pdf(&["b"])).await);
        app.run_jobs().await;
        delete(&bob, &one).await.refused(403, "You do not have permission to do this");
        assert_eq!(ada.document(&one).await["status"], "ingested");
        let _ = delete(&ada, &one).await.expect(204);
        let _ = delete(&root, &two).await.expect(204);
        app.run_jobs().await;
        let _ = app.send(app.request(Method::DELETE, &format!("/documents/{one}"))).await.expect(401);
        delete(&ada, "nonsense").await.invalid(&["path.doc_id"]);
        delete(&ada, "0190b1e2-0000-7000-8000-000000000000").await.refused(404, "Document not found");
    }

    async fn deletion_that_cannot_be_recorded_deletes_nothing(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.run_jobs().await;
        app.faults.database.commit.fail_next(1, FaultKind::Unavailable);
        let _ = delete(&ada, &id).await.expect(503);
        assert_eq!(ada.document(&id).await["status"], "ingested");
        assert_eq!(ada.search("zebras").await, [id]);
    }
}
