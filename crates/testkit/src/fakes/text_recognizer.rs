//! Text recognizer for images that [`fake_scan`](super::page_renderer::fake_scan) makes.

use super::page_renderer::SIGNATURE;
use async_trait::async_trait;
use docent_domain::fault::{Component, Fault, FaultKind, Result};
use docent_domain::recognition::{
    Languages, PageBox, RecognitionFailure, RecognizedLine, RecognizedPage, RecognizedWord,
};
use docent_ports::text_recognizer::{PageScan, RecognitionError, TextRecognizer};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Confidence of each word in percent.
pub const CONFIDENCE: u8 = 90;

/// Reads the text of fake images. A page with the text `!fail timeout` fails with that code. It knows the languages
/// `eng` and `deu`.
#[derive(Debug, Default)]
pub struct FakeTextRecognizer {
    calls: AtomicUsize,
}

impl FakeTextRecognizer {
    /// Number of recognitions so far.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl TextRecognizer for FakeTextRecognizer {
    async fn recognize(&self, scan: PageScan<'_>) -> Result<RecognizedPage, RecognitionError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        read_scan(scan.png, scan.languages)
    }

    async fn check(&self, languages: &Languages) -> Result<()> {
        check(languages)
    }

    fn name(&self) -> &'static str {
        "fake 1"
    }
}

/// Reads the text of a fake image.
///
/// # Errors
/// If it is no fake image, its text says so, or the language is unknown.
pub fn read_scan(png: &[u8], languages: &Languages) -> Result<RecognizedPage, RecognitionError> {
    check(languages)?;
    let invalid = || RecognitionError::Page(RecognitionFailure::Invalid);
    let text = std::str::from_utf8(png.strip_prefix(SIGNATURE).ok_or_else(invalid)?);
    let text = text.map_err(|_| invalid())?;
    if let Some(code) = text.strip_prefix("!fail ") {
        let failure = RecognitionFailure::parse(code).expect("a failure after !fail");
        return Err(RecognitionError::Page(failure));
    }
    let line = |(line, y): (&str, u16)| {
        let word = |(text, x): (&str, u16)| RecognizedWord {
            text: text.to_owned(),
            bounds: PageBox { left: x * 100, top: y * 100, right: x * 100 + 90, bottom: y * 100 + 90 },
            confidence: CONFIDENCE,
        };
        let words = line.split_whitespace().zip(0..).map(word).collect();
        RecognizedLine { words, begins_paragraph: y == 0 }
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty()).zip(0..).map(line);
    Ok(RecognizedPage { lines: lines.collect() })
}

fn check(languages: &Languages) -> Result<()> {
    match languages.codes().iter().find(|code| !matches!(code.as_str(), "eng" | "deu")) {
        Some(code) => {
            let message = format!("no data for {code}");
            Err(Fault::new(Component::Recognizer, FaultKind::Unconfigured, message))
        }
        None => Ok(()),
    }
}
