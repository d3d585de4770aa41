//! What an empty conversation shows: the first steps, and suggested questions.

use super::chat::{animals, enter, renderer};
use super::inspection::Inspection;
use super::journey_with;
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::chromium::Chromium;
use docent_tests::member::Member;
use docent_tests::pdf::pdf;
use docent_tests::wait;
use serde_json::json;

/// The number of the step that is marked as the next one.
async fn next_step(window: &Chromium) -> serde_json::Value {
    let step = "const steps = [...document.querySelectorAll('.first-steps li')];
        return steps.findIndex((step) => step.getAttribute('aria-current') === 'step') + 1";
    window.run(step, vec![]).await
}

async fn first_visit(scheme: &'static str) {
    journey_with(
        |setup| setup.renderer(renderer()),
        async |app, window| {
            let mut inspection = Inspection::begin(window, scheme).await;
            enter(app, window).await;
            window.find(".first-steps").await;
            assert_eq!(
                window.texts(".first-steps h3").await,
                ["Upload a PDF", "Ask a question", "Check the source on its page"]
            );
            assert_eq!(next_step(window).await, json!(1));
            inspection.inspect("chat-first-steps").await;
            // The button opens the file dialog of the upload.
            let capture = "document.getElementById('files').addEventListener('click', (event) => {
                event.preventDefault();
                window.isOpened = true;
            }, { once: true })";
            window.run(capture, vec![]).await;
            window.click(".first-steps button").await;
            assert_eq!(window.run("return window.isOpened", vec![]).await, json!(true));

            app.faults.stall.begin();
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("Animals.pdf");
            std::fs::write(&path, animals()).unwrap();
            window.choose("#files", &[&path]).await;
            window.see("Animals.pdf: Waiting to be processed.").await;
            assert_eq!(
                window.texts(".first-steps li:first-child p").await,
                ["Animals.pdf: Waiting to be processed."]
            );
            assert_eq!(next_step(window).await, json!(1));
            let service = app.clone();
            let jobs = tokio::spawn(async move { service.run_jobs().await });
            window.see("Animals.pdf: Reading the text.").await;
            assert_eq!(window.texts("#documents-list .pill").await, ["Processing"]);
            inspection.inspect("chat-first-steps-processing").await;
            app.faults.stall.end();
            jobs.await.unwrap();
            wait::until("the document is ready", async || window.has("#documents-list .pill.ingested").await)
                .await;
            wait::until("the steps are gone", async || !window.has(".first-steps").await).await;
            inspection.assert_no_findings();
        },
    )
    .await;
}

#[tokio::test]
async fn first_visit_shows_the_next_step_in_light() {
    first_visit("light").await;
}

#[tokio::test]
async fn first_visit_shows_the_next_step_in_dark() {
    first_visit("dark").await;
}

const PUMP: [&str; 2] = [
    "This manual describes the pump P9, which moves clean water in houses and gardens.",
    "SAFETY AND USE\nWear gloves for your safety whenever you use this machine.",
];

#[tokio::test]
async fn suggested_questions_come_from_readable_documents_and_are_asked() {
    let answer = [Turn::searching("winter"), Turn::saying("Empty it.")];
    journey_with(
        |setup| setup.script(answer),
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            member.add("Zebras.pdf", pdf(&["The zebra lives in Africa."])).await;
            app.advance(std::time::Duration::from_secs(1));
            member.add("Pump manual.pdf", pdf(&PUMP)).await;
            app.run_jobs().await;
            let mut inspection = Inspection::begin(window, "light").await;
            window.goto("/chat").await;
            window.see("Suggested questions").await;
            let suggested = window.texts(".suggestion").await;
            let expected = [
                "What does the document say about Safety and Use?\nPump manual.pdf",
                "What is this document about?\nZebras.pdf",
            ];
            assert_eq!(suggested, expected);
            assert!(app.model.requests().is_empty(), "no model is called for them");
            inspection.inspect("chat-suggestions").await;

            window.click(".suggestion").await;
            window.see("Empty it.").await;
            let question = suggested[0].split('\n').next().unwrap();
            assert_eq!(window.texts(".question").await, [question]);
            assert_eq!(window.texts("#chosen bdi").await, ["Pump manual.pdf"]);
            // An empty conversation shows them again.
            window.see("Ask again").await;
            window.press("New conversation").await;
            window.find(".suggestion").await;
            assert_eq!(window.texts(".suggestion").await, suggested);
            inspection.assert_no_findings();
        },
    )
    .await;
}

#[tokio::test]
async fn empty_lists_say_what_to_do_next() {
    journey_with(
        |setup| setup,
        async |app, window| {
            let member = Member::login(app, enter(app, window).await).await;
            window.see("No documents yet. Upload a PDF to start.").await;
            window.see("No conversations yet. Ask a question, and it appears here.").await;
            member.add("Pump manual.pdf", pdf(&PUMP)).await;
            app.run_jobs().await;
            window.fill("documents-search", "valve").await;
            window.see("No matching documents. Search for another part of the title.").await;
            window.press("Choose sources").await;
            window.fill("picker-search", "valve").await;
            window.see("No matching collections. Search for another part of the name.").await;
            window.see("No matching documents. Search for another part of the name.").await;
            assert_eq!(window.console_errors().await, Vec::<String>::new());
        },
    )
    .await;
}
