//! Documents whose text was recognised on images of their pages.

use async_trait::async_trait;
use docent_domain::fault::Result;
use docent_domain::recognition::{Languages, RecognizedPage};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use docent_testkit::fakes::page_renderer::fake_scan;
use docent_testkit::fakes::text_recognizer::read_scan;
use docent_tests::pdf::pdf;
use docent_tests::rules;
use reqwest::Method;
use serde_json::{Value, json};

/// Reads the same text on every page.
pub(crate) struct Zebras;

#[async_trait]
impl TextRecognizer for Zebras {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        read_scan(&fake_scan("Zebras graze\nin Africa"), scan.languages)
    }

    async fn check(&self, _languages: &Languages) -> Result<()> {
        Ok(())
    }

    fn name(&self) -> &'static str {
        "zebras 1"
    }
}

rules! {
    async fn report_names_recognised_pages_with_recognizer_and_confidence(setup) {
        let app = setup.recognizer(Zebras).start().await;
        let ada = app.ada().await;
        let id = ada.add("scan.pdf", pdf(&["printed words", ""])).await;
        app.run_jobs().await;
        let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
        assert_eq!((&report["status"], &report["coverage"]["pages_with_text"]), (&json!("ingested"), &json!(2)));
        let expected = json!({
            "recognizer": "zebras 1 (eng)", "confidence": 0.9,
            "pages": [{ "page": 2, "confidence": 0.9 }], "picture_pages": [], "failed_pages": [],
        });
        assert_eq!(report["coverage"]["recognition"], expected);
        assert_eq!(report["warnings"], json!(["1 of 2 pages: recognised text, which may contain errors"]));
    }

    async fn sources_of_recognised_pages_say_so(setup) {
        let app = setup.recognizer(Zebras).builtin_answerer().start().await;
        let ada = app.ada().await;
        ada.add("scan.pdf", pdf(&[""])).await;
        ada.add("printed.pdf", pdf(&["Lions hunt."])).await;
        app.run_jobs().await;
        let recognized = async |query: &str| {
            let found = ada.post("/search", json!({ "query": query })).await.expect(200).json();
            found["results"][0].get("recognized").cloned()
        };
        assert_eq!(recognized("zebras").await, Some(Value::Bool(true)));
        assert_eq!(recognized("lions").await, None);
        let body = json!({
            "messages": [{ "role": "user", "content": "Where do zebras graze?" }], "include_sources": true,
        });
        let stream = ada.post("/agents/chat", body).await.expect(200).text;
        let sources = stream.split("event: sources").nth(1).unwrap();
        assert!(sources.contains("\"recognized\":true"), "{stream}");
    }

    async fn passage_is_highlighted_where_its_words_were_recognised(setup) {
        let app = setup.recognizer(Zebras).start().await;
        let ada = app.ada().await;
        let id = ada.add("scan.pdf", pdf(&["Lions hunt zebras.", ""])).await;
        app.run_jobs().await;
        let found = ada.post("/search", json!({ "query": "zebras graze" })).await.expect(200).json();
        let passage = found["results"][0]["chunk_id"].as_str().unwrap();
        let image = async |page: u32| {
            ada.get(&format!("/documents/{id}/pages/{page}?passage={passage}")).await.expect(200).text
        };
        let scan = image(2).await;
        assert!(scan.contains("marked: Some(\"Zebras graze") && scan.contains("recognized: Some(RecognizedPage"), "{scan}");
        let printed = image(1).await;
        assert!(printed.contains("marked: Some(\"Lions") && printed.contains("recognized: None"), "{printed}");
    }

    async fn ready_says_whether_text_is_recognised_and_by_what(setup) {
        let app = setup.recognizer(Zebras).metrics(Some("a metrics token")).start().await;
        let body = app.get("/health/ready").await.expect(200).json();
        assert_eq!((&body["text_recognition"], &body["checks"]["text_recognizer"]), (&json!(true), &json!("ok")));
        assert_eq!(body.get("text_recognizer"), None, "versions are shown to staff and with the metrics token");
        let request = app.request(Method::GET, "/health/ready").bearer_auth("a metrics token");
        let body = app.send(request).await.expect(200).json();
        assert_eq!(body["text_recognizer"], "zebras 1 (eng)");
    }
}
