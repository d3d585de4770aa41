//! What the readers of the file formats share.

use super::embedded_picture::{self, EmbeddedPicture};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{ExtractedPage, LABEL_MAX, Metadata, Picture};
use docent_domain::file_type::FileType;
use docent_text::table;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;

/// Maximum size of a page in bytes; longer sections are cut. The viewer shows a page at once.
const PAGE_BYTES: usize = 16 * 1024;
/// Maximum number of columns of a table: that of a sheet of Excel.
const COLUMNS_MAX: usize = 16_384;

/// Receives pages and metadata as they are read.
pub(super) trait Sink {
    /// Receives the next page.
    fn page(&mut self, page: ExtractedPage) -> io::Result<()>;
    /// Reports that all `pages` pages have been passed.
    fn complete(&mut self, pages: u32) -> io::Result<()>;
    /// Receives title, author and outline. Called last, and not if they cannot be read.
    fn metadata(&mut self, metadata: Metadata) -> io::Result<()>;
}

/// Why reading stopped.
#[derive(Debug)]
pub(super) enum Stopped {
    /// The document cannot be read.
    Document(Failure),
    /// The sink failed.
    Sink(io::Error),
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Sink(error)
    }
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Document(failure)
    }
}

/// The failure of a damaged file, with what is wrong with it.
pub(super) fn damaged(what: &str) -> Failure {
    Failure::because(FailureCode::Unreadable, format!("the file is damaged and cannot be read: {what}"))
}

/// Limits for the pages of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct PagesLimits {
    pub(super) pages: u32,
    pub(super) text_bytes: u64,
}

/// A picture and its offset in a text, in bytes.
pub(super) type TextPicture = (usize, EmbeddedPicture);

/// Where the image of a page comes from.
#[derive(Debug)]
pub(super) enum PageSource {
    /// These pictures.
    Pictures(Vec<EmbeddedPicture>),
    /// A page of an attached file.
    Attachment { file_type: FileType, bytes: Vec<u8>, page: u32 },
}

/// Passes labelled pages on, numbered and within the limits.
pub(super) struct Pages<'a> {
    sink: &'a mut dyn Sink,
    limits: PagesLimits,
    count: u32,
    text_bytes: u64,
    has_pictures: bool,
    /// Hashes of the entries of the pictures so far. One that is repeated is a logo or a background.
    pictures: HashSet<u64>,
    lacks_results: bool,
    /// The number of the page whose source is looked for.
    wanted: Option<u32>,
    source: Option<PageSource>,
}

impl<'a> Pages<'a> {
    pub(super) fn new(sink: &'a mut dyn Sink, limits: PagesLimits) -> Self {
        Self {
            sink,
            limits,
            count: 0,
            text_bytes: 0,
            has_pictures: false,
            pictures: HashSet::new(),
            lacks_results: false,
            wanted: None,
            source: None,
        }
    }

    /// Looks for the source of a page.
    pub(super) fn want_source(&mut self, page: u32) {
        self.wanted = Some(page);
    }

    /// The source of the wanted page, if it has one.
    pub(super) fn into_source(self) -> Option<PageSource> {
        self.source
    }

    /// Whether the source of the next page is wanted.
    pub(super) fn is_next_wanted(&self) -> bool {
        self.wanted == Some(self.count.saturating_add(1))
    }

    /// Sets the source of the next page.
    pub(super) fn set_source(&mut self, source: PageSource) {
        self.source = Some(source);
    }

    /// The limits for the whole file.
    pub(super) const fn limits(&self) -> PagesLimits {
        self.limits
    }

    /// Notes that the file has a picture, whose text may not be read.
    pub(super) const fn add_picture(&mut self) {
        self.has_pictures = true;
    }

    /// Notes a picture in an entry of the file; false if it was on an earlier page.
    pub(super) fn is_new_picture(&mut self, entry: &str) -> bool {
        self.has_pictures = true;
        // An entry can be a URI with all bytes of the picture.
        let mut hasher = DefaultHasher::new();
        entry.hash(&mut hasher);
        self.pictures.insert(hasher.finish())
    }

    /// Sets whether the pages that follow have formulas without a saved result.
    pub(super) const fn set_lacks_results(&mut self, lacks_results: bool) {
        self.lacks_results = lacks_results;
    }

    /// Passes a page on.
    pub(super) fn push(&mut self, label: &str, text: &str) -> Result<(), Stopped> {
        self.push_pictured(label, text, &[])
    }

    /// Passes on a page with pictures.
    pub(super) fn push_pictured(
        &mut self,
        label: &str,
        text: &str,
        pictures: &[TextPicture],
    ) -> Result<(), Stopped> {
        let largest = embedded_picture::largest(pictures.iter().map(|(_, picture)| picture));
        if self.is_next_wanted() && !largest.is_empty() {
            let pictures = largest.iter().map(|index| pictures[*index].1.clone()).collect();
            self.set_source(PageSource::Pictures(pictures));
        }
        let placed = |(row, index): (usize, &usize)| {
            let at = clean(&text[..text.floor_char_boundary(pictures[*index].0)]).len();
            Picture {
                place: embedded_picture::place(row, largest.len()),
                at: u32::try_from(at).unwrap_or(u32::MAX),
            }
        };
        let pictures = largest.iter().enumerate().map(placed).collect();
        self.push_page(label, ExtractedPage { text: text.to_owned(), pictures, ..ExtractedPage::default() })
    }

