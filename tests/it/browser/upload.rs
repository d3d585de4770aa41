//! Uploads in the web chat.

use super::chat::enter;
use super::inspection::Inspection;
use super::journey;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::json;
use std::time::Duration;

#[tokio::test]
async fn upload_says_where_it_goes_and_which_document_is_equal() {
    journey(async |app, window| {
        let member = Member::login(app, enter(app, window).await).await;
        let file = pdf(&["The zebra lives in Africa."]);
        member.add("Zebras.pdf", file.clone()).await;
        app.run_jobs().await;
        // The oldest document is named.
        app.advance(Duration::from_secs(1));
        let team = member.post("/collections", json!({ "name": "Legal" })).await.expect(201).json();
        window.goto("/chat").await;
        window.find("#documents-list .pill.ingested").await;
        let choose = "const select = document.getElementById('destination');
            select.value = arguments[0];
            select.dispatchEvent(new Event('change'))";
        window.run(choose, vec![team["id"].clone()]).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Copy.pdf");
        std::fs::write(&path, &file).unwrap();
        window.choose("#files", &[&path]).await;
        window.see("Uploaded to Legal. ").await;
        window.see("The same file is already here: Zebras.pdf").await;
        let mut inspection = Inspection::begin(window, "light").await;
        inspection.inspect("chat-upload-duplicate").await;
        app.run_jobs().await;
        window.click("#documents-list .warning .link").await;
        window.find("#source[open]").await;
        assert_eq!(window.texts("#source-title").await, ["Zebras.pdf"]);
        assert!(!window.has(".pill.pending").await || !window.has("#uploads li").await);
        let _ = window.console_errors().await;
        inspection.assert_no_findings();
    })
    .await;
}

#[tokio::test]
async fn failed_upload_can_be_tried_again() {
    journey(async |app, window| {
        enter(app, window).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Zebras.pdf");
        std::fs::write(&path, pdf(&["The zebra lives in Africa."])).unwrap();
        // The module of uploads is loaded already.
        window.press("Choose sources").await;
        window.press("Done").await;
        window.connect(false).await;
        window.choose("#files", &[&path]).await;
        window.see("Zebras.pdf: not uploaded. The service cannot be reached.").await;
        window.connect(true).await;
        window.click("#uploads button").await;
        window.find("#documents-list .pill.pending").await;
        wait::until("the line is gone", async || !window.has("#uploads li").await).await;
        app.run_jobs().await;
        window.find("#documents-list .pill.ingested").await;
    })
    .await;
}

#[tokio::test]
async fn upload_stays_in_the_list_that_was_being_loaded() {
    journey(async |app, window| {
        enter(app, window).await;
        // Holds the response of the list, which lacks the document, until the upload is complete.
        let hold = "const request = window.fetch;
            window.fetch = async (path, options) => {
                const response = await request(path, options);
                if (path.includes('/documents?')) await new Promise((resolve) => { window.release = resolve; });
                return response;
            };";
        window.devtools("Page.enable", json!({})).await;
        window.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": hold })).await;
        window.goto("/chat").await;
        let is_held = "return typeof window.release === 'function'";
        wait::until("the list is held", async || window.run(is_held, vec![]).await == json!(true)).await;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Zebras.pdf");
        std::fs::write(&path, pdf(&["The zebra lives in Africa."])).unwrap();
        window.choose("#files", &[&path]).await;
        wait::until("the file is uploaded", async || {
            app.job_counts().await.queued == 1 && !window.has("#uploads li").await
        })
        .await;
        window.run("window.release()", vec![]).await;
        window.find("#documents-list .pill.pending").await;
        app.run_jobs().await;
        window.find("#documents-list .pill.ingested").await;
        assert_eq!(window.texts("#documents-list .title").await, ["Zebras.pdf"]);
    })
    .await;
}
