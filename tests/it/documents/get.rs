//! `GET /documents/{doc_id}`

use docent_tests::rules;
use serde_json::json;

rules! {
    async fn an_unknown_document_is_404(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.get("/documents/00000000-0000-0000-0000-000000000000").await.refused(404, "Document not found");
    }

    async fn an_id_that_is_no_uuid_is_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for id in ["x", "1", "00000000-0000-0000-0000-00000000000g"] {
            ada.get(&format!("/documents/{id}")).await.invalid(&["path.doc_id"]);
        }
    }

    async fn every_active_account_reads_every_document(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let made = ada.post("/documents", json!({ "title": "t" })).await.expect(201).json();
        assert_eq!(bob.document(made["id"].as_str().unwrap()).await, made);
    }
}
