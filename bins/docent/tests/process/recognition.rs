//! Text recognition: detection of the program tesseract, which a script replaces, and what becomes of recognised pages.

use crate::client::{Client, fixture};
use crate::create_account;
use crate::program::{Serving, docent, in_time, run};
use docent_testkit::script::script;
use docent_testkit::wire::{FakeLlm, Reply};
use serde_json::{Value, json};
use std::path::Path;
use tempfile::TempDir;
use tokio::process::Command;

/// `docent dev` with a program tesseract that answers once the file `gate` exists.
fn dev(folder: &Path) -> Command {
    let programs = folder.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let commands = format!(
        "while [ ! -e '{}' ]; do sleep 0.02; done\n\
         case $1 in --version) echo tesseract 5.9;; *) printf 'List of languages\\neng\\n';; esac\n",
        folder.join("gate").display()
    );
    script(&programs.join("tesseract"), &commands);
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]).env("DOCENT_OCR", "auto").env("PATH", &programs);
    command
}

// Invariant: Neither the start nor requests wait for the detection of a text recognizer, and no scan fails
// before its end.
#[tokio::test]
async fn start_does_not_wait_for_tesseract() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let serving = Serving::start(&mut dev(folder.path())).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    assert_eq!(client.get("/documents").await, json!([]));
    std::fs::write(folder.path().join("gate"), "").unwrap();
    let health = in_time(client.get("/health/ready")).await;
    assert_eq!(health["text_recognition"], json!(true), "{health}");
    assert_eq!(health["checks"]["text_recognizer"], json!("ok"), "{health}");
}

#[tokio::test]
async fn language_without_data_ends_the_process() {
    let folder = TempDir::new().unwrap();
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    std::fs::write(folder.path().join("gate"), "").unwrap();
    let (status, _, error) = run(dev(folder.path()).env("DOCENT_OCR_LANGUAGES", "deu")).await;
    assert!(!status.success());
    assert!(error.contains("DOCENT_OCR_LANGUAGES: tesseract has no data for deu"), "{error}");
}

/// `docent dev` with a recognition service, or without one.
async fn serve(folder: &Path, recognition: &str) -> (Serving, Client) {
    let mut command = docent(folder);
    command.args(["dev", "--no-sample"]).env("DOCENT_OCR", recognition).env("DOCENT_UPLOAD_TYPES", "all");
    let serving = Serving::start(&mut command).await;
    let client = Client::log_in(&serving, "ada@example.org", "correct horse").await;
    (serving, client)
}

/// What clients see of the pages of a document: the coverage, and the best passage for a word.
async fn pages_of(client: &Client, id: &str) -> Value {
    assert!(client.settled().await.iter().all(|(_, status)| status == "ingested"));
    let report = client.get(&format!("/documents/{id}/report")).await;
    let body = json!({ "query": "zebras", "document_ids": [id] });
    let request = client.http.post(format!("{}/search", client.base)).bearer_auth(&client.token);
    let found: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
    let passage = |field: &str| found["results"][0].get(field).cloned();
    json!({
        "coverage": report["coverage"], "warnings": report["warnings"],
        "passage": [passage("text"), passage("label"), passage("recognized"), passage("page_start")],
    })
}

#[tokio::test]
async fn labels_of_pages_survive_equal_files_restarts_and_backups() {
    let (folder, service) = (TempDir::new().unwrap(), FakeLlm::start().await);
    create_account(folder.path(), "ada@example.org", "correct horse").await;
    let word = |text: &str| json!({ "text": text, "box": [100, 100, 300, 140], "confidence": 0.9 });
    let words: Vec<Value> = ["Zebras", "graze", "in", "the", "morning."].map(word).to_vec();
    let page = json!({ "width": 1000, "height": 1400, "lines": [{ "paragraph": true, "words": words }] });
    service.script(Reply::json(200, page.to_string()));
    let text = folder.path().join("animals.md");
    std::fs::write(&text, "# Animals\n## Africa\nZebras graze by day.\n").unwrap();

    let url = format!("http://{}/recognize", service.address());
    let (serving, client) = serve(folder.path(), &url).await;
    let mut seen = Vec::new();
    for file in [fixture("scan.pdf"), text] {
        let id = client.upload(&file).await;
        let first = pages_of(&client, &id).await;
        // An equal file is read from the cache of extractions.
        let copy = client.upload(&file).await;
        assert_eq!(pages_of(&client, &copy).await, first);
        seen.extend([(id, first.clone()), (copy, first)]);
    }
    assert_eq!(service.requests().len(), 1, "the page was recognised once");
    let (scan, text) = (&seen[0].1, &seen[2].1);
    assert_eq!(scan["coverage"]["recognition"]["pages"], json!([{ "page": 1, "confidence": 0.9 }]));
    assert_eq!(scan["warnings"], json!(["1 of 1 pages: recognised text, which may contain errors"]));
    assert_eq!(scan["passage"], json!(["Zebras graze in the morning.", null, true, 1]));
    assert_eq!(text["passage"][1], "Animals › Africa");
    assert_eq!(text["passage"][2], Value::Null);
    serving.terminate().await;

    let (file, other) = (folder.path().join("a.tar.gz"), TempDir::new().unwrap());
    for (folder, command) in [(&folder, "backup"), (&other, "restore")] {
        let (status, _, error) = run(docent(folder.path()).args([command, "--dev"]).arg(&file)).await;
        assert!(status.success(), "{command}: {error}");
    }
    // Without recognition, so that the labels can only be those that were stored.
    for folder in [&folder, &other] {
        let (serving, client) = serve(folder.path(), "off").await;
        for (id, expected) in &seen {
            assert_eq!(pages_of(&client, id).await, *expected);
        }
        serving.terminate().await;
    }
}
