//! `POST /documents/{doc_id}/retry`

use docent_domain::fault::FaultKind;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::reply::Reply;
use docent_tests::rules;
use serde_json::{Value, json};
use std::time::Duration;

async fn retry(by: &Member, id: &str) -> Reply {
    by.post(&format!("/documents/{id}/retry"), json!({})).await
}

rules! {
    async fn retry_ingests_a_failed_document_from_its_stored_file(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.faults.embedder.fail_next(1, FaultKind::Rejected);
        app.run_jobs().await;
        assert_eq!(ada.document(&id).await["status"], "failed");
        let document = retry(&ada, &id).await.expect(202).json();
        let expected = json!({ "id": id, "title": "a.pdf", "status": "pending", "vector_doc_id": null });
        assert_eq!(document, expected);
        app.run_jobs().await;
        let document = ada.document(&id).await;
        assert_eq!((&document["status"], &document["vector_doc_id"]), (&"ingested".into(), &Value::from(id.clone())));
        assert_eq!(ada.search("zebras").await, [id]);
    }

    async fn retry_starts_with_all_attempts(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        app.faults.index.fail_next(5, FaultKind::InvalidResponse);
        for _ in 0..3 {
            app.run_jobs().await;
            app.advance(Duration::from_secs(5));
        }
        assert_eq!(ada.document(&id).await["status"], "failed");
        let _ = retry(&ada, &id).await.expect(202);
        for _ in 0..3 {
            app.run_jobs().await;
            app.advance(Duration::from_secs(5));
        }
        assert_eq!(ada.document(&id).await["status"], "ingested");
    }

    async fn retry_in_any_other_status_returns_409(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["zebras"])).await;
        let conflict = |state| format!("Only a failed document can be retried; this one is {state}");
        retry(&ada, &id).await.refused(409, &conflict("pending"));
        app.run_jobs().await;
        retry(&ada, &id).await.refused(409, &conflict("ingested"));
        assert_eq!(app.run_jobs().await, 0, "no ingestion was started");
    }

    async fn concurrent_retries_start_one_ingestion(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", b"no PDF".to_vec()).await;
        app.run_jobs().await;
        let (one, other) = tokio::join!(retry(&ada, &id), retry(&ada, &id));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [202, 409]);
        assert_eq!(app.run_jobs().await, 1);
    }

    async fn only_the_uploader_and_superusers_can_retry(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (bob, root) = (app.member("bob@example.org").await, app.superuser().await);
        let id = ada.add("a.pdf", b"no PDF".to_vec()).await;
        app.run_jobs().await;
        retry(&bob, &id).await.refused(403, "You do not have permission to do this");
        for by in [&ada, &root] {
            let _ = retry(by, &id).await.expect(202);
            app.run_jobs().await;
        }
        retry(&ada, "0190b1e2-0000-7000-8000-000000000000").await.refused(404, "Document not found");
        let _ = app.post(&format!("/documents/{id}/retry"), json!({})).await.expect(401);
    }
}
