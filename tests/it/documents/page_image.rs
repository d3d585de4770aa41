//! `GET /documents/{doc_id}/pages/{page}`

use docent_domain::fault::FaultKind;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;
use std::time::Duration;

rules! {
    async fn page_image_is_a_png(setup) {
        let app = setup.start().await;
        app.leave_jobs();
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one", "two"])).await;
        // An image needs only the file, not the ingestion.
        app.leave_jobs();
        let reply = ada.get(&format!("/documents/{id}/pages/2")).await.expect(200);
        assert!(reply.text.contains("page: 2, size: Width(1000), marked: None"), "{}", reply.text);
        assert_eq!(reply.header("content-type"), "image/png");
        assert_eq!(reply.header("cache-control"), "no-store");
        let reply = ada.get(&format!("/documents/{id}/pages/1?width=300")).await.expect(200);
        assert!(reply.text.contains("page: 1, size: Width(300)"), "{}", reply.text);
    }

    async fn requested_passage_is_highlighted(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["The zebra lives in Africa.", "It eats grass."])).await;
        app.run_jobs().await;
        let found = ada.post("/search", json!({ "query": "zebra" })).await.expect(200).json();
        let passage = found["results"][0]["chunk_id"].as_str().unwrap();
        let marked = |reply: &str| reply.split_once("marked: ").unwrap().1.to_owned();
        let reply = ada.get(&format!("/documents/{id}/pages/2?passage={passage}")).await.expect(200);
        assert!(marked(&reply.text).starts_with("Some(\"It eats grass."), "{}", reply.text);
        let other = "00000000-0000-0000-0000-000000000007";
        let reply = ada.get(&format!("/documents/{id}/pages/2?passage={other}")).await.expect(200);
        assert!(marked(&reply.text).starts_with("None"), "{}", reply.text);
    }

    async fn cached_page_image_is_reused_and_deleted_with_its_document(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let path = format!("/documents/{}/pages/1", ada.add("a.pdf", pdf(&["one"])).await);
        let _ = ada.get(&path).await.expect(200);
        app.faults.extractor.fail_next(1, FaultKind::Unavailable);
        let _ = ada.get(&path).await.expect(200);
        let _ = ada.get(&format!("{path}?width=200")).await.expect(503);
        app.run_jobs().await;
        let _ = ada.delete(path.strip_suffix("/pages/1").unwrap()).await.expect(204);
        ada.get(&path).await.refused(404, "Document not found");
        app.run_jobs().await;
    }

    async fn missing_or_undrawable_page_returns_an_error(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one"])).await;
        ada.get(&format!("/documents/{id}/pages/2")).await.refused(404, "Page not found");
        // The renderer is not asked again within an hour.
        app.faults.extractor.fail_next(1, FaultKind::Unavailable);
        ada.get(&format!("/documents/{id}/pages/2")).await.refused(404, "Page not found");
        app.advance(Duration::from_secs(3600));
        let ada = Member::login(&app, ada.user.clone()).await;
        let _ = ada.get(&format!("/documents/{id}/pages/2")).await.expect(503);
        for page in ["0", "-1", "x", "99999999999"] {
            ada.get(&format!("/documents/{id}/pages/{page}")).await.invalid(&["path.page"]);
        }
        for (query, place) in [("width=99", "query.width"), ("width=3001", "query.width"), ("passage=x", "query.passage")] {
            ada.get(&format!("/documents/{id}/pages/1?{query}")).await.invalid(&[place]);
        }
        let broken = ada.add("b.pdf", b"nothing".to_vec()).await;
        let reply = ada.get(&format!("/documents/{broken}/pages/1")).await.expect(422);
        assert!(reply.json()["detail"].as_str().unwrap().starts_with("This page cannot be drawn: "), "{}", reply.text);
        app.run_jobs().await;
    }
}
