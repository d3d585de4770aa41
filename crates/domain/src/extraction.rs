//! Text extracted from a file, page by page, and its quality.

use crate::recognition::{Recognition, RecognitionFailure};
use std::collections::BTreeMap;
use std::time::Duration;

/// The text and metadata of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// Pages in order, numbered from 1.
    pub pages: Vec<ExtractedPage>,
    /// Metadata stored in the file.
    pub metadata: Metadata,
    /// Lines of context of its passages, by the digest of what the chat model was given. A line is empty if the model wrote
    /// none that is usable.
    pub context: BTreeMap<[u8; 32], String>,
}

/// The metadata stored in a file. Every field can be missing or wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `Title` of the document information.
    pub title: Option<String>,
    /// `Author` of the document information.
    pub author: Option<String>,
    /// Bookmarks in reading order.
    pub outline: Vec<OutlineEntry>,
}

/// A bookmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Depth in the outline tree, starting at 0.
    pub level: u32,
    /// Title of the bookmark.
    pub title: String,
    /// Target page, starting at 1, if it could be resolved.
    pub page: Option<u32>,
}

/// Maximum length of a page's label in characters.
pub const LABEL_MAX: usize = 120;

/// Maximum length of all labels that are stored of a document, in bytes.
const LABELS_BYTES: usize = 128 * 1024;

/// The text of one page: of a page of a PDF, a slide, a range of a sheet, or a section.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedPage {
    /// Page number, starting at 1.
    pub number: u32,
    /// Text in content order: lines end with `\n`, end-of-line hyphenation is removed.
    pub text: String,
    /// Number of glyphs.
    pub glyphs: u32,
    /// Number of glyphs that do not map to a character.
    pub unmapped_glyphs: u32,
    /// Whether extraction stopped at a limit, so that text may be missing.
    pub truncated: bool,
    /// The recognition of the page's image, if it was attempted.
    pub recognition: Option<Recognition>,
    /// What the page is in its file, such as `Slide 3`, `Budget!A1:F40` or a heading, at most [`LABEL_MAX`] characters;
    /// `None` in PDFs.
    pub label: Option<String>,
}

/// The quality of a page's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageQuality {
    /// Reliable text.
    Text,
    /// No text: the page is blank or a scan.
    Empty,
    /// More than a tenth of the glyphs do not map to characters; the page is not indexed.
    Unreliable,
}

impl ExtractedPage {
    /// Whether the text of the page's image is needed from this recognizer: the page has no reliable text of its own, and
    /// this recognizer has not read it.
    pub fn needs_recognition(&self, recognizer: &str) -> bool {
        match &self.recognition {
            Some(recognition) => recognition.recognizer != recognizer,
            None => self.quality() != PageQuality::Text,
        }
    }

    /// Adds the result of a recognition. Text that can be used replaces the page's own.
    pub fn set_recognition(&mut self, recognition: Recognition) {
        if let Some(page) = recognition.reliable() {
            self.text = page.text();
            (self.glyphs, self.unmapped_glyphs) = (0, 0);
        }
        self.recognition = Some(recognition);
    }

    /// Determines the quality of the page's text.
    pub fn quality(&self) -> PageQuality {
        if u64::from(self.unmapped_glyphs) * 10 > u64::from(self.glyphs) {
            PageQuality::Unreliable
        } else if self.text.chars().any(char::is_alphanumeric) {
            PageQuality::Text
        } else {
            PageQuality::Empty
        }
    }
}

/// Statistics of a document's ingestion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngestionStats {
    /// Name of the extractor.
    pub extractor: String,
    /// Number of attempts, including the last one.
    pub attempts: u32,
    /// Extraction time of the last attempt, including recognition.
    pub extract: Duration,
    /// Chunking time of the last attempt.
    pub chunk: Duration,
    /// Embedding time of the last attempt.
    pub embed: Duration,
    /// Indexing time of the last attempt.
    pub index: Duration,
    /// Number of passages whose dense vectors are of their beginnings, because the embedding model takes no longer text.
    pub shortened_passages: u32,
}

