//! An in-process text extractor for the PDFs of [`crate::pdf`].

use async_trait::async_trait;
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{ExtractedPage, Extraction};
use docent_domain::file_type::FileType;
use docent_ports::blob_store::ByteStream;
use docent_ports::text_extractor::{ExtractionError, TextExtractor};
use docent_testkit::faults::FaultSwitch;
use futures::TryStreamExt;
use std::sync::Arc;
use tokio::sync::watch;

/// Delays extractions. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct Stall(Arc<watch::Sender<bool>>);

impl Stall {
    /// Makes extractions wait before they start.
    pub fn begin(&self) {
        self.0.send_replace(true);
    }

    /// Releases all waiting extractions.
    pub fn end(&self) {
        self.0.send_replace(false);
    }

    async fn pass(&self) {
        // Never an error: the sender lives as long as `self`.
        let _ = self.0.subscribe().wait_for(|stalls| !stalls).await;
    }
}

/// Reads the strings of each page's content stream, and files of other types as plain text; fails as its fault switch says.
#[derive(Debug)]
pub struct PlainExtractor {
    switch: FaultSwitch,
    stall: Stall,
}

impl PlainExtractor {
    /// Returns an extractor behind a fault switch.
    pub fn new(switch: &FaultSwitch, stall: &Stall) -> Self {
        Self { switch: switch.clone(), stall: stall.clone() }
    }
}

#[async_trait]
impl TextExtractor for PlainExtractor {
    async fn extract(&self, file_type: FileType, bytes: ByteStream) -> Result<Extraction, ExtractionError> {
        self.switch.check()?;
        self.stall.pass().await;
        let bytes: Vec<u8> = bytes.map_ok(|bytes| bytes.to_vec()).try_concat().await?;
        if file_type != FileType::Pdf {
            return Ok(sections(&String::from_utf8_lossy(&bytes)));
        }
        if !bytes.starts_with(b"%PDF-") {
            return Err(ExtractionError::Document(Failure::of(FailureCode::NotAPdf)));
        }
        let text = String::from_utf8_lossy(&bytes);
        let pages = text.split("\nstream\n").skip(1).zip(1..).map(|(content, number)| page(content, number));
        Ok(Extraction { pages: pages.collect(), ..Extraction::default() })
    }

    fn name(&self, _: FileType) -> &'static str {
        "plain"
    }
}

/// Reads a file that is not a PDF as texts separated by form feeds; the first line of each is its label.
fn sections(text: &str) -> Extraction {
    let section = |(text, number): (&str, u32)| {
        let label = text.lines().next().unwrap_or_default().to_owned();
        ExtractedPage { number, text: text.to_owned(), label: Some(label), ..ExtractedPage::default() }
    };
    Extraction { pages: text.split('\u{c}').zip(1..).map(section).collect(), ..Extraction::default() }
}

fn page(content: &str, number: u32) -> ExtractedPage {
    let lines = content.lines().take_while(|line| *line != "endstream");
    let shown = lines.filter_map(|line| line.strip_prefix('(')?.strip_suffix(") Tj T*"));
    let text = shown.map(|line| line.replace("\\(", "(").replace("\\)", ")").replace("\\\\", "\\") + "\n");
    let text: String = text.collect();
    let glyphs = u32::try_from(text.chars().count()).expect("a small page");
    ExtractedPage { number, text, glyphs, unmapped_glyphs: 0, ..ExtractedPage::default() }
}
