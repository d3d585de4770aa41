//! `GET /documents/{doc_id}`

use docent_tests::rules;
use serde_json::json;

rules! {
    async fn unknown_document_returns_404(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.get("/documents/00000000-0000-0000-0000-000000000000").await.refused(404, "Document not found");
    }

    async fn invalid_id_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for id in ["x", "1", "00000000-0000-0000-0000-00000000000g"] {
            ada.get(&format!("/documents/{id}")).await.invalid(&["path.doc_id"]);
        }
    }

    async fn every_active_account_can_read_every_document(setup) {
        let app = setup.start().await;
        let (ada, bob) = (app.ada().await, app.member("bob@example.org").await);
        let created = ada.post("/documents", json!({ "title": "t" })).await.expect(201).json();
        assert_eq!(bob.document(created["id"].as_str().unwrap()).await, created);
    }
}
