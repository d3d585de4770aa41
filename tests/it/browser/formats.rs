//! Files of other types than PDF in the web chat.

use super::chat::{ADA, ask, enter};
use super::german::{prefer_german, sign_in};
use super::journey_with;
use docent_app::accounts::create::Flags;
use docent_domain::file_type::{FileType, FileTypes};
use docent_extraction::{ExtractionLimits, WorkerExtractor};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::files::file;
use docent_tests::setup::Setup;
use std::time::Duration;

const HEADING: &str = "Zebra care";

/// Each type with the label of the page that its source opens.
const FORMATS: [(FileType, &str); 10] = [
    (FileType::Docx, HEADING),
    (FileType::Pptx, "Slide 1"),
    (FileType::Xlsx, "Animals!A1:B2"),
    (FileType::Odt, HEADING),
    (FileType::Html, HEADING),
    (FileType::Markdown, HEADING),
    (FileType::Text, "Lines 1–2"),
    (FileType::Csv, "Rows 1–2"),
    (FileType::Eml, "Message"),
    (FileType::Epub, HEADING),
];

/// A word that only the file of this type has.
fn word(of: FileType) -> String {
    format!("okapi{}", of.as_str())
}

/// Reads files as the service does.
fn extractor() -> WorkerExtractor {
    let worker = env!("CARGO_BIN_EXE_docent-tests-worker").into();
    WorkerExtractor::new(worker, Vec::new(), ExtractionLimits::default())
}

/// Uploads a file in the page, asks for it and opens its source.
async fn open_source(app: &TestApp, window: &Chromium, of: FileType, label: &str) {
    // The newest document is first in the list.
    app.advance(Duration::from_secs(1));
    let name = format!("animals.{}", of.extensions()[0]);
    let sentence = format!("The {} eats leaves.", word(of));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(&name);
    std::fs::write(&path, file(of, HEADING, &sentence)).unwrap();
    window.choose("#files", &[&path]).await;
    window.find(".pill.pending").await;
    app.run_jobs().await;
    window.find("#documents-list > li:first-child .pill.ingested").await;
    assert_eq!(window.texts("#documents-list .title").await[0], name);

    ask(window, &format!("What does the {} eat?", word(of))).await;
    window.find(".answer .cite").await;
    let named = window.find(".answer .cite").await.attr("aria-label").await.unwrap();
    assert!(named.as_ref().unwrap().ends_with(&format!(" 1: {name}, {label}")), "{named:?}");
    let chips = window.texts(".chip").await;
    assert!(
        chips.len() == 1 && chips[0].starts_with(&format!("1\n{name}")) && chips[0].ends_with(label),
        "{chips:?}"
    );
    window.click(".answer .cite").await;
    window.find(".page-text mark").await;
    assert_eq!(window.texts("#page-label").await, [label]);
    let marked = window.texts(".page-text mark").await.join(" ");
    assert!(marked.contains(&sentence), "{name}: {marked}");
    assert!(!window.has("#pages img").await, "{name} has no page images");
    window.click("#find-toggle").await;
    window.fill("find-text", &word(of)).await;
    window.find("#find-hits mark").await;
    let places = window.texts("#find-hits bdi").await.concat();
    assert!(places.contains(&word(of)) && !places.contains(['|', '\n']), "{name}: {places}");
    window.click("#source-file").await;
    assert_eq!(window.console_errors().await, Vec::<String>::new(), "{name}");
}

fn script(labels: &[(FileType, &str)]) -> Vec<Turn> {
    let turns = labels.iter().flat_map(|(of, label)| {
        let answer = format!("Leaves (animals.{}, {label}).", of.extensions()[0]);
        [Turn::searching(&word(*of)), Turn::saying(&answer)]
    });
    turns.collect()
}

fn arranged(setup: Setup, labels: &[(FileType, &str)]) -> Setup {
    let setup = setup.script(script(labels)).extractor(extractor());
    setup.settings(|settings| settings.upload_types = FileTypes::all())
}

#[tokio::test]
async fn source_of_each_type_opens_as_text_at_its_label() {
    journey_with(
        |setup| arranged(setup, &FORMATS),
        async |app, window| {
            enter(app, window).await;
            window.see("No documents yet. Upload a file to start.").await;
            for (of, label) in FORMATS {
                open_source(app, window, of, label).await;
                window.goto("/chat").await;
                window.find("#question").await;
            }
        },
    )
    .await;
}

#[tokio::test]
async fn labels_of_sources_are_in_the_language_of_the_chat() {
    let labels = [(FileType::Csv, "Rows 1–2"), (FileType::Pptx, "Slide 1"), (FileType::Eml, "Message")];
    journey_with(
        |setup| arranged(setup, &labels),
        async |app, window| {
            app.account(ADA, Flags::default()).await;
            prefer_german(window).await;
            sign_in(window, "/chat", ADA).await;
            for ((of, _), label) in labels.iter().zip(["Zeilen 1–2", "Folie 1", "Nachricht"]) {
                window.find("#question").await;
                open_source(app, window, *of, label).await;
                window.goto("/chat").await;
            }
        },
    )
    .await;
}