    /// Passes on a page that another reader extracted, with this label and the next number.
    pub(super) fn push_page(&mut self, label: &str, page: ExtractedPage) -> Result<(), Stopped> {
        let number = self.count.saturating_add(1);
        if number > self.limits.pages {
            return Err(Failure::of(FailureCode::TooManyPages).into());
        }
        let text = clean(&page.text);
        self.text_bytes += text.len() as u64;
        if self.text_bytes > self.limits.text_bytes {
            return Err(Failure::of(FailureCode::TooMuchText).into());
        }
        let label = one_line(label);
        let label = if label.is_empty() { part_label(number) } else { shortened(&label, LABEL_MAX) };
        self.count = number;
        let lacks_results = page.lacks_results || self.lacks_results;
        self.sink.page(ExtractedPage { number, text, label: Some(label), lacks_results, ..page })?;
        Ok(())
    }

    /// Passes on a section without pictures, as [`Self::push_pictured_section`].
    pub(super) fn push_section(&mut self, label: Option<&str>, text: &str) -> Result<(), Stopped> {
        self.push_pictured_section(label, text, Vec::new())
    }

    /// Passes a section on as one page, or as several if it is long. A section without a label is called by the number of
    /// the page. Nothing is passed on of a section without text and pictures, which are in the order of their offsets.
    pub(super) fn push_pictured_section(
        &mut self,
        label: Option<&str>,
        text: &str,
        pictures: Vec<TextPicture>,
    ) -> Result<(), Stopped> {
        let mut rest = text.trim_matches('\n');
        let mut start = text.len() - text.trim_start_matches('\n').len();
        let mut pictures = pictures.into_iter().peekable();
        let mut part = 1;
        while !rest.trim().is_empty() || pictures.peek().is_some() {
            let (piece, after) = rest.split_at(cut(rest));
            let mut on_piece = Vec::new();
            while let Some((at, picture)) =
                pictures.next_if(|(at, _)| *at < start + piece.len() || after.trim().is_empty())
            {
                on_piece.push((at.saturating_sub(start), picture));
            }
            let label = match label {
                None => part_label(self.count.saturating_add(1)),
                Some(label) if part == 1 => label.to_owned(),
                Some(label) => {
                    let suffix = format!(" (part {part})");
                    shortened(&one_line(label), LABEL_MAX - suffix.len()) + &suffix
                }
            };
            self.push_pictured(&label, piece.trim_end(), &on_piece)?;
            let next = after.trim_start_matches('\n');
            start += rest.len() - next.len();
            (rest, part) = (next, part + 1);
        }
        Ok(())
    }

    /// Reports that all pages were passed on.
    ///
    /// A file with pictures alone has an empty page: it is not empty, its text cannot be read.
    pub(super) fn finish(mut self) -> Result<(), Stopped> {
        if self.count == 0 && self.has_pictures {
            self.push(&part_label(1), "")?;
        }
        self.sink.complete(self.count)?;
        self.sink.metadata(Metadata::default())?;
        Ok(())
    }
}

/// The text without control characters and optional hyphens, which are shown only at the end of a line. Ends of lines and pages
/// are line feeds.
fn clean(text: &str) -> String {
    let shown = |c| match c {
        '\n' | '\t' => Some(c),
        '\u{b}' | '\u{c}' | '\u{85}' => Some('\n'),
        '\u{ad}' => None,
        c => Some(c).filter(|c| !c.is_control()),
    };
    text.chars().filter_map(shown).collect()
}

