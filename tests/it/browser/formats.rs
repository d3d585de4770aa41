//! Files of other types than PDF in the web chat.

use super::chat::{ask, enter};
use super::journey_with;
use docent_adapters::extraction::{ExtractionLimits, WorkerExtractor};
use docent_domain::file_type::{FileType, FileTypes};
use docent_testkit::fakes::chat_model::Turn;
use docent_tests::app::TestApp;
use docent_tests::chromium::Chromium;
use docent_tests::files::file;
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
    assert_eq!(named.unwrap(), format!("Source 1: {name}, {label}"));
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
    window.press("Download the file").await;
    assert_eq!(window.console_errors().await, Vec::<String>::new(), "{name}");
}

#[tokio::test]
async fn source_of_each_type_opens_as_text_at_its_label() {
    let turns = FORMATS.iter().flat_map(|(of, label)| {
        let answer = format!("Leaves (animals.{}, {label}).", of.extensions()[0]);
        [Turn::searching(&word(*of)), Turn::saying(&answer)]
    });
    let script: Vec<Turn> = turns.collect();
    let arrange = |setup: docent_tests::setup::Setup| {
        setup
            .script(script)
            .extractor(extractor())
            .settings(|settings| settings.upload_types = FileTypes::all())
    };
    journey_with(arrange, async |app, window| {
        enter(app, window).await;
        window.see("No documents yet. Upload a file to start.").await;
        for (of, label) in FORMATS {
            open_source(app, window, of, label).await;
            window.goto("/chat").await;
            window.find("#question").await;
        }
    })
    .await;
}
