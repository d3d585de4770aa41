//! How much of a document became searchable.

use super::{ExtractedPage, Extraction, LABELS_BYTES, PageQuality};
use crate::recognition::{Recognition, RecognitionFailure};

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
    /// Pages with text of their own on whose pictures text was recognised, in order.
    pub picture_pages: Vec<RecognizedPageCoverage>,
    /// Pages that could not be recognised, in order.
    pub failed_pages: Vec<(u32, RecognitionFailure)>,
}

impl RecognitionCoverage {
    /// The mean confidence of the recognised pages in percent; 0 if there are none.
    pub fn confidence(&self) -> u8 {
        let pages = || self.pages.iter().chain(&self.picture_pages);
        let sum: usize = pages().map(|page| usize::from(page.confidence)).sum();
        u8::try_from(sum.checked_div(pages().count()).unwrap_or(0)).unwrap_or(100)
    }

    /// Whether the text of a page was recognised.
    pub fn has_page(&self, number: u32) -> bool {
        self.pages.binary_search_by_key(&number, |page| page.page).is_ok()
    }

    /// Whether text was recognised on pictures of a page.
    pub fn has_pictures_of(&self, number: u32) -> bool {
        self.picture_pages.binary_search_by_key(&number, |page| page.page).is_ok()
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
    /// Text was recognised on pictures.
    RecognizedPictures,
    /// Pictures that may show text were not read.
    UnreadPictures,
    /// A model described pictures.
    DescribedPictures,
    /// The description of pictures failed.
    DescriptionFailed,
    /// Cells with formulas have no saved result.
    LackingResults,
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
    /// Numbers of the pages with pictures that may show text and were not read.
    pub unread_picture_pages: Vec<u32>,
    /// Numbers of the pages whose pictures a model described.
    pub described_pages: Vec<u32>,
    /// Numbers of the pages whose pictures could not be described.
    pub undescribed_pages: Vec<u32>,
    /// Numbers of the pages with formulas without a saved result.
    pub lacking_result_pages: Vec<u32>,
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
    pub(super) fn of(pages: &[ExtractedPage]) -> Self {
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
                CoverageWarning::RecognizedPictures => {
                    "recognised text of pictures, which may contain errors"
                }
                CoverageWarning::UnreadPictures => "a picture whose text, if it shows any, was not read",
                CoverageWarning::DescribedPictures => "pictures described by a model, which may be wrong",
                CoverageWarning::DescriptionFailed => "the description of pictures failed",
                CoverageWarning::LackingResults => {
                    "formulas without a saved result; save the file in a program that calculates them"
                }
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
            (CoverageWarning::RecognizedPictures, recognition.map_or(0, |found| found.picture_pages.len())),
            (CoverageWarning::UnreadPictures, self.unread_picture_pages.len()),
            (CoverageWarning::DescribedPictures, self.described_pages.len()),
            (CoverageWarning::DescriptionFailed, self.undescribed_pages.len()),
            (CoverageWarning::LackingResults, self.lacking_result_pages.len()),
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
            if page.lacks_results {
                coverage.lacking_result_pages.push(page.number);
            }
            let description = page.description.as_ref().map(|description| description.text.as_deref());
            match description {
                Some(Some("")) | None => {}
                Some(Some(_)) => coverage.described_pages.push(page.number),
                Some(None) => coverage.undescribed_pages.push(page.number),
            }
            let is_described = description.flatten().is_some_and(|text| !text.is_empty());
            match &page.recognition {
                Some(recognition) => coverage.add_recognition(page, recognition),
                None if !page.pictures.is_empty() && page.quality() == PageQuality::Text && !is_described => {
                    coverage.unread_picture_pages.push(page.number);
                }
                None => {}
            }
        }
        coverage
    }

    fn add_recognition(&mut self, page: &ExtractedPage, recognition: &Recognition) {
        let found = self.recognition.get_or_insert_default();
        found.recognizer.clone_from(&recognition.recognizer);
        match (&recognition.result, page.usable(recognition).map(|page| page.confidence())) {
            (_, Some(confidence)) => {
                let pages = match page.scanned_pictures() {
                    [] => &mut found.pages,
                    _ => &mut found.picture_pages,
                };
                pages.push(RecognizedPageCoverage { page: page.number, confidence });
            }
            (Err(failure), None) => found.failed_pages.push((page.number, *failure)),
            // Without text, or with too little confidence: listed as empty or unreliable.
            (Ok(_), None) => {}
        }
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
