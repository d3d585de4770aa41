//! What is read out of a PDF, page by page, and how much of it can be trusted.

use std::time::Duration;

/// The text of a PDF.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// Its pages in order; the first has number 1.
    pub pages: Vec<ExtractedPage>,
    /// What the file says about itself.
    pub metadata: Metadata,
}

/// What a PDF says about itself; any of it may be missing or wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The `Title` of the document information.
    pub title: Option<String>,
    /// The `Author` of the document information.
    pub author: Option<String>,
    /// The bookmarks, in reading order.
    pub outline: Vec<OutlineEntry>,
}

/// One bookmark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineEntry {
    /// Its depth in the tree, from 0.
    pub level: u32,
    /// What it says.
    pub title: String,
    /// The page it leads to, counted from 1, where that could be resolved.
    pub page: Option<u32>,
}

/// The text of one page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExtractedPage {
    /// Its number, counted from 1.
    pub number: u32,
    /// Its text in content order: lines end with `\n`, end-of-line hyphens are joined.
    pub text: String,
    /// The glyphs that were shown.
    pub glyphs: u32,
    /// Those among them whose character is not known.
    pub unmapped_glyphs: u32,
    /// Whether interpretation stopped early at a limit, so that text may be missing.
    pub truncated: bool,
}

/// Whether a page's text can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageQuality {
    /// It has text that can be trusted.
    Text,
    /// It has no text: blank, or a picture of text.
    Empty,
    /// More than a tenth of its glyphs stand for unknown characters; it is not indexed.
    Unreliable,
}

impl ExtractedPage {
    /// Judges the page.
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

/// What the ingestion of a document took.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IngestionStats {
    /// What read its pages.
    pub extractor: String,
    /// Tries, the last one included.
    pub attempts: u32,
    /// How long the last try read pages.
    pub extract: Duration,
    /// How long it cut them into chunks.
    pub chunk: Duration,
    /// How long it waited for embeddings.
    pub embed: Duration,
    /// How long it wrote chunks into the vector store.
    pub index: Duration,
}

/// How much of a document became searchable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// All pages.
    pub pages: u32,
    /// The numbers of pages without text.
    pub empty_pages: Vec<u32>,
    /// The numbers of pages whose text cannot be trusted and is not indexed.
    pub unreliable_pages: Vec<u32>,
    /// The numbers of pages that were cut at a limit.
    pub truncated_pages: Vec<u32>,
    /// Characters of indexed text.
    pub characters: u64,
    /// Chunks made of it.
    pub chunks: u32,
    /// Their tokens, overlaps counted twice.
    pub tokens: u64,
}

impl Coverage {
    /// What somebody should know who expects the whole document to be found; nothing when all of it is.
    pub fn warnings(&self) -> Vec<String> {
        let of_pages = |pages: &[u32], what: &str| {
            (!pages.is_empty()).then(|| format!("{} of {} pages: {what}", pages.len(), self.pages))
        };
        let warnings = [
            of_pages(&self.empty_pages, "no text (blank, or a picture of text)"),
            of_pages(&self.unreliable_pages, "text that cannot be read reliably, which is left out"),
            of_pages(&self.truncated_pages, "cut at a limit, so that text may be missing"),
        ];
        warnings.into_iter().flatten().collect()
    }

    /// Counts the pages of an extraction; chunks and tokens are still 0.
    pub fn of(extraction: &Extraction) -> Self {
        let mut coverage = Self { pages: extraction.pages.len() as u32, ..Self::default() };
        for page in &extraction.pages {
            match page.quality() {
                PageQuality::Text => coverage.characters += page.text.chars().count() as u64,
                PageQuality::Empty => coverage.empty_pages.push(page.number),
                PageQuality::Unreliable => coverage.unreliable_pages.push(page.number),
            }
            if page.truncated {
                coverage.truncated_pages.push(page.number);
            }
        }
        coverage
    }

    /// The number of pages whose text is indexed.
    pub fn pages_with_text(&self) -> u32 {
        self.pages - self.empty_pages.len() as u32 - self.unreliable_pages.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(number: u32, text: &str, glyphs: u32, unmapped_glyphs: u32) -> ExtractedPage {
        ExtractedPage { number, text: text.into(), glyphs, unmapped_glyphs, truncated: false }
    }

    #[test]
    fn a_page_is_unreliable_above_a_tenth_of_unknown_glyphs() {
        assert_eq!(page(1, "abc", 100, 10).quality(), PageQuality::Text);
        assert_eq!(page(1, "abc", 100, 11).quality(), PageQuality::Unreliable);
        assert_eq!(page(1, " \n", 0, 0).quality(), PageQuality::Empty);
        assert_eq!(page(1, "• —", 3, 0).quality(), PageQuality::Empty);
    }

    #[test]
    fn coverage_names_the_pages_left_out() {
        let pages = vec![page(1, "one", 3, 0), page(2, "", 0, 0), page(3, "xxx", 3, 3)];
        let coverage = Coverage::of(&Extraction { pages, metadata: Metadata::default() });
        assert_eq!((coverage.pages, coverage.pages_with_text(), coverage.characters), (3, 1, 3));
        assert_eq!(coverage.empty_pages, [2]);
        assert_eq!(coverage.unreliable_pages, [3]);
        let warnings = coverage.warnings();
        assert!(warnings[0].starts_with("1 of 3 pages: no text"), "{warnings:?}");
        assert_eq!(warnings.len(), 2);
        assert!(Coverage::default().warnings().is_empty());
    }
}
