//! The contract of text recognizers, run on the installed tesseract.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "../src/pdf/samples.rs"]
mod samples;

use bytes::Bytes;
use docent_domain::file_type::FileType;
use docent_domain::recognition::{Orientation, PageBox, Recognition};
use docent_extraction::{ExtractionLimits, TesseractRecognizer, WorkerExtractor, WorkerRenderer};
use docent_ports::blob_store::ByteStream;
use docent_ports::page_renderer::{PageImageRequest, PageRenderer, RenderError};
use docent_ports::text_extractor::TextExtractor;
use docent_testkit::contract::text_recognizer::{DPI, Subject, recognize};
use docent_text::table;
use hayro::vello_cpu::Pixmap;
use hayro::vello_cpu::color::palette::css::WHITE;
use hayro::{PixmapSettings, RenderCache, RenderSettings};
use hayro_interpret::InterpreterSettings;
use hayro_syntax::Pdf;
use samples::{Sample, line};
use std::io::{Cursor, Write};
use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;
use std::sync::Arc;

/// Draws a page with these lines.
fn draw(lines: &[&str]) -> Pixmap {
    draw_page(&lines.iter().zip(0..).map(|(text, n)| line(72, 700 - 30 * n, text)).collect::<String>())
}

/// Draws a page with this content.
fn draw_page(content: &str) -> Pixmap {
    let pdf = Pdf::new(Sample::new().page(content).bytes()).unwrap();
    let scale = f32::from(DPI) / 72.0;
    let settings = PixmapSettings { x_scale: scale, y_scale: scale, bg_color: WHITE };
    let (interpreter, cache) = (InterpreterSettings::default(), RenderCache::new());
    hayro::render(&pdf.pages()[0], &cache, &interpreter, &RenderSettings::default(), &settings)
}

fn scan(lines: &[&str]) -> Vec<u8> {
    draw(lines).into_png().unwrap()
}

/// Fails without tesseract: see `CONTRIBUTING.md`.
fn subject() -> Subject {
    let worker = PathBuf::from(env!("CARGO_BIN_EXE_docent-extract-worker"));
    let path = std::env::var_os("PATH").unwrap();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let recognizer =
        TesseractRecognizer::find(folders, worker, Vec::new(), ExtractionLimits::default()).unwrap();
    Subject { recognizer: Arc::new(recognizer), scan }
}

mod contract {
    use super::*;

    docent_testkit::text_recognizer_contract!(async { (subject(), ()) });
}

/// Turns an image clockwise by a quarter.
fn turned(image: &Pixmap) -> Pixmap {
    let (width, height) = (image.width(), image.height());
    let mut turned = Pixmap::new(height, width);
    for y in 0..usize::from(height) {
        for x in 0..usize::from(width) {
            let to = x * usize::from(height) + usize::from(height) - 1 - y;
            turned.data_mut()[to] = image.data()[y * usize::from(width) + x];
        }
    }
    turned
}

const TEXT: [&str; 8] = [
    "The pump moves water from the lower tank to the upper one,",
    "and the valve below it keeps the water from coming back.",
    "Before the pump is started, the valve has to be opened.",
    "If the pressure falls, the pump stops and a lamp lights up.",
    "Once a month the filter is taken out and washed in water.",
    "A filter that stays grey after washing has to be replaced.",
    "The motor needs no grease, because its bearings are closed.",
    "All work on the cables is left to a qualified electrician.",
];

#[tokio::test]
async fn turned_pages_are_read_and_their_boxes_are_on_the_page_as_shown() {
    let subject = subject();
    let mut image = draw(&TEXT);
    let orientations = [Orientation::Upright, Orientation::Right, Orientation::UpsideDown, Orientation::Left];
    for orientation in orientations {
        let page = recognize(&subject, &image.clone().into_png().unwrap()).await.unwrap();
        assert_eq!(page.orientation(), orientation);
        assert!(page.text().starts_with("The pump moves water from the lower tank"), "{}", page.text());
        let PageBox { left, top, .. } = page.lines[0].words[0].bounds;
        let half = PageBox::UNITS / 2;
        let (is_left, is_top) = match orientation {
            Orientation::Upright => (true, true),
            Orientation::Right => (false, true),
            Orientation::UpsideDown => (false, false),
            Orientation::Left => (true, false),
        };
        assert_eq!((left < half, top < half), (is_left, is_top), "{orientation:?}: {left} {top}");
        image = turned(&image);
    }
}

