//! Text extracted from a file, page by page, and its quality.

mod coverage;

pub use coverage::{Coverage, CoverageWarning, PageLabels, RecognitionCoverage, RecognizedPageCoverage};

use crate::picture_description::PictureDescription;
use crate::recognition::{PageBox, Recognition, RecognizedPage};
use std::time::Duration;

/// The text and metadata of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extraction {
    /// Pages in order, numbered from 1.
    pub pages: Vec<ExtractedPage>,
    /// Metadata stored in the file.
    pub metadata: Metadata,
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
    /// Places of pictures that may show text, at most [`PICTURES_MAX`], the largest first. Pictures below text and small ones
    /// are left out. Files other than PDFs have pictures below each other.
    pub pictures: Vec<Picture>,
    /// The page's text before that of pictures was added; `None` without such text.
    pub own_text: Option<String>,
    /// What a model says of the page's pictures, if it was asked.
    pub description: Option<PictureDescription>,
    /// Whether cells with formulas have no saved result.
    pub lacks_results: bool,
}

/// A picture on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Where it is.
    pub place: PageBox,
    /// Offset in the page's own text, in bytes, at which text of the picture is added.
    pub at: u32,
}

/// Maximum number of pictures that are remembered of a page.
pub const PICTURES_MAX: usize = 8;

/// Text of pictures with a lower mean confidence, in percent, is left out: recognizers read patterns of photographs as
/// letters.
const MIN_PICTURE_CONFIDENCE: u8 = 60;

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
    /// Whether the text of the page's image is needed from this recognizer: the page [has an unread
    /// image](Self::has_unread_image), or another recognizer has read it.
    pub fn needs_recognition(&self, recognizer: &str) -> bool {
        match &self.recognition {
            Some(recognition) => recognition.recognizer != recognizer,
            None => self.has_unread_image(),
        }
    }

    /// Whether the page has an image whose text was not recognised: pictures, or that of the whole page. A labelled page without
    /// text has none beside its pictures; one with glyphs is of a PDF, which may be attached to a message.
    pub fn has_unread_image(&self) -> bool {
        let is_drawn = match self.read_quality() {
            PageQuality::Text => false,
            PageQuality::Unreliable => true,
            PageQuality::Empty => self.label.is_none(),
        };
        self.recognition.is_none() && (is_drawn || !self.pictures.is_empty())
    }

    /// The pictures to recognise text on, beside the page's own text; empty if the whole page is recognised.
    pub fn scanned_pictures(&self) -> &[Picture] {
        if self.read_quality() == PageQuality::Text && !self.is_replaced() { &self.pictures } else { &[] }
    }

    /// Whether the recognised text of the whole page is its text.
    fn is_replaced(&self) -> bool {
        self.own_text.is_none() && self.recognition.as_ref().is_some_and(|it| it.reliable().is_some())
    }

    /// Whether a description of the page's pictures is needed from this model. A page of a PDF without text may be a scan, which a description cannot
    /// replace: it needs one only if nothing was recognised on it.
    pub fn needs_description(&self, model: &str) -> bool {
        let is_picture = match self.read_quality() {
            PageQuality::Text => !self.is_replaced(),
            PageQuality::Empty => self.label.is_some() || self.recognition.is_some(),
            PageQuality::Unreliable => false,
        };
        is_picture
            && !self.pictures.is_empty()
            && self.description.as_ref().is_none_or(|description| description.model != model)
    }

    /// The page's text without the description of its pictures.
    fn read_text(&self) -> &str {
        let description = self.description.as_ref().map(PictureDescription::paragraphs).unwrap_or_default();
        self.text.strip_suffix(&description).unwrap_or(&self.text)
    }

    /// Adds the description of the page's pictures at its end, in place of an earlier one.
    pub fn set_description(&mut self, description: Option<PictureDescription>) {
        self.text.truncate(self.read_text().len());
        self.text.push_str(&description.as_ref().map(PictureDescription::paragraphs).unwrap_or_default());
        self.description = description;
    }

    /// The recognised text that can be used for this page: the whole, or that of pictures that show text.
    fn usable(&self, recognition: &Recognition) -> Option<RecognizedPage> {
        let pictures = self.scanned_pictures();
        if pictures.is_empty() {
            return recognition.reliable().cloned();
        }
        let recognized = recognition.result.as_ref().ok()?;
        let parts = by_picture(pictures, recognized).into_iter();
        let is_text =
            |part: &RecognizedPage| part.is_reliable() && part.confidence() >= MIN_PICTURE_CONFIDENCE;
        let lines: Vec<_> = parts.filter(is_text).flat_map(|part| part.lines).collect();
        (!lines.is_empty()).then_some(RecognizedPage { lines })
    }

    /// Adds the result of a recognition. Text that can be used replaces the page's own, or is added where the pictures are if
    /// only [these](Self::scanned_pictures) were recognised. A description of pictures stays.
    pub fn set_recognition(&mut self, recognition: Recognition) {
        let description = self.description.clone();
        self.set_description(None);
        if !self.scanned_pictures().is_empty() {
            let page = self.usable(&recognition);
            let own = self.own_text.take().unwrap_or_else(|| std::mem::take(&mut self.text));
            self.text = page.map_or_else(|| own.clone(), |page| with_pictures(&own, &self.pictures, &page));
            self.own_text = Some(own);
        } else if let Some(page) = recognition.reliable() {
            self.text = page.text();
            (self.glyphs, self.unmapped_glyphs) = (0, 0);
        }
        self.recognition = Some(recognition);
        self.set_description(description);
    }

    /// Determines the quality of the page's text.
    pub fn quality(&self) -> PageQuality {
        self.quality_of(&self.text)
    }

    /// The quality of the text without the description of pictures.
    fn read_quality(&self) -> PageQuality {
        self.quality_of(self.read_text())
    }

    fn quality_of(&self, text: &str) -> PageQuality {
        if u64::from(self.unmapped_glyphs) * 10 > u64::from(self.glyphs) {
            PageQuality::Unreliable
        } else if text.chars().any(char::is_alphanumeric) {
            PageQuality::Text
        } else {
            PageQuality::Empty
        }
    }
}

