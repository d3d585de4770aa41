//! `GET /documents/{doc_id}/find`

use docent_domain::fault::FaultKind;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use serde_json::json;

rules! {
    async fn text_is_found_on_its_pages(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["The zebra lives.", "No other.", "A ZEBRA\nsleeps."])).await;
        let path = format!("/documents/{id}/find");
        let none = json!({ "hits": [], "total": 0 });
        assert_eq!(ada.get(&format!("{path}?q=zebra")).await.expect(200).json(), none, "it is not ingested yet");
        app.run_jobs().await;
        let found = ada.get(&format!("{path}?q=zebra")).await.expect(200).json();
        let expected = json!([
            { "page": 1, "before": "The ", "text": "zebra", "after": " lives. " },
            { "page": 3, "before": "A ", "text": "ZEBRA", "after": " sleeps. " },
        ]);
        assert_eq!((&found["hits"], &found["total"]), (&expected, &json!(2)));
        let found = ada.get(&format!("{path}?q=zebra%20sleeps")).await.expect(200).json();
        assert_eq!((&found["hits"][0]["page"], &found["total"]), (&json!(3), &json!(1)));
        assert_eq!(ada.get(&format!("{path}?q=giraffe")).await.expect(200).json(), none);
    }

    async fn invalid_text_and_unknown_document_return_an_error(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["one"])).await;
        app.run_jobs().await;
        for query in ["".to_owned(), "?q=%20".to_owned(), format!("?q={}", "x".repeat(201))] {
            ada.get(&format!("/documents/{id}/find{query}")).await.invalid(&["query.q"]);
        }
        let unknown = "/documents/00000000-0000-0000-0000-000000000007/find?q=x";
        ada.get(unknown).await.refused(404, "Document not found");
        app.faults.blobs.fail_all(FaultKind::Unavailable);
        let _ = ada.get(&format!("/documents/{id}/find?q=one")).await.expect(503);
        app.faults.blobs.clear();
    }
}
