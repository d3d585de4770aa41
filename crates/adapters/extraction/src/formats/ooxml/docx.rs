//! Reads documents of Word, in sections by heading.

use super::relations::Relations;
use crate::formats::package::Package;
use crate::formats::sections::Sections;
use crate::formats::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped};
use std::collections::HashMap;

/// Elements whose content is left out: deleted and moved text, field codes, and the older form of a drawing.
const SKIPPED: [&str; 5] = ["del", "moveFrom", "instrText", "Fallback", "pPrChange"];
/// Maximum number of columns that a cell spans.
const SPAN_MAX: usize = 100;
/// Maximum length of a chain of styles that are based on each other.
const STYLES_MAX: usize = 10;

/// Passes the sections of a document on, with its notes at the end.
pub(super) fn read(
    package: &mut Package,
    path: &str,
    xml: &str,
    pages: &mut Pages<'_>,
) -> Result<(), Stopped> {
    let relations = Relations::read(package, path)?;
    let mut styles = Styles::default();
    if let Some(path) = relations.first("styles")
        && let Some(xml) = package.read_xml(&path)?
    {
        walk(&xml, &mut styles)?;
    }
    let mut body = Body::new(&styles, Sections::new(pages));
    walk(xml, &mut body)?;
    for (kind, title) in [("footnotes", "Footnotes"), ("endnotes", "Endnotes")] {
        if let Some(path) = relations.first(kind)
            && let Some(xml) = package.read_xml(&path)?
        {
            body.pending_heading = Some(title);
            walk(&xml, &mut body)?;
        }
    }
    body.sections.finish()
}

/// Levels of headings by the ID of their style.
#[derive(Default)]
struct Styles {
    styles: HashMap<String, Style>,
    current: String,
}

#[derive(Default)]
struct Style {
    level: Option<u8>,
    based_on: Option<String>,
}

impl Styles {
    fn level(&self, id: &str) -> Option<u8> {
        let mut style = self.styles.get(id);
        for _ in 0..STYLES_MAX {
            let current = style?;
            if current.level.is_some() {
                return current.level;
            }
            style = self.styles.get(current.based_on.as_deref()?);
        }
        None
    }
}

impl Handler for Styles {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        let value = element.attribute("val");
        match element.name {
            "style" => {
                self.current = element.attribute("styleId").unwrap_or_default();
                self.styles.insert(self.current.clone(), Style::default());
            }
            "name" => {
                let name = value.unwrap_or_default().to_lowercase();
                let level = match name.strip_prefix("heading ") {
                    Some(level) => level.trim().parse().ok(),
                    None => (name == "title").then_some(1),
                };
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.level = style.level.or(level);
                }
            }
            "basedOn" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.based_on = value;
                }
            }
            "outlineLvl" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.level = outline_level(value).or(style.level);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// The level of a heading; 9 stands for body text.
fn outline_level(value: Option<String>) -> Option<u8> {
    value?.parse::<u8>().ok().filter(|level| *level < 9).map(|level| level + 1)
}

/// A paragraph. Text boxes nest them.
#[derive(Default)]
struct Paragraph {
    text: String,
    level: Option<u8>,
    is_item: bool,
}

struct Body<'s, 'a, 'b> {
    styles: &'s Styles,
    sections: Sections<'a, 'b>,
    paragraphs: Vec<Paragraph>,
    /// The rows of the open tables.
    tables: Vec<Vec<Vec<String>>>,
    /// Depth within an element that is left out.
    skipped: usize,
    is_in_text: bool,
    /// Heading before the next paragraph with text.
    pending_heading: Option<&'static str>,
}

impl<'s, 'a, 'b> Body<'s, 'a, 'b> {
    fn new(styles: &'s Styles, sections: Sections<'a, 'b>) -> Self {
        Self {
            styles,
            sections,
            paragraphs: Vec::new(),
            tables: Vec::new(),
            skipped: 0,
            is_in_text: false,
            pending_heading: None,
        }
    }

