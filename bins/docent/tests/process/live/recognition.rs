//! Scans read by the installed tesseract.

use crate::accounts::objects;
use crate::client::fixture;
use crate::create_account;
use crate::program::{Serving, docent, in_time, run};
use crate::remote::{EMAIL, PASSWORD, log_in, remote};
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

async fn serve(folder: &Path, ocr: &str) -> Serving {
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]).env("DOCENT_OCR", ocr);
    let serving = Serving::start(&mut command).await;
    let (code, error) = log_in(folder, &serving.base, PASSWORD).await;
    assert_eq!(code, Some(0), "{error}");
    serving
}

async fn command(folder: &Path, serving: &Serving, args: &[&str]) -> (Option<i32>, String) {
    let (status, printed, error) = run(&mut remote(folder, &serving.base, args)).await;
    (status.code(), format!("{printed}{error}"))
}

#[tokio::test]
async fn failed_scan_is_retried_and_found_once_tesseract_is_used() {
    let folder = TempDir::new().unwrap();
    let folder = folder.path();
    create_account(folder, EMAIL, PASSWORD).await;
    let serving = serve(folder, "off").await;
    let scan = fixture("scan.pdf");
    let args = ["ingest", "--wait", "--json", scan.to_str().unwrap()];
    let (code, printed) = command(folder, &serving, &args).await;
    assert_eq!(code, Some(1), "{printed}");
    assert!(printed.contains("install the program tesseract"), "{printed}");
    serving.terminate().await;

    let serving = serve(folder, "tesseract").await;
    let (code, printed) =
        command(folder, &serving, &["documents", "retry", "--failed", "no_extractable_text"]).await;
    assert_eq!((code, printed.contains("queued again")), (Some(0), true), "{printed}");
    let id = printed.split_whitespace().next().unwrap().to_owned();
    let report = in_time(async {
        loop {
            let (_, printed) = command(folder, &serving, &["documents", "show", &id, "--json"]).await;
            let report: Value = objects(&printed).remove(0);
            if report["status"] != "pending" {
                return report;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let report = report.await;
    assert_eq!(report["status"], "ingested", "{report}");
    let recognition = &report["coverage"]["recognition"];
    assert!(recognition["recognizer"].as_str().unwrap().starts_with("tesseract "), "{report}");
    assert_eq!(recognition["pages"][0]["page"], json!(1), "{report}");
    assert!(recognition["confidence"].as_f64().unwrap() > 0.5, "{report}");
}

#[tokio::test]
async fn missing_language_data_prevents_the_start() {
    let folder = TempDir::new().unwrap();
    let mut command = docent(folder.path());
    command.args(["dev", "--no-sample"]).env("DOCENT_OCR", "auto").env("DOCENT_OCR_LANGUAGES", "eng+xxx");
    let (status, _, error) = run(&mut command).await;
    assert_eq!(status.code(), Some(1), "{error}");
    assert!(error.contains("DOCENT_OCR_LANGUAGES: tesseract has no data for xxx"), "{error}");
}