/// The lines that were recognised on each picture.
fn by_picture(pictures: &[Picture], recognized: &RecognizedPage) -> Vec<RecognizedPage> {
    let mut parts = vec![RecognizedPage::default(); pictures.len()];
    for line in &recognized.lines {
        let picture = pictures.iter().position(|picture| line.is_in(picture.place)).unwrap_or(0);
        if let Some(part) = parts.get_mut(picture) {
            part.lines.push(line.clone());
        }
    }
    parts
}

/// Adds the text that was recognised on pictures where these are, as paragraphs.
fn with_pictures(own: &str, pictures: &[Picture], recognized: &RecognizedPage) -> String {
    let parts = by_picture(pictures, recognized);
    let mut parts: Vec<(&Picture, RecognizedPage)> = pictures.iter().zip(parts).collect();
    parts.retain(|(_, part)| !part.lines.is_empty());
    // The last one first, so that offsets stay right.
    parts.sort_by_key(|(picture, _)| std::cmp::Reverse((picture.at, picture.place.top)));
    let mut text = own.to_owned();
    for (picture, part) in parts {
        let at = text.floor_char_boundary(picture.at as usize);
        let is_paragraph = text[at..].is_empty() || text[at..].starts_with('\n');
        text.insert_str(at, &format!("\n{}{}", part.text(), if is_paragraph { "" } else { "\n" }));
    }
    text
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recognition::{PageBox, RecognitionFailure, RecognizedLine, RecognizedPage, RecognizedWord};

    fn page(number: u32, text: &str, glyphs: u32, unmapped_glyphs: u32) -> ExtractedPage {
        ExtractedPage { number, text: text.into(), glyphs, unmapped_glyphs, ..ExtractedPage::default() }
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

    #[test]
    fn text_of_pictures_is_added_where_they_are() {
        let line = |text: &str, top| RecognizedLine {
            words: vec![RecognizedWord {
                text: text.to_owned(),
                bounds: PageBox { left: 100, top, right: 200, bottom: top + 100 },
                confidence: 90,
            }],
            begins_paragraph: true,
        };
        let picture =
            |top, at| Picture { place: PageBox { left: 0, top, right: 9000, bottom: top + 1000 }, at };
        let page = RecognizedPage { lines: vec![line("first", 1100), line("second", 5100)] };
        let own = "Plän:\n\nNext\nsteps\n";
        let at = |text: &str| u32::try_from(own.find(text).unwrap()).unwrap();
        let pictures = [picture(5000, at("steps")), picture(1000, at("\nNext"))];
        assert_eq!(with_pictures(own, &pictures, &page), "Plän:\n\nfirst\n\nNext\n\nsecond\n\nsteps\n");
        assert_eq!(
            with_pictures("a\n", &[picture(5000, 2), picture(1000, 2)], &page),
            "a\n\nfirst\n\nsecond\n",
            "the upper one is first"
        );
        // Offsets of another reader.
        assert_eq!(with_pictures("ä", &[picture(0, 1)], &page), "\nfirst\n\nsecond\n\nä");
        assert_eq!(with_pictures("ä\n", &[picture(0, 99)], &page), "ä\n\nfirst\n\nsecond\n");
    }

    #[test]
    fn patterns_of_a_photograph_do_not_hide_the_table_beside_it() {
        let line = |text: &str, top, confidence| RecognizedLine {
            words: vec![RecognizedWord {
                text: text.to_owned(),
                bounds: PageBox { left: 100, top, right: 200, bottom: top + 100 },
                confidence,
            }],
            begins_paragraph: true,
        };
        let picture =
            |top| Picture { place: PageBox { left: 0, top, right: 9000, bottom: top + 1000 }, at: 4 };
        let mut page =
            ExtractedPage { pictures: vec![picture(1000), picture(5000)], ..page(1, "own\n", 3, 0) };
        let lines = vec![line("blots-and-blots-and-blots", 1100, 30), line("$71", 5100, 90)];
        page.set_recognition(Recognition { result: Ok(RecognizedPage { lines }), ..recognition("", 0) });
        assert_eq!(page.text, "own\n\n$71\n");
    }

    #[test]
    fn description_stays_beside_what_is_recognised() {
        let place = PageBox { left: 0, top: 0, right: PageBox::UNITS, bottom: PageBox::UNITS };
        let described = |text: Option<&str>| {
            Some(PictureDescription { model: "eye 1".to_owned(), text: text.map(str::to_owned) })
        };
        let mut chart = ExtractedPage { pictures: vec![Picture { place, at: 4 }], ..page(1, "own\n", 3, 0) };
        assert!(chart.needs_description("eye 1"));
        chart.set_description(described(Some("A chart.")));
        assert_eq!(chart.text, "own\n\nPicture, described by eye 1: A chart.\n");
        assert!(!chart.needs_description("eye 1") && chart.needs_description("eye 2"));
        assert!(chart.needs_recognition("ocr 1 (eng)"), "nothing was recognised on it");
        chart.set_recognition(recognition("word", 90));
        assert_eq!(chart.text, "own\n\nword\n\nPicture, described by eye 1: A chart.\n");
        chart.set_description(described(Some("Two charts.")));
        assert_eq!(chart.text, "own\n\nword\n\nPicture, described by eye 1: Two charts.\n");

        let picture =
            |number| ExtractedPage { pictures: vec![Picture { place, at: 0 }], ..page(number, "", 0, 0) };
        assert!(!picture(9).needs_description("eye 1"), "it may be a scan");
        let mut unread = picture(9);
        unread.set_recognition(recognition("blot", 10));
        assert!(unread.needs_description("eye 1"), "nothing was recognised on it");
        let (mut photo, mut failed, mut blank, mut scan) = (picture(2), picture(3), picture(4), picture(5));
        photo.set_description(described(Some("A photograph of a pump.")));
        assert!(photo.needs_recognition("ocr 1 (eng)") && photo.scanned_pictures().is_empty());
        failed.set_description(described(None));
        blank.set_description(described(Some("")));
        scan.set_recognition(recognition("word", 90));
        assert!(!scan.needs_description("eye 1"), "its text was recognised");
        let coverage = Coverage::of(&Extraction {
            pages: vec![chart, photo, failed, blank, scan],
            ..Extraction::default()
        });
        assert_eq!((coverage.described_pages, coverage.undescribed_pages), (vec![1, 2], vec![3]));
        assert_eq!((coverage.empty_pages, coverage.unread_picture_pages), (vec![3, 4], vec![]));
    }

    #[test]
    fn labelled_pages_are_recognised_for_their_pictures_alone() {
        let labelled = |text: &str, pictures| ExtractedPage {
            label: Some("Slide 1".to_owned()),
            pictures,
            ..page(1, text, 0, 0)
        };
        assert!(!labelled("", Vec::new()).needs_recognition("ocr 1"), "an empty slide has no image");
        let attached = ExtractedPage { glyphs: 3, unmapped_glyphs: 3, ..labelled("xxx", Vec::new()) };
        assert!(attached.needs_recognition("ocr 1"), "a page of a PDF in a message has one");
        let place = PageBox { left: 0, top: 0, right: PageBox::UNITS, bottom: PageBox::UNITS };
        let picture = Picture { place, at: 3 };
        let mut slide = labelled("own\nlast\n", vec![picture]);
        assert!(slide.needs_recognition("ocr 1") && slide.scanned_pictures() == [picture]);
        slide.set_recognition(recognition("word", 90));
        assert_eq!(slide.text, "own\nword\n\nlast\n");
        let mut empty = labelled("", vec![picture]);
        assert!(empty.needs_recognition("ocr 1") && empty.scanned_pictures().is_empty());
        empty.set_recognition(recognition("word", 90));
        assert_eq!(empty.text, "word\n");
        assert!(empty.scanned_pictures().is_empty(), "its text is that of the picture");
    }

    #[test]
    fn text_of_pictures_of_another_recognizer_replaces_that_of_the_first() {
        let place = PageBox { left: 0, top: 0, right: 5000, bottom: 5000 };
        let picture = Picture { place, at: 4 };
        let mut pictured = ExtractedPage { pictures: vec![picture], ..page(1, "own\n", 3, 0) };
        let coverage = |page: &ExtractedPage| {
            Coverage::of(&Extraction { pages: vec![page.clone()], ..Extraction::default() })
        };
        assert_eq!(coverage(&pictured).unread_picture_pages, [1]);
        assert!(pictured.needs_recognition("ocr 1 (eng)"));
        assert_eq!(pictured.scanned_pictures(), [picture]);
        pictured.set_recognition(recognition("word", 90));
        assert_eq!(pictured.text, "own\n\nword\n");
        // Another recognizer's text takes the place of the first one's.
        pictured.set_recognition(Recognition { recognizer: "ocr 2".into(), ..recognition("words", 80) });
        assert_eq!(pictured.text, "own\n\nwords\n");
        let found = coverage(&pictured);
        let recognition_found = found.recognition.as_ref().unwrap();
        assert!(recognition_found.has_pictures_of(1) && !recognition_found.has_page(1));
        assert_eq!((recognition_found.confidence(), found.unread_picture_pages.len()), (80, 0));
        // A photograph.
        pictured.set_recognition(recognition("blot", MIN_PICTURE_CONFIDENCE - 1));
        assert_eq!((pictured.text.as_str(), coverage(&pictured).warnings().len()), ("own\n", 0));
        assert_eq!(pictured.own_text.as_deref(), Some("own\n"));
        // A scan is read as a whole, also by another recognizer.
        let mut scan = ExtractedPage { pictures: vec![picture], ..page(1, "", 0, 0) };
        assert_eq!(coverage(&scan).unread_picture_pages, [0; 0], "it is listed as empty");
        for text in ["one", "two"] {
            assert!(scan.scanned_pictures().is_empty());
            scan.set_recognition(recognition(text, 90));
            assert_eq!(scan.text, format!("{text}\n"));
        }
    }
}
