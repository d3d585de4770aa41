//! The images of the documentation. The tests show what is on them; with a folder set they also take them.

use super::chat::{ask, enter, renderer};
use super::{ROOT, journey_with, superuser};
use docent_extraction::{ExtractionLimits, WorkerExtractor};
use docent_tests::chromium::{Chromium, optional_setting};
use docent_tests::member::Member;
use docent_tests::wait;
use std::collections::BTreeSet;
use std::path::Path;

/// Folder for the images; none are taken without it.
const FOLDER: &str = "DOCENT_TEST_DOCUMENTATION_IMAGES";

/// Images of other programs, which are taken by hand.
const BY_HAND: [&str; 1] = ["open-webui"];
/// The images that are taken here, without their extension. Each is a file of `docs/images`.
const IMAGES: [&str; 4] = ["chat-first-visit", "chat-source", "panel-documents", "panel-service"];

/// Extracts texts as the service does.
fn extractor() -> WorkerExtractor {
    let worker = env!("CARGO_BIN_EXE_docent-tests-worker").into();
    WorkerExtractor::new(worker, Vec::new(), ExtractionLimits::default())
}

/// Reads a PDF of the fixtures.
fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pdf").join(name)).unwrap()
}

/// Takes an image, if a folder is set.
async fn take(window: &Chromium, image: &str) {
    assert!(IMAGES.contains(&image), "{image} is not listed");
    assert_eq!(window.console_errors().await, Vec::<String>::new());
    if let Some(folder) = optional_setting(FOLDER) {
        let path = Path::new(&folder).join(format!("{image}.png"));
        std::fs::write(path, window.screenshot().await).unwrap();
    }
}

#[test]
fn documentation_shows_every_image_and_no_other() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("docs");
    let names = std::fs::read_dir(docs.join("images")).unwrap().map(|file| file.unwrap().file_name());
    let names: BTreeSet<String> = names.map(|name| name.into_string().unwrap()).collect();
    assert_eq!(names, IMAGES.iter().chain(&BY_HAND).map(|image| format!("{image}.png")).collect());
    let pages = std::fs::read_dir(docs.join("how-to")).unwrap().map(|page| page.unwrap().path());
    let text: String = pages.map(|page| std::fs::read_to_string(page).unwrap()).collect();
    for image in names {
        assert!(text.contains(&format!("](../images/{image})")), "no page of docs/how-to shows {image}");
    }
}

#[tokio::test]
async fn images_of_the_chat_show_first_visit_and_source() {
    journey_with(
        |setup| setup.builtin_answerer().extractor(extractor()).renderer(renderer()),
        async |app, window| {
            window.resize(1280, 760).await;
            let member = Member::login(app, enter(app, window).await).await;
            window.find(".first-steps").await;
            take(window, "chat-first-visit").await;

            member.add("Price list.pdf", fixture("table.pdf")).await;
            member.add("Warranty letter.pdf", fixture("letter.pdf")).await;
            member.add("Pump handbook.pdf", fixture("handbook.pdf")).await;
            app.run_jobs().await;
            window.goto("/chat").await;
            window.see("Pump handbook.pdf").await;
            ask(window, "How long is the return period for pumps?").await;
            window.see("45 days").await;
            window.run("document.querySelector('.answer a').dispatchEvent(new PointerEvent('pointerenter', { pointerType: 'mouse' }))", vec![]).await;
            window.see("Pump handbook.pdf, page 2").await;
            let quote = "The return period for pumps is 45 days. It begins on the day of delivery.";
            assert_eq!(window.texts("#preview blockquote").await, [quote], "the whole quotation");
            window.click(".answer a").await;
            window.find("#pages .marks .strong").await;
            let image = "#pages img[alt^='Page 2 of Pump handbook.pdf']";
            let is_loaded = format!("return document.querySelector(\"{image}\")?.naturalWidth > 0");
            wait::until("the page is drawn", async || window.run(&is_loaded, vec![]).await == true).await;
            take(window, "chat-source").await;
        },
    )
    .await;
}

#[tokio::test]
async fn images_of_the_panel_show_documents_and_service() {
    journey_with(
        |setup| setup.builtin_answerer().extractor(extractor()),
        async |app, window| {
            window.resize(1280, 760).await;
            superuser(app, window).await;
            let grace = app.member("grace@example.org").await;
            for (name, file) in [
                ("Pump handbook.pdf", "handbook.pdf"),
                ("Price list.pdf", "table.pdf"),
                ("Two columns.pdf", "columns.pdf"),
                ("Scanned contract.pdf", "scan.pdf"),
                ("Protected minutes.pdf", "locked.pdf"),
            ] {
                grace.add(name, fixture(file)).await;
            }
            app.run_jobs().await;
            window.goto("/admin/documents").await;
            for text in ["Pump handbook.pdf", "Ready", "Failed", "password"] {
                window.see(text).await;
            }
            take(window, "panel-documents").await;
            window.goto("/admin/service").await;
            window.see("No language model is connected").await;
            window.see(ROOT).await;
            take(window, "panel-service").await;
        },
    )
    .await;
}
