//! `GET /documents/{doc_id}/file`

use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn downloaded_file_equals_the_upload(setup) {
        let app = setup.start().await;

        let ada = app.ada().await;
        app.leave_jobs();
        let bytes = pdf(&["a page"]);
        let id = ada.add("Größe \"1\".pdf", bytes.clone()).await;
        let reply = ada.get(&format!("/documents/{id}/file")).await.expect(200);
        assert_eq!(reply.text.as_bytes(), bytes);
        assert_eq!(reply.header("content-type"), "application/pdf");
        assert_eq!(reply.header("content-length"), bytes.len().to_string());
        assert_eq!(reply.header("content-security-policy"), "default-src 'none'; sandbox");
        assert!(reply.header("content-disposition").starts_with("attachment; filename=\"Gr__e _1_.pdf\""));
    }

    async fn document_without_a_file_returns_404(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let bare = ada.post("/documents", json!({ "title": "No file" })).await.expect(201).json();
        let path = format!("/documents/{}/file", bare["id"].as_str().unwrap());
        ada.get(&path).await.refused(404, "Document not found");
        ada.get("/documents/00000000-0000-0000-0000-000000000007/file").await.refused(404, "Document not found");
        ada.get("/documents/seven/file").await.invalid(&["path.doc_id"]);
        app.get(&path).await.refused(401, "Could not validate credentials");
    }
}
