//! `GET /documents/{doc_id}/report`

use async_trait::async_trait;
use docent_app::settings::Settings;
use docent_domain::chunk::ChunkSize;
use docent_domain::fault::{FaultKind, Result};
use docent_domain::recognition::{Languages, RecognizedPage};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use docent_testkit::fakes::page_renderer::fake_scan;
use docent_testkit::fakes::text_recognizer::read_scan;
use docent_tests::pdf::pdf;
use docent_tests::{rules, wait};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::Notify;

/// A recognizer that waits until it is released.
struct Stalled(Arc<Notify>);

#[async_trait]
impl TextRecognizer for Stalled {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        self.0.notified().await;
        read_scan(&fake_scan("Zebras graze"), scan.languages)
    }

    async fn check(&self, _languages: &Languages) -> Result<()> {
        Ok(())
    }

    fn name(&self) -> &'static str {
        "stalled 1"
    }
}

rules! {
    async fn report_shows_coverage_and_ingestion_statistics(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["some words", "", "more"])).await;
        app.run_jobs().await;
        let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
        assert_eq!((&report["id"], &report["status"]), (&Value::from(id), &"ingested".into()));
        let coverage = &report["coverage"];
        assert_eq!(coverage["pages"], 3);
        assert_eq!(coverage["pages_with_text"], 2);
        assert_eq!(coverage["pages_without_text"], json!([2]));
        assert_eq!((&coverage["pages_unreliable"], &coverage["pages_truncated"]), (&json!([]), &json!([])));
        assert!(coverage["characters"].as_u64().unwrap() >= 14 && coverage["chunks"] == 1, "{coverage}");
        assert!(coverage["tokens"].as_u64().unwrap() >= 3, "{coverage}");
        assert_eq!((&report["effort"]["extractor"], &report["effort"]["attempts"]), (&"plain".into(), &1.into()));
        for stage in ["extract", "chunk", "embed", "index"] {
            assert!(report["effort"]["seconds"][stage].as_f64().unwrap() >= 0.0, "{report}");
        }
        assert_eq!(report["warnings"], json!(["1 of 3 pages: no text (blank, or a picture of text)"]));
        assert_eq!(report["failure"], Value::Null);
    }

    async fn report_before_ingestion_is_empty(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["some words"])).await;
        let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
        let expected = json!({
            "id": id, "status": "pending", "coverage": null, "effort": null, "failure": null, "waiting": null, "progress": null, "warnings": [],
            "owner_id": ada.user.id.to_string(), "owner_email": "ada@example.org", "owner_name": null, "is_own": true, "can_change": true,
            "can_delete": true, "collection_ids": ["00000000-0000-0000-0000-000000000001"], "attributes": {}, "version": 1,
            "file": { "name": "a.pdf", "bytes": report["file"]["bytes"], "sha256": report["file"]["sha256"], "type": "pdf" },
            "replacement": null, "duplicate_of": null,
        });
        assert_eq!(report["file"]["sha256"].as_str().unwrap().len(), 64);
        assert_eq!(report, expected);
        app.leave_jobs();
    }

    async fn report_during_ingestion_has_the_stage_and_pages(setup) {
        let released = Arc::new(Notify::new());
        let recognizer = Stalled(Arc::clone(&released));
        let app = setup.recognizer(recognizer).start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["some words", "", "more"])).await;
        let path = format!("/documents/{id}/report");
        assert_eq!(ada.get(&path).await.expect(200).json()["progress"], Value::Null);
        app.faults.stall.begin();
        let service = app.clone();
        let jobs = tokio::spawn(async move { service.run_jobs().await });
        let shows = async |expected: Value| {
            wait::until(&expected.to_string(), async || ada.get(&path).await.expect(200).json()["progress"] == expected).await;
        };
        shows(json!({ "stage": "extract", "page": null, "pages": null })).await;
        app.faults.stall.end();
        shows(json!({ "stage": "recognize", "page": 2, "pages": 3 })).await;
        released.notify_one();
        assert_eq!(jobs.await.unwrap(), 1);
        assert_eq!(ada.get(&path).await.expect(200).json()["progress"], Value::Null);
    }

    async fn report_of_a_failed_document_has_code_and_reason(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let (scan, refused) = (ada.add("s.pdf", pdf(&["", ""])).await, ada.add("a.pdf", pdf(&["words"])).await);
        app.run_jobs().await;
        let report = ada.get(&format!("/documents/{scan}/report")).await.expect(200).json();
        assert_eq!(report["failure"]["code"], "no_extractable_text");
        let reason = report["failure"]["reason"].as_str().unwrap();
        assert!(reason.starts_with("no extractable text; text recognition is not set up: install"), "{reason}");
        assert_eq!(report["coverage"]["pages_without_text"], json!([1, 2]));
        assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
        let report = ada.get(&format!("/documents/{refused}/report")).await.expect(200).json();
        assert_eq!(report["failure"], Value::Null);
    }

    async fn empty_file_fails_without_advice_about_scans(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("empty.pdf", Vec::new()).await;
        app.run_jobs().await;
        let failure = ada.get(&format!("/documents/{id}/report")).await.expect(200).json()["failure"].clone();
        assert_eq!((&failure["code"], &failure["reason"]), (&json!("empty_file"), &json!("the file is empty")));
        let advice = failure["advice"].as_str().unwrap();
        assert!(!advice.contains("scan") && !advice.contains("recognition"), "{advice}");
    }

    async fn report_counts_all_attempts(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        let id = ada.add("a.pdf", pdf(&["words"])).await;
        app.faults.index.fail_next(1, FaultKind::InvalidResponse);
        for _ in 0..2 {
            app.run_jobs().await;
            app.advance(std::time::Duration::from_secs(5));
        }
        let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
        assert_eq!((&report["status"], &report["effort"]["attempts"]), (&"ingested".into(), &2.into()));
    }

    async fn report_keeps_page_coverage_when_a_later_stage_fails(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        for switch in [&app.faults.embedder, &app.faults.index] {
            let id = ada.add("a.pdf", pdf(&["some words", ""])).await;
            switch.fail_next(1, FaultKind::Internal);
            app.run_jobs().await;
            let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
            assert_eq!(report["status"], "failed");
            let coverage = &report["coverage"];
            assert_eq!((&coverage["pages"], &coverage["pages_without_text"]), (&json!(2), &json!([2])), "{report}");
            assert_eq!(coverage["chunks"], 1);
        }
    }

    async fn exceeded_limits_have_their_own_failure_codes(setup) {
        let limits = |settings: &mut Settings| {
            settings.max_characters = 2000;
            settings.max_chunks = 2;
            settings.chunk_size = ChunkSize { tokens: 32, overlap: 0 };
        };
        let app = setup.settings(limits).start().await;
        let ada = app.ada().await;
        let words = |n: usize| (0..n).map(|n| format!("word{n} ")).collect::<String>();
        for (text, code) in [(words(400), "too_much_text"), (words(150), "too_many_chunks")] {
            let id = ada.add("a.pdf", pdf(&[text.as_str()])).await;
            app.run_jobs().await;
            let report = ada.get(&format!("/documents/{id}/report")).await.expect(200).json();
            assert_eq!(report["failure"]["code"], code);
            assert!(ada.search("word1").await.is_empty());
        }
    }

    async fn report_of_an_unknown_document_returns_404(setup) {
        let app = setup.start().await;
        let ada = app.ada().await;
        ada.get("/documents/0190b1e2-0000-7000-8000-000000000000/report").await.refused(404, "Document not found");
        ada.get("/documents/x/report").await.invalid(&["path.doc_id"]);
        let _ = app.get("/documents/0190b1e2-0000-7000-8000-000000000000/report").await.expect(401);
    }
}
