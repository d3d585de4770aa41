//! Documents in the panel, from upload to deletion.

use super::{journey, superuser, superuser_journey};
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::pdf::pdf;
use serde_json::json;
use std::path::PathBuf;
use tempfile::TempDir;

/// Writes PDFs of one page each to a temporary folder.
pub(super) fn files(names: &[&str]) -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &&str| {
        let path = folder.path().join(name);
        std::fs::write(&path, pdf(&["The zebra lives in Africa."])).unwrap();
        path
    };
    let paths = names.iter().map(write).collect();
    (folder, paths)
}

/// Selects all documents in the list and deletes them.
async fn delete_all(app: &TestApp, window: &Chromium, count: usize) {
    window.goto("/admin/documents").await;
    assert!(!window.find("thead").await.text().await.unwrap().is_empty());
    window.click("thead input[type=checkbox]").await;
    window.see(&format!("{count} selected")).await;
    confirm_deletion(app, window, count).await;
}

async fn confirm_deletion(app: &TestApp, window: &Chromium, count: usize) {
    window.press("Delete…").await;
    window.fill("word", "delete").await;
    window.press(&format!("Delete {count}")).await;
    window.see(&format!("Deleted {count} documents.")).await;
    window.see("No documents yet.").await;
    app.run_jobs().await;
}

#[tokio::test]
async fn upload_is_tracked_to_ingestion_and_deleted() {
    superuser_journey(async |app, window| {
        let (_folder, paths) = files(&["Zebras.pdf", "Lions.pdf"]);
        app.faults.stall.begin();
        window.goto("/admin/documents/upload").await;
        window.choose("#file", &[&paths[0], &paths[1]]).await;
        window.press("Upload").await;
        window.find("[data-upload-list] > li:nth-child(2) .stages").await;
        assert_eq!(window.texts("[data-upload-list] > li:nth-child(2) .current").await, ["Queue"]);

        let service = app.clone();
        let jobs = tokio::spawn(async move { service.run_jobs().await });
        window.find("[data-upload-list] .done").await;
        assert_eq!(
            window.texts("[data-upload-list] > li:has(.done) .stages li").await,
            ["Queue\ndone", "Extract", "Chunk", "Embed", "Index"]
        );
        window.press("Zebras.pdf").await;
        window.see("No extraction result yet.").await;
        app.faults.stall.end();
        assert_eq!(jobs.await.unwrap(), 2);

        // The page updates without a reload.
        window.see("Last attempt").await;
        assert_eq!(window.texts("[data-status]").await, ["Ready"]);
        window.see("1, 1 with text").await;
        window.press("Chunks").await;
        window.see("The zebra lives in Africa.").await;
        delete_all(app, window, 2).await;
    })
    .await;
}

#[tokio::test]
async fn refused_and_failed_files_show_the_reason() {
    superuser_journey(async |app, window| {
        let (folder, _) = files(&[]);
        let (text, broken) = (folder.path().join("notes.txt"), folder.path().join("broken.pdf"));
        std::fs::write(&text, "text").unwrap();
        std::fs::write(&broken, "no pdf").unwrap();
        window.goto("/admin/documents/upload").await;
        window.choose("#file", &[&text, &broken]).await;
        window.press("Upload").await;
        let is_above = "return document.querySelector('[data-upload-list]').getBoundingClientRect().top \
                        < document.querySelector('[data-upload]').getBoundingClientRect().top";
        window.find("[data-upload-list] li").await;
        assert_eq!(window.run(is_above, vec![]).await, serde_json::json!(true), "the report is in view");
        window
            .see("notes.txt: not uploaded. Only PDF files are supported. The setting DOCENT_UPLOAD_TYPES")
            .await;
        window.find("[data-upload-list] .stages").await;
        app.run_jobs().await;
        window.see("broken.pdf Failed the file is not a PDF").await;
    })
    .await;
}

#[tokio::test]
async fn documents_can_be_managed_without_scripts() {
    journey(async |app, window| {
        window.devtools("Emulation.setScriptExecutionDisabled", json!({ "value": true })).await;
        superuser(app, window).await;
        let (_folder, paths) = files(&["Zebras.pdf", "Lions.pdf"]);
        window.goto("/admin/documents/upload").await;
        window.choose("#file", &[&paths[0], &paths[1]]).await;
        window.press("Upload").await;
        window.see("Uploaded 2 documents.").await;
        window.press("Lions.pdf").await;
        window.see("Reload this page to see the progress.").await;
        app.run_jobs().await;
        window.goto("/admin/documents?status=ingested").await;
        for n in [1, 2] {
            window.click(&format!("tbody tr:nth-child({n}) input")).await;
        }
        confirm_deletion(app, window, 2).await;
    })
    .await;
}

#[tokio::test]
async fn id_is_shortened_and_copied_in_full() {
    superuser_journey(async |app, window| {
        let document = app.ada().await.post("/documents", json!({ "title": "t" })).await.expect(201).json();
        let id = document["id"].as_str().unwrap();
        let permissions = json!({ "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"] });
        window.devtools("Browser.grantPermissions", permissions).await;
        for page in ["/admin/documents".to_owned(), format!("/admin/documents/{id}")] {
            window.goto(&page).await;
            assert_eq!(window.texts("code[data-id]").await[0], id[28..]);
            window.click("button.copy").await;
            window.find("button.copy[aria-label=Copied]").await;
            let copied = window.run_async("navigator.clipboard.readText().then(arguments[0])", vec![]).await;
            assert_eq!(copied, json!(id), "{page}");
        }
    })
    .await;
}
