//! Helpers for the fuzz targets. Each target's file describes its input and what it checks.

pub mod installation;
pub mod pdf;

use docent_extraction::fuzzing::{self, PAGE_TEXT_BYTES, Reading, TEXT_BYTES};
use std::{panic, thread};

/// Stack size of the thread that reads a PDF, as in the extraction worker.
const STACK_BYTES: usize = 64 << 20;

/// Ignores panics inside libraries, which the service catches: a panic of the PDF interpreter costs a page.
/// Panics in the service's own code and in the standard library are still reported.
pub fn ignore_library_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        let of_library = panic.location().is_some_and(|place| place.file().contains("/registry/src/"));
        if !of_library {
            report(panic);
        }
    }));
}

/// Splits bytes at lines of `%%`, so that an input of several sections stays readable in the corpus.
pub fn sections(data: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(data);
    std::iter::from_fn(move || {
        let bytes = rest?;
        let cut = bytes.windows(4).position(|window| window == b"\n%%\n");
        rest = cut.map(|at| &bytes[at + 4..]);
        Some(&bytes[..cut.unwrap_or(bytes.len())])
    })
}

/// Cuts bytes into pieces of these lengths, repeated; a length of 0 counts as 256.
pub fn cut<'b>(mut bytes: &'b [u8], lengths: &[u8]) -> Vec<&'b [u8]> {
    let mut lengths =
        lengths.iter().map(|length| if *length == 0 { 256 } else { usize::from(*length) }).cycle();
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(lengths.next().unwrap_or(bytes.len()).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

/// Reads a PDF and checks the properties of every result, however broken the file.
pub fn read_pdf(bytes: Vec<u8>) -> Reading {
    let reader = thread::Builder::new().stack_size(STACK_BYTES).spawn(|| fuzzing::read(bytes));
    let reading = reader.expect("a thread").join().expect("the reader does not panic");
    check(&reading);
    reading
}

fn check(reading: &Reading) {
    let Reading { pages, complete, metadata, failure } = reading;
    assert_ne!(complete.is_some(), failure.is_some(), "a reading is either complete or failed");
    assert!(complete.is_none_or(|complete| complete as usize == pages.len()), "no page is missing");
    assert!(pages.iter().map(|page| page.text.len()).sum::<usize>() <= TEXT_BYTES);
    for (page, number) in pages.iter().zip(1..) {
        assert_eq!(page.number, number);
        assert!(page.unmapped_glyphs <= page.glyphs);
        // Line ends and spaces between words are added to the glyphs' text.
        assert!(page.text.len() <= 3 * PAGE_TEXT_BYTES, "{} bytes", page.text.len());
        let control = page.text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "a page's text contains a control character");
        assert!(page.text.is_empty() || page.text.ends_with('\n'), "the last line has a line end");
        assert!(!page.text.contains("\n\n\n"), "paragraphs are separated by at most one empty line");
    }
    let Some(metadata) = metadata else { return };
    let outline = metadata.outline.iter().map(|entry| &entry.title);
    for line in metadata.title.iter().chain(&metadata.author).chain(outline) {
        assert!(
            !line.is_empty() && line.chars().count() <= 500 && !line.contains(char::is_control),
            "{line:?}"
        );
    }
    for entry in &metadata.outline {
        assert!(entry.page.is_none_or(|page| (1..=pages.len() as u32).contains(&page)));
    }
}