impl IngestionStats {
    /// Returns a warning if passages were shortened.
    pub fn warning(&self) -> Option<String> {
        match self.shortened_passages {
            0 => None,
            1 => Some(
                "1 passage is longer than the embedding model takes: its vector is of its beginning"
                    .to_owned(),
            ),
            count => Some(format!(
                "{count} passages are longer than the embedding model takes: their vectors are of their beginnings"
            )),
        }
    }
}

/// A page whose text was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecognizedPageCoverage {
    /// Number of the page.
    pub page: u32,
    /// Mean confidence in percent.
    pub confidence: u8,
}

/// What a recognizer did for a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecognitionCoverage {
    /// Name, version and languages of the recognizer.
    pub recognizer: String,
    /// Pages whose recognised text is indexed, in order.
    pub pages: Vec<RecognizedPageCoverage>,
    /// Pages that could not be recognised, in order.
    pub failed_pages: Vec<(u32, RecognitionFailure)>,
}

impl RecognitionCoverage {
    /// The mean confidence of the recognised pages in percent; 0 if there are none.
    pub fn confidence(&self) -> u8 {
        let sum: usize = self.pages.iter().map(|page| usize::from(page.confidence)).sum();
        u8::try_from(sum.checked_div(self.pages.len()).unwrap_or(0)).unwrap_or(100)
    }

    /// Whether the text of a page was recognised.
    pub fn has_page(&self, number: u32) -> bool {
        self.pages.binary_search_by_key(&number, |page| page.page).is_ok()
    }
}

/// What may be missing or wrong in the text of some pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoverageWarning {
    /// The pages have no text.
    Empty,
    /// The text of the pages is unreliable and not indexed.
    Unreliable,
    /// The pages were truncated at a limit.
    Truncated,
    /// The text was recognised on images of the pages.
    Recognized,
    /// The recognition of the pages failed.
    RecognitionFailed,
}

/// How much of a document became searchable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Number of pages.
    pub pages: u32,
    /// Numbers of the pages without text.
    pub empty_pages: Vec<u32>,
    /// Numbers of the pages whose text is unreliable and not indexed.
    pub unreliable_pages: Vec<u32>,
    /// Numbers of the pages that were truncated at a limit.
    pub truncated_pages: Vec<u32>,
    /// Number of characters of reliable text.
    pub characters: u64,
    /// Number of chunks.
    pub chunks: u32,
    /// Number of tokens in all chunks, including overlaps.
    pub tokens: u64,
    /// ISO 639-1 code of the language that most of the text is in, such as `de`; `None` if it is not clear.
    pub language: Option<String>,
    /// What a recognizer did, if images of pages were read.
    pub recognition: Option<RecognitionCoverage>,
    /// What the pages are in their file; empty for PDFs.
    pub page_labels: PageLabels,
}

/// What the pages of a document are in its file, in order. Labels of a very large document are left out from a page on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLabels(Vec<String>);

impl From<Vec<String>> for PageLabels {
    fn from(labels: Vec<String>) -> Self {
        Self(labels)
    }
}

impl PageLabels {
    /// Takes the labels from pages, as far as they can be stored.
    fn of(pages: &[ExtractedPage]) -> Self {
        let mut bytes = 0;
        let labels = pages.iter().map_while(|page| page.label.clone()).take_while(|label| {
            bytes += label.len();
            bytes <= LABELS_BYTES
        });
        Self(labels.collect())
    }

