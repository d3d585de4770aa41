//! `POST /documents`

use docent_tests::rules;
use reqwest::Method;
use serde_json::json;

rules! {
    async fn create_returns_a_pending_document(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let body = ada.post("/documents", json!({ "title": "  Annual report " })).await.expect(201).json();
        let id = body["id"].as_str().unwrap();
        assert_eq!(id.len(), 36);
        let expected = json!({ "id": id, "title": "Annual report", "status": "pending", "vector_doc_id": null });
        assert_eq!(body, expected);
        assert_eq!(ada.document(id).await, expected);
    }

    async fn create_starts_no_ingestion(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let _ = ada.post("/documents", json!({ "title": "t" })).await.expect(201);
        assert_eq!(app.run_jobs().await, 0);
    }

    async fn title_must_have_1_to_500_characters(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let title = "ä".repeat(500);
        let body = ada.post("/documents", json!({ "title": title })).await.expect(201).json();
        assert_eq!(body["title"], title);
        for wrong in ["", "  ", &"ä".repeat(501), "a\u{0}b"] {
            ada.post("/documents", json!({ "title": wrong })).await.invalid(&["body.title"]);
        }
    }

    async fn malformed_body_returns_422(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.post("/documents", json!({})).await.invalid(&["body.title"]);
        ada.post("/documents", json!({ "title": 5 })).await.invalid(&["body.title"]);
        ada.post("/documents", json!(["title"])).await.invalid(&["body"]);
        app.send(ada.request(Method::POST, "/documents").body("{\"title\": ")).await.invalid(&["body"]);
        app.send(ada.request(Method::POST, "/documents")).await.invalid(&["body"]);
    }

    async fn json_body_without_content_type_is_accepted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let request = ada.request(Method::POST, "/documents").body("{\"title\": \"t\"}");
        let _ = app.send(request).await.expect(201);
    }
}
