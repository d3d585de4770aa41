//! Collects paragraphs and tables into sections by heading.

use super::embedded;
use super::package::Package;
use crate::reader::{Pages, PagesLimits, Sink, Stopped, TextPicture, markdown_table, one_line, shortened};
use docent_domain::extraction::{ExtractedPage, Metadata};
use std::io;

/// Maximum length of a heading in a label, in characters.
const HEADING_MAX: usize = 60;
/// Between the headings of a label.
const SEPARATOR: &str = " › ";

/// Collects the content of a document, and passes each section on with the path of its headings as label.
pub(super) struct Sections<'a, 'b> {
    pages: &'a mut Pages<'b>,
    /// Levels and titles of the headings that apply.
    path: Vec<(u8, String)>,
    text: String,
    pictures: Vec<TextPicture>,
    /// Whether the section has more than headings.
    has_body: bool,
    /// The title of the document, until its first text.
    title: Option<String>,
}

impl<'a, 'b> Sections<'a, 'b> {
    pub(super) fn new(pages: &'a mut Pages<'b>) -> Self {
        Self {
            pages,
            path: Vec::new(),
            text: String::new(),
            pictures: Vec::new(),
            has_body: false,
            title: None,
        }
    }

    /// The text that a reader adds, without sections and pictures.
    pub(super) fn text_of(
        read: impl FnOnce(&mut Sections<'_, '_>) -> Result<(), Stopped>,
    ) -> Result<String, Stopped> {
        let mut text = Text::default();
        let mut pages = Pages::new(&mut text, PagesLimits { pages: u32::MAX, text_bytes: u64::MAX });
        let mut sections = Sections::new(&mut pages);
        read(&mut sections)?;
        sections.finish()?;
        Ok(text.0)
    }

    /// Sets the title of the document, which is put before its first text unless that is the same.
    pub(super) fn title(&mut self, title: &str) {
        self.title = Some(one_line(title)).filter(|title| !title.is_empty());
    }

    /// Notes that the document has a picture, whose text may not be read.
    pub(super) fn add_picture(&mut self) {
        self.pages.add_picture();
    }

    /// Adds the picture in an entry of the file.
    pub(super) fn picture(&mut self, package: &mut Package, entry: &str) {
        self.picture_within(package, "", entry);
    }

    /// Adds the picture in an entry of an archive, which is itself an entry of the file unless its name is empty.
    pub(super) fn picture_within(&mut self, package: &mut Package, archive: &str, entry: &str) {
        if let Some(picture) = embedded::find_within(self.pages, package, archive, entry) {
            self.has_body = true;
            self.pictures.push((self.text.len(), picture));
        }
    }

    /// Adds the picture in a `data:` URI.
    pub(super) fn picture_in_uri(&mut self, uri: &str) {
        if let Some(picture) = embedded::find_in_uri(self.pages, uri) {
            self.has_body = true;
            self.pictures.push((self.text.len(), picture));
        }
    }

    fn add_title(&mut self, first: &str) {
        if let Some(title) = self.title.take().filter(|title| title != first) {
            self.text.push_str(&title);
            self.text.push_str("\n\n");
        }
    }

    /// Begins a section. A section that has only a heading so far is continued by its first subsection.
    pub(super) fn heading(&mut self, level: u8, title: &str) -> Result<(), Stopped> {
        let title = one_line(title);
        if title.is_empty() {
            return Ok(());
        }
        self.add_title(&title);
        if self.has_body {
            self.pass()?;
        }
        self.path.retain(|(of, _)| *of < level);
        self.text.push_str(&title);
        self.text.push_str("\n\n");
        self.path.push((level, title));
        Ok(())
    }

    /// Adds a paragraph, which may have several lines.
    pub(super) fn paragraph(&mut self, text: &str) {
        self.block(text.trim_matches(|c: char| c.is_whitespace()), "\n\n");
    }

    /// Adds an item of a list.
    pub(super) fn item(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.block(&format!("- {text}"), "\n");
        }
    }

    /// Adds an item of a list with its number, such as `2.1`.
    pub(super) fn numbered_item(&mut self, number: &str, text: &str) {
        self.block(&format!("{number} {}", text.trim()), "\n");
    }

    /// Adds a table.
    pub(super) fn table(&mut self, rows: &[Vec<String>]) -> Result<(), Stopped> {
        // A table with one column is layout.
        if rows.iter().all(|row| row.len() < 2) {
            for row in rows {
                self.paragraph(row.first().map(String::as_str).unwrap_or_default());
            }
            return Ok(());
        }
        let table = markdown_table(rows)?;
        if !self.text.ends_with("\n\n") && !self.text.is_empty() {
            self.text.push('\n');
        }
        self.block(&table, "\n");
        Ok(())
    }

    fn block(&mut self, text: &str, end: &str) {
        if !text.is_empty() {
            self.add_title(text);
            self.has_body = true;
            self.text.push_str(text);
            self.text.push_str(end);
        }
    }

    fn pass(&mut self) -> Result<(), Stopped> {
        let titles: Vec<String> = self.path.iter().map(|(_, title)| shortened(title, HEADING_MAX)).collect();
        let label = (!titles.is_empty()).then(|| titles.join(SEPARATOR));
        self.pages.push_pictured_section(label.as_deref(), &self.text, std::mem::take(&mut self.pictures))?;
        self.text.clear();
        self.has_body = false;
        Ok(())
    }

    /// Passes the last section on.
    pub(super) fn finish(mut self) -> Result<(), Stopped> {
        self.add_title("");
        self.pass()
    }
}

/// Collects the texts of pages.
#[derive(Default)]
struct Text(String);

impl Sink for Text {
    fn page(&mut self, page: ExtractedPage) -> io::Result<()> {
        self.0.push_str(&page.text);
        self.0.push_str("\n\n");
        Ok(())
    }

    fn complete(&mut self, _: u32) -> io::Result<()> {
        Ok(())
    }

    fn metadata(&mut self, _: Metadata) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    #[test]
    fn sections_are_labelled_by_the_path_of_their_headings() {
        let pages = collect(LIMITS, |pages| {
            let mut sections = Sections::new(pages);
            sections.paragraph("Before.");
            sections.heading(1, "Setup")?;
            sections.heading(2, "Network\n cables")?;
            sections.paragraph("Plug in.");
            sections.item("one");
            sections.table(&[vec!["a".to_owned(), "b".to_owned()]])?;
            sections.heading(3, "Deep")?;
            sections.paragraph("Text.");
            sections.heading(1, "End")?;
            sections.finish()
        });
        let pages = pages.unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Part 1", "Setup › Network cables", "Setup › Network cables › Deep", "End"]);
        assert_eq!(pages[1].1, "Setup\n\nNetwork cables\n\nPlug in.\n\n- one\n\n| a | b |\n|---|---|");
    }
}
