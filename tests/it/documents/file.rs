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

    /// The next user of the browser, and an account that has lost its role, find nothing on the disk.
    async fn content_of_documents_is_not_stored_by_browsers(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["The zebra lives in Africa."])).await;
        app.run_jobs().await;
        let found = ada.post("/search", json!({ "query": "zebra" })).await.expect(200).json();
        let passage = found["results"][0]["chunk_id"].as_str().unwrap().to_owned();
        for path in [
            String::new(),
            "/file".to_owned(),
            "/report".to_owned(),
            "/summary".to_owned(),
            "/pages/1".to_owned(),
            format!("/pages/1?width=300&passage={passage}"),
            "/pages/1/text".to_owned(),
            "/pages/1/words".to_owned(),
            "/find?q=zebra".to_owned(),
        ] {
            let reply = ada.get(&format!("/documents/{id}{path}")).await.expect(200);
            assert_eq!(reply.header("cache-control"), "no-store", "{path}");
            assert_eq!((reply.header("etag"), reply.header("last-modified")), ("", ""), "{path}");
        }
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