    fn cell(&mut self) -> Option<&mut String> {
        self.tables.last_mut()?.last_mut()?.last_mut()
    }

    fn add(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn pass(&mut self, paragraph: &Paragraph) -> Result<(), Stopped> {
        let text = paragraph.text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if let Some(cell) = self.cell() {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(text);
            return Ok(());
        }
        if let Some(heading) = self.pending_heading.take() {
            self.sections.heading(1, heading)?;
        }
        match paragraph.level {
            Some(level) => self.sections.heading(level, text)?,
            None if paragraph.is_item => self.sections.item(text),
            None => self.sections.paragraph(text),
        }
        Ok(())
    }
}

impl Handler for Body<'_, '_, '_> {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if self.skipped > 0 || SKIPPED.contains(&element.name) {
            self.skipped += 1;
            return Ok(());
        }
        match element.name {
            "p" => self.paragraphs.push(Paragraph::default()),
            "pStyle" => {
                let level = element.attribute("val").and_then(|id| self.styles.level(&id));
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.level = paragraph.level.or(level);
                }
            }
            "outlineLvl" => {
                let level = outline_level(element.attribute("val"));
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.level = level.or(paragraph.level);
                }
            }
            "numPr" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.is_item = true;
                }
            }
            "t" => self.is_in_text = true,
            "tab" => self.add(" "),
            "br" | "cr" => self.add("\n"),
            "noBreakHyphen" => self.add("-"),
            "tbl" => self.tables.push(Vec::new()),
            "tr" => {
                if let Some(rows) = self.tables.last_mut() {
                    rows.push(Vec::new());
                }
            }
            "tc" => {
                if let Some(row) = self.tables.last_mut().and_then(|rows| rows.last_mut()) {
                    row.push(String::new());
                }
            }
            "gridSpan" => {
                let span = element.attribute("val").and_then(|span| span.parse::<usize>().ok());
                if let Some(row) = self.tables.last_mut().and_then(|rows| rows.last_mut()) {
                    // The text of a cell is at the end of its columns.
                    row.extend(vec![String::new(); span.unwrap_or(1).clamp(1, SPAN_MAX) - 1]);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        match name {
            "t" => self.is_in_text = false,
            "p" => {
                if let Some(paragraph) = self.paragraphs.pop() {
                    self.pass(&paragraph)?;
                }
            }
            "tbl" => {
                if let Some(rows) = self.tables.pop() {
                    match self.cell() {
                        // A table in a cell is text of that cell.
                        Some(cell) => {
                            for text in rows.into_iter().flatten().filter(|text| !text.is_empty()) {
                                cell.push(' ');
                                cell.push_str(&text);
                            }
                        }
                        None => self.sections.table(&rows)?,
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        if self.skipped == 0 && self.is_in_text {
            self.add(text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::tests::archive;
    use crate::reader::tests::{LIMITS, collect};
    use docent_domain::document::FailureCode;
    use docent_domain::file_type::FileType;

    const RELS: &str = "<Relationships><Relationship Id='r1' Type='http://x/officeDocument' Target='word/document.xml'/></Relationships>";
    const PARTS: &str = "<Relationships><Relationship Id='r1' Type='http://x/styles' Target='styles.xml'/>\
        <Relationship Id='r2' Type='http://x/footnotes' Target='/word/footnotes.xml'/>\
        <Relationship Id='r3' Type='http://x/image' Target='http://evil.example/a.png' TargetMode='External'/></Relationships>";
    /// Styles as Word writes them, and as LibreOffice does.
    const STYLES: &str = "<w:styles><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/></w:style>\
        <w:style w:styleId='Custom'><w:name w:val='My heading'/><w:basedOn w:val='berschrift1'/></w:style>\
        <w:style w:styleId='Heading2'><w:name w:val='Heading 2'/><w:pPr><w:outlineLvl w:val='1'/></w:pPr></w:style></w:styles>";

    fn file(body: &str) -> Vec<u8> {
        let document = format!("<w:document><w:body>{body}</w:body></w:document>");
        archive(&[
            ("[Content_Types].xml", "<Types/>"),
            ("_rels/.rels", RELS),
            ("word/_rels/document.xml.rels", PARTS),
            ("word/styles.xml", STYLES),
            (
                "word/footnotes.xml",
                "<w:footnotes><w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>",
            ),
            ("word/document.xml", &document),
            ("word/vbaProject.bin", "a macro"),
        ])
    }

    fn read(bytes: Vec<u8>) -> Result<Vec<(String, String)>, FailureCode> {
        collect(LIMITS, |pages| super::super::read(FileType::Docx, bytes, pages))
    }

    fn paragraph(style: &str, text: &str) -> String {
        format!("<w:p><w:pPr><w:pStyle w:val='{style}'/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
    }

    #[test]
    fn sections_follow_styles_and_outline_levels() {
        let body = paragraph("berschrift1", "Setup")
            + &paragraph("Heading2", "Network")
            + &paragraph("Normal", "Plug in.")
            + &paragraph("Custom", "Next")
            + "<w:p><w:pPr><w:outlineLvl w:val='2'/></w:pPr><w:r><w:t>Third</w:t></w:r></w:p>"
            + &paragraph("", "Text.");
        let pages = read(file(&body)).unwrap();
        let labels: Vec<&str> = pages.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(labels, ["Setup › Network", "Next › Third", "Footnotes"]);
        assert_eq!(pages[0].1, "Setup\n\nNetwork\n\nPlug in.");
        assert_eq!(pages[2].1, "Footnotes\n\nA note.");
    }

    #[test]
    fn runs_lists_revisions_boxes_and_tables_are_read() {
        let cell = |text: &str| format!("<w:tc><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>");
        let body = "<w:p><w:r><w:t xml:space='preserve'>One </w:t><w:tab/><w:t>two</w:t><w:br/><w:t>line</w:t></w:r>\
            <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>\
            <w:p><w:pPr><w:numPr><w:numId w:val='1'/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p>\
            <w:p><w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent><w:p><w:r><w:t>Box.</w:t></w:r></w:p></w:txbxContent></wps:txbx></mc:Choice>\
            <mc:Fallback><w:p><w:r><w:t>Box.</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>"
            .to_owned()
            + &format!("<w:tbl><w:tr>{}{}</w:tr>", cell("a|b"), cell("c"))
            + &format!("<w:tr><w:tc><w:tcPr><w:gridSpan w:val='2'/></w:tcPr><w:tbl><w:tr>{}{}</w:tr></w:tbl></w:tc></w:tr></w:tbl>", cell("x"), cell("y"));
        let pages = read(file(&body)).unwrap();
        let expected = "One  two\nline\n\n- item\nBox.\n\n| a\\|b | c |\n|---|---|\n| | x y |";
        assert_eq!(pages[0], ("Part 1".to_owned(), expected.to_owned()));
    }

    #[test]
    fn hostile_and_damaged_documents_are_failures() {
        let laughs = "<!DOCTYPE x [<!ENTITY a 'ha'>]>";
        for document in
            [format!("{laughs}<w:document>&a;</w:document>"), "<w:document><w:p>".to_owned(), String::new()]
        {
            let bytes = archive(&[("_rels/.rels", RELS), ("word/document.xml", &document)]);
            let result = read(bytes);
            assert!(
                matches!(result, Err(FailureCode::Unreadable | FailureCode::WrongFileType)),
                "{result:?}"
            );
        }
        let deep = "<w:tbl><w:tr><w:tc>".repeat(1000);
        assert_eq!(read(file(&deep)), Err(FailureCode::Unreadable));
        assert_eq!(read(archive(&[("_rels/.rels", RELS)])), Err(FailureCode::Unreadable));
        let workbook = archive(&[("_rels/.rels", RELS), ("word/document.xml", "<workbook/>")]);
        assert_eq!(read(workbook), Err(FailureCode::WrongFileType));
    }
}