/// A Word file with a sentence and this picture.
fn word_file(picture: &[u8]) -> Vec<u8> {
    let relation = |kind: &str, target: &str| {
        format!(
            "<Relationships><Relationship Id='r1' Type='http://x/{kind}' Target='{target}'/></Relationships>"
        )
    };
    let text = "<w:document><w:p><w:r><w:t>Notes for the operator:</w:t></w:r></w:p>\
                <w:p><w:r><w:drawing><a:blip r:embed='r1'/></w:drawing></w:r></w:p></w:document>";
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in [
        ("_rels/.rels", relation("officeDocument", "word/document.xml").as_bytes()),
        ("word/_rels/document.xml.rels", relation("image", "media/a.png").as_bytes()),
        ("word/document.xml", text.as_bytes()),
        ("word/media/a.png", picture),
    ] {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[tokio::test]
async fn picture_in_a_word_file_is_read() {
    let (worker, limits) = (env!("CARGO_BIN_EXE_docent-extract-worker"), ExtractionLimits::default());
    let file = Bytes::from(word_file(&scan(&TEXT[..3])));
    let bytes = || -> ByteStream { Box::pin(futures::stream::iter([Ok(file.clone())])) };
    let extractor = WorkerExtractor::new(worker.into(), Vec::new(), limits);
    let mut pages = extractor.extract(FileType::Docx, bytes()).await.unwrap().pages;
    let parts: Vec<PageBox> = pages[0].scanned_pictures().iter().map(|picture| picture.place).collect();
    assert_eq!(parts.len(), 1);
    let request = PageImageRequest::scan(FileType::Docx, NonZeroU32::MIN, NonZeroU16::new(DPI).unwrap());
    let renderer = WorkerRenderer::new(worker.into(), Vec::new(), limits, limits);
    let png = renderer.render(bytes(), &PageImageRequest { parts, ..request.clone() }).await.unwrap();
    let result = recognize(&subject(), &png).await;
    pages[0].set_recognition(Recognition { recognizer: "tesseract".to_owned(), result: Ok(result.unwrap()) });
    let text = &pages[0].text;
    assert!(
        text.starts_with("Notes for the operator:") && text.contains("keeps the water from coming back"),
        "{text}"
    );
    let second = PageImageRequest { page: NonZeroU32::new(2).unwrap(), ..request };
    let error = renderer.render(bytes(), &second).await.unwrap_err();
    assert!(matches!(error, RenderError::NoSuchPage), "{error}");
}

#[tokio::test]
async fn rows_of_aligned_figures_are_a_table() {
    let rows = [
        ["In thousands", "2024", "2025", "2026"],
        ["Sales of pumps", "1,240", "1,310", "1,405"],
        ["Sales of valves", "380", "402", "417"],
        ["Service contracts", "95", "120", "160"],
        ["Cost of sales", "(810)", "(866)", "(903)"],
        ["Gross profit", "905", "966", "1,079"],
    ];
    let mut content = line(72, 740, TEXT[0]);
    for (row, y) in rows.iter().zip((0..).map(|row| 700 - 20 * row)) {
        for (cell, x) in row.iter().zip([72, 300, 380, 460]) {
            content += &line(x, y, cell);
        }
    }
    content += &line(72, 540, TEXT[1]);
    let page = recognize(&subject(), &draw_page(&content).into_png().unwrap()).await.unwrap();
    let text = page.text();
    let tables = table::ranges(&text);
    let [range] = &tables[..] else { panic!("{text}") };
    let (before, after) = (text[..range.start].trim_end(), text[range.end..].trim_start());
    assert!(before.ends_with("one,") && after.starts_with("and the valve"), "{text}");
    let lines = text[range.clone()].lines().filter(|line| !line.starts_with("|---"));
    let read: Vec<Vec<String>> = lines.map(table::cells).collect();
    assert!(read.len() == rows.len() && read.iter().all(|cells| cells.len() == 4), "{text}");
    // A digit may be misread.
    let cells = read.iter().flatten().zip(rows.iter().flatten());
    assert!(cells.filter(|(read, drawn)| read != *drawn).count() <= 1, "{text}");
}