    /// The label of a page, counted from 1; `None` in PDFs.
    pub fn get(&self, page: u32) -> Option<String> {
        let index = usize::try_from(page).ok()?.checked_sub(1)?;
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.get(index).cloned().unwrap_or_else(|| format!("Part {page}")))
    }

    /// The stored labels.
    pub fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl Coverage {
    /// Returns a warning for each kind of page that is not fully searchable.
    pub fn warnings(&self) -> Vec<String> {
        let text = |(warning, count)| {
            let what = match warning {
                CoverageWarning::Empty => "no text (blank, or a picture of text)",
                CoverageWarning::Unreliable => "text that cannot be read reliably, which is left out",
                CoverageWarning::Truncated => "cut at a limit, so that text may be missing",
                CoverageWarning::Recognized => "recognised text, which may contain errors",
                CoverageWarning::RecognitionFailed => "text recognition failed",
            };
            format!("{count} of {} pages: {what}", self.pages)
        };
        self.counted_warnings().into_iter().map(text).collect()
    }

    /// Kinds of warnings with their numbers of pages.
    pub fn counted_warnings(&self) -> Vec<(CoverageWarning, usize)> {
        let recognition = self.recognition.as_ref();
        let mut warnings = vec![
            (CoverageWarning::Empty, self.empty_pages.len()),
            (CoverageWarning::Unreliable, self.unreliable_pages.len()),
            (CoverageWarning::Truncated, self.truncated_pages.len()),
            (CoverageWarning::Recognized, recognition.map_or(0, |found| found.pages.len())),
            (CoverageWarning::RecognitionFailed, recognition.map_or(0, |found| found.failed_pages.len())),
        ];
        warnings.retain(|(_, count)| *count > 0);
        warnings
    }

    /// Computes the coverage of an extraction. Chunks and tokens are 0.
    pub fn of(extraction: &Extraction) -> Self {
        let page_labels = PageLabels::of(&extraction.pages);
        let mut coverage = Self { pages: extraction.pages.len() as u32, page_labels, ..Self::default() };
        for page in &extraction.pages {
            match page.quality() {
                PageQuality::Text => coverage.characters += page.text.chars().count() as u64,
                PageQuality::Empty => coverage.empty_pages.push(page.number),
                PageQuality::Unreliable => coverage.unreliable_pages.push(page.number),
            }
            if page.truncated {
                coverage.truncated_pages.push(page.number);
            }
            if let Some(recognition) = &page.recognition {
                let found = coverage.recognition.get_or_insert_default();
                found.recognizer.clone_from(&recognition.recognizer);
                match (&recognition.result, recognition.reliable()) {
                    (_, Some(recognized)) => {
                        let confidence = recognized.confidence();
                        found.pages.push(RecognizedPageCoverage { page: page.number, confidence });
                    }
                    (Err(failure), _) => found.failed_pages.push((page.number, *failure)),
                    // Without text, or with too little confidence: listed as empty or unreliable.
                    (Ok(_), None) => {}
                }
            }
        }
        coverage
    }

    /// Number of pages whose text is indexed.
    pub fn pages_with_text(&self) -> u32 {
        self.pages - self.empty_pages.len() as u32 - self.unreliable_pages.len() as u32
    }

    /// Whether the text of less than half of the pages is indexed.
    pub fn lacks_most_text(&self) -> bool {
        self.pages_with_text() < self.pages - self.pages_with_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognition::{PageBox, RecognizedLine, RecognizedPage, RecognizedWord};

    fn page(number: u32, text: &str, glyphs: u32, unmapped_glyphs: u32) -> ExtractedPage {
        ExtractedPage {
            number,
            text: text.into(),
            glyphs,
            unmapped_glyphs,
            truncated: false,
            recognition: None,
            label: None,
        }
    }

    #[test]
    fn page_with_over_a_tenth_unmapped_glyphs_is_unreliable() {
        assert_eq!(page(1, "abc", 100, 10).quality(), PageQuality::Text);
        assert_eq!(page(1, "abc", 100, 11).quality(), PageQuality::Unreliable);
        assert_eq!(page(1, " \n", 0, 0).quality(), PageQuality::Empty);
        assert_eq!(page(1, "• —", 3, 0).quality(), PageQuality::Empty);
    }

    #[test]
    fn coverage_lists_pages_that_are_not_indexed() {
        let pages = vec![page(1, "one", 3, 0), page(2, "", 0, 0), page(3, "xxx", 3, 3)];
        let coverage = Coverage::of(&Extraction { pages, ..Extraction::default() });
        assert_eq!((coverage.pages, coverage.pages_with_text(), coverage.characters), (3, 1, 3));
        assert_eq!(coverage.empty_pages, [2]);
        assert_eq!(coverage.unreliable_pages, [3]);
        let warnings = coverage.warnings();
        assert!(warnings[0].starts_with("1 of 3 pages: no text"), "{warnings:?}");
        assert_eq!(warnings.len(), 2);
        assert!(Coverage::default().warnings().is_empty());
    }

    #[test]
    fn labels_are_kept_within_their_limit() {
        let labelled = |number: u32, label: &str| ExtractedPage {
            label: Some(label.to_owned()),
            ..page(number, "x", 0, 0)
        };
        let labels = PageLabels::of(&[labelled(1, "Slide 1"), labelled(2, "Slide 2")]);
        assert_eq!((labels.get(2).as_deref(), labels.get(3).as_deref()), (Some("Slide 2"), Some("Part 3")));
        assert_eq!(labels.get(0), None);
        assert_eq!(PageLabels::of(&[page(1, "x", 0, 0)]).get(1), None, "a PDF has none");
        let many: Vec<ExtractedPage> =
            (1..=3000).map(|number| labelled(number, &"ä".repeat(LABEL_MAX))).collect();
        let labels = PageLabels::of(&many);
        assert_eq!(labels.as_slice().len(), LABELS_BYTES / (2 * LABEL_MAX));
        assert_eq!(labels.get(3000).as_deref(), Some("Part 3000"));
    }

    fn recognition(text: &str, confidence: u8) -> Recognition {
        let word = RecognizedWord { text: text.into(), bounds: PageBox::default(), confidence };
        let line = RecognizedLine { words: vec![word], begins_paragraph: true };
        Recognition { recognizer: "ocr 1 (eng)".into(), result: Ok(RecognizedPage { lines: vec![line] }) }
    }

    #[test]
    fn reliable_recognition_replaces_the_text() {
        let mut scan = page(2, "", 0, 0);
        assert!(scan.needs_recognition("ocr 1 (eng)"));
        scan.set_recognition(recognition("word", 90));
        assert_eq!((scan.text.as_str(), scan.quality()), ("word\n", PageQuality::Text));
        assert!(!scan.needs_recognition("ocr 1 (eng)"));
        assert!(scan.needs_recognition("ocr 2 (eng)"), "another recognizer may read it better");
        let mut unmapped = page(3, "xxx", 3, 3);
        unmapped.set_recognition(recognition("blot", 10));
        assert_eq!((unmapped.text.as_str(), unmapped.quality()), ("xxx", PageQuality::Unreliable));
        assert!(!page(1, "one", 3, 0).needs_recognition("ocr 1 (eng)"));
    }

    #[test]
    fn coverage_lists_recognised_and_failed_pages() {
        let mut pages = vec![page(1, "one", 3, 0), page(2, "", 0, 0), page(3, "", 0, 0), page(4, "", 0, 0)];
        pages[1].set_recognition(recognition("two", 90));
        let failed = Err(RecognitionFailure::Timeout);
        pages[2].set_recognition(Recognition { result: failed, ..recognition("", 0) });
        pages[3].set_recognition(recognition("—", 90));
        let coverage = Coverage::of(&Extraction { pages, ..Extraction::default() });
        assert_eq!(coverage.empty_pages, [3, 4]);
        let found = coverage.recognition.as_ref().unwrap();
        assert_eq!((found.recognizer.as_str(), found.confidence()), ("ocr 1 (eng)", 90));
        assert_eq!(found.pages, [RecognizedPageCoverage { page: 2, confidence: 90 }]);
        assert!(found.has_page(2) && !found.has_page(3));
        assert_eq!(found.failed_pages, [(3, RecognitionFailure::Timeout)]);
        assert_eq!(coverage.warnings().len(), 3);
    }
}