/// Where a text is cut so that its beginning fits on a page: after a paragraph if possible, otherwise after a line or a
/// word.
fn cut(text: &str) -> usize {
    if text.len() <= PAGE_BYTES {
        return text.len();
    }
    let end = (0..=PAGE_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    let head = &text[..end];
    let after = |separator: &str| head.rfind(separator).map(|at| at + separator.len());
    // A cut in the first half would make many small pages.
    let late = |at: &usize| *at > PAGE_BYTES / 2;
    after("\n\n")
        .filter(late)
        .or_else(|| after("\n").filter(late))
        .or_else(|| after(" ").filter(late))
        .unwrap_or(end)
}

/// The label of a page without one of its own.
fn part_label(number: u32) -> String {
    format!("Part {number}")
}

/// Reduces white space and control characters to single spaces.
pub(super) fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The text, or its beginning with an ellipsis if it has more than `max` characters.
pub(super) fn shortened(text: &str, max: usize) -> String {
    if text.chars().count() <= max {
        return text.to_owned();
    }
    let start: String = text.chars().take(max.saturating_sub(1)).collect();
    start.trim_end().to_owned() + "…"
}

/// Formats rows as a Markdown table, the first one as its header. Empty rows are left out. A table with too many columns is a
/// failure.
pub(super) fn markdown_table(rows: &[Vec<String>]) -> Result<String, Failure> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns > COLUMNS_MAX {
        let reason = format!("a table has more columns than the limits allow ({COLUMNS_MAX})");
        return Err(Failure::because(FailureCode::TooMuchText, reason));
    }
    let mut table = String::new();
    let is_empty = |row: &&Vec<String>| row.iter().all(|cell| cell.trim().is_empty());
    for (index, row) in rows.iter().filter(|row| !is_empty(row)).enumerate() {
        let cell = |column: usize| one_line(row.get(column).map(String::as_str).unwrap_or_default());
        let cells: Vec<_> = (0..columns).map(cell).collect();
        table.push_str(&table::row(cells.iter().map(|cell| &**cell)));
        table.push('\n');
        if index == 0 {
            table.push_str(&table::delimiter(columns));
            table.push('\n');
        }
    }
    Ok(table)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use docent_domain::extraction::Extraction;

    /// Limits that small files do not reach.
    pub(crate) const LIMITS: PagesLimits = PagesLimits { pages: 1000, text_bytes: 1 << 20 };

    /// Collects labels and texts.
    pub(crate) fn collect(
        limits: PagesLimits,
        read: impl FnOnce(&mut Pages<'_>) -> Result<(), Stopped>,
    ) -> Result<Vec<(String, String)>, FailureCode> {
        let mut extraction = Extraction::default();
        let mut pages = Pages::new(&mut extraction, limits);
        match read(&mut pages) {
            Ok(()) => pages.finish().unwrap(),
            Err(Stopped::Document(failure)) => return Err(failure.code),
            Err(Stopped::Sink(error)) => panic!("{error}"),
        }
        Ok(extraction.pages.into_iter().map(|page| (page.label.unwrap(), page.text)).collect())
    }

    #[test]
    fn long_section_is_cut_at_paragraphs() {
        let paragraph = "word ".repeat(1000) + "\n\n";
        let pages = collect(LIMITS, |pages| pages.push_section(Some("A"), &paragraph.repeat(7))).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["A", "A (part 2)", "A (part 3)"]);
        assert!(pages.iter().all(|(_, text)| text.ends_with("word") && text.len() <= PAGE_BYTES));
        let pages = collect(LIMITS, |pages| pages.push_section(None, &"ä".repeat(PAGE_BYTES))).unwrap();
        assert_eq!(pages.len(), 2);
        assert_eq!(pages[1].0, "Part 2");
        assert_eq!(pages.iter().map(|(_, text)| text.len()).sum::<usize>(), 2 * PAGE_BYTES);
        assert!(collect(LIMITS, |pages| pages.push_section(None, " \n\n ")).unwrap().is_empty());
    }

    #[test]
    fn pages_have_clean_text_and_short_labels() {
        let label = "Über \n  Größen ".repeat(50);
        let pages = collect(LIMITS, |pages| pages.push(&label, "a\0b\u{7}\tc\nd\u{c}e\u{ad}f")).unwrap();
        assert_eq!(pages[0].1, "ab\tc\nd\nef");
        assert_eq!(pages[0].0.chars().count(), LABEL_MAX);
        assert!(pages[0].0.starts_with("Über Größen Über") && pages[0].0.ends_with('…'));
        let labels = ["A\u{1a}", "a\0b\tc", "\u{7}"];
        let pages =
            collect(LIMITS, |pages| labels.iter().try_for_each(|label| pages.push(label, "text"))).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["A", "a b c", "Part 3"]);
    }

    #[test]
    fn limits_of_pages_and_text_are_failures() {
        let limits = PagesLimits { pages: 2, text_bytes: 10 };
        let three = |pages: &mut Pages<'_>| (0..3).try_for_each(|_| pages.push("a", "b"));
        assert_eq!(collect(limits, three), Err(FailureCode::TooManyPages));
        assert_eq!(collect(limits, |pages| pages.push("a", "0123456789a")), Err(FailureCode::TooMuchText));
    }

    #[test]
    fn table_is_markdown_with_escaped_cells() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let table = markdown_table(&[row(&["a", "b|c"]), row(&["", " "]), row(&["two\nlines"])]);
        assert_eq!(table.unwrap(), "| a | b\\|c |\n|---|---|\n| two lines | |\n");
        assert_eq!(markdown_table(&[]).unwrap(), "");
    }

    #[test]
    fn table_with_too_many_columns_is_a_failure() {
        let rows = |columns| [vec!["a".to_owned(); columns]];
        assert!(markdown_table(&rows(COLUMNS_MAX)).is_ok());
        let failure = markdown_table(&rows(COLUMNS_MAX + 1)).unwrap_err();
        assert_eq!(failure.code, FailureCode::TooMuchText);
        assert_eq!(failure.reason, "a table has more columns than the limits allow (16384)");
    }
}
