//! `GET /documents/{doc_id}/pages/{page}/words`

use super::recognition::Zebras;
use docent_domain::fault::FaultKind;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn words_of_a_page_have_places(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one", "two"])).await;
        app.run_jobs().await;
        let path = format!("/documents/{id}/pages");
        let words = ada.get(&format!("{path}/2/words")).await.expect(200).json();
        assert_eq!(words, json!({ "lines": [[{ "text": "2", "bounds": [0.1, 0.2, 0.3, 0.25] }]] }));
        ada.get(&format!("{path}/3/words")).await.refused(404, "Page not found");
        ada.get(&format!("{path}/0/words")).await.invalid(&["path.page"]);
        app.faults.extractor.fail_next(1, FaultKind::Unavailable);
        let _ = ada.get(&format!("{path}/2/words")).await.expect(503);
        let broken = ada.add("b.pdf", b"nothing".to_vec()).await;
        let _ = ada.get(&format!("/documents/{broken}/pages/1/words")).await.expect(422);
        app.run_jobs().await;
    }

    async fn words_of_a_scan_are_the_recognised_ones(setup) {
        let app = setup.recognizer(Zebras).start().await;
        let ada = app.ada().await;
        let id = ada.add("scan.pdf", pdf(&[""])).await;
        app.run_jobs().await;
        let words = ada.get(&format!("/documents/{id}/pages/1/words")).await.expect(200).json();
        assert_eq!(words["lines"][0][0]["text"], "Zebras");
    }

    async fn words_count_as_page_images(setup) {
        let app = setup.settings(|settings| settings.account_limits.page_images_per_hour = 1).start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one"])).await;
        app.run_jobs().await;
        let path = format!("/documents/{id}/pages/1/words");
        let _ = ada.get(&path).await.expect(200);
        let reply = ada.get(&path).await.expect(429);
        assert_eq!(reply.json()["code"], "page_images_limit");
    }
}
