//! Reads documents of Word, in sections by heading.

use super::equation::Equation;
use super::form_fields::FormField;
use super::numbering::{Counters, Marker, Numbering};
use super::relations::Relations;
use super::{drawing, is_on};
use crate::formats::package::Package;
use crate::formats::sections::Sections;
use crate::formats::xml::{Element, Handler, walk};
use crate::formats::{eml, encoding, html, rtf, symbols};
use crate::reader::{Pages, Stopped, damaged};
use docent_domain::file_type::{FileType, HEAD_BYTES, detect};
use std::collections::{HashMap, HashSet};

/// Elements whose content is left out: deleted and moved text, field codes, the older form of a drawing, and phonetic guides.
const SKIPPED: [&str; 7] = ["del", "moveFrom", "instrText", "Fallback", "pPrChange", "rPrChange", "rt"];
/// Maximum number of columns that a cell spans.
const SPAN_MAX: usize = 100;
/// Maximum length of a chain of styles that are based on each other.
const STYLES_MAX: usize = 10;

/// Maximum depth of documents that are embedded in documents.
const DEPTH_MAX: usize = 3;
/// Maximum number of embedded documents.
const CHUNKS_MAX: usize = 200;

/// Passes the sections of a document on, with its notes, comments, headers and footers at the end.
pub(super) fn read(
    package: &mut Package,
    path: &str,
    xml: &str,
    pages: &mut Pages<'_>,
) -> Result<(), Stopped> {
    let mut sections = Sections::new(pages);
    read_into(package, (path, xml), &mut sections, 0)?;
    sections.finish()
}

/// Adds the content of a document to sections.
fn read_into(
    package: &mut Package,
    (path, xml): (&str, &str),
    sections: &mut Sections<'_, '_>,
    depth: usize,
) -> Result<(), Stopped> {
    let relations = Relations::read(package, path)?;
    let (mut styles, mut numbering) = (Styles::default(), Numbering::default());
    if let Some(xml) = relations.read_first(package, "styles")? {
        walk(&xml, &mut styles)?;
    }
    if let Some(xml) = relations.read_first(package, "numbering")? {
        walk(&xml, &mut numbering)?;
    }
    let notes = [
        ("footnotes", "Footnotes"),
        ("endnotes", "Endnotes"),
        ("comments", "Comments"),
        ("header", "Headers and footers"),
        ("footer", "Headers and footers"),
    ];
    let notes: Vec<(String, &str)> = notes
        .iter()
        .flat_map(|(kind, title)| relations.all(kind).map(|path| (path.to_owned(), *title)))
        .collect();
    let mut body = Body::new(&styles, &numbering, sections);
    body.parts = Some(Parts { package, relations, depth, read: 0 });
    walk(xml, &mut body)?;
    let mut last = "";
    for (path, title) in notes {
        let Some(parts) = body.parts.as_mut() else { continue };
        if let Some(xml) = parts.package.read_xml(&path)? {
            parts.relations = Relations::read(parts.package, &path)?;
            body.pending_heading = Some(title).filter(|title| *title != last).or(body.pending_heading);
            body.is_repeated = matches!(title, "Headers and footers");
            last = title;
            walk(&xml, &mut body)?;
        }
    }
    Ok(())
}

/// Pictures, and documents of other formats, that are embedded in a document as parts of its text.
struct Parts<'a> {
    package: &'a mut Package,
    relations: Relations,
    depth: usize,
    read: usize,
}

impl Parts<'_> {
    /// Adds the content of an embedded document.
    fn add(&mut self, id: &str, sections: &mut Sections<'_, '_>) -> Result<(), Stopped> {
        self.read += 1;
        if self.read > CHUNKS_MAX || self.depth >= DEPTH_MAX {
            return Ok(());
        }
        let Some(path) = self.relations.by_id(id) else { return Ok(()) };
        let Some(bytes) = self.package.read(&path)? else { return Ok(()) };
        match detect(&bytes[..bytes.len().min(HEAD_BYTES)], &path) {
            Some(FileType::Html) => html::read_into(&encoding::decode_html(bytes), sections),
            Some(FileType::Rtf) => rtf::read_into(&bytes, sections),
            Some(FileType::Eml) => match eml::html_body(&bytes) {
                Some(page) => html::read_into(&page, sections),
                None => Ok(()),
            },
            Some(FileType::Docx) => {
                let mut package = Package::open(bytes)?;
                let path = Relations::read(&mut package, "")?.first("officeDocument");
                let path = path.ok_or_else(|| damaged("it does not name its content"))?;
                let xml = package.require_xml(&path)?;
                read_into(&mut package, (&path, &xml), sections, self.depth + 1)
            }
            Some(FileType::Text) => {
                sections.paragraph(&encoding::decode(bytes)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }
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
    /// List and level of its paragraphs.
    list: Option<String>,
    list_level: Option<usize>,
    based_on: Option<String>,
}

impl Styles {
    /// The first value that a style or one that it is based on has.
    fn find<T>(&self, id: &str, value: impl Fn(&str, &Style) -> Option<T>) -> Option<T> {
        let mut id = id;
        for _ in 0..STYLES_MAX {
            let style = self.styles.get(id)?;
            let found = value(id, style);
            if found.is_some() {
                return found;
            }
            id = style.based_on.as_deref()?;
        }
        None
    }

    fn level(&self, id: &str) -> Option<u8> {
        self.find(id, |_, style| style.level)
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
            "numId" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.list = value;
                }
            }
            "ilvl" => {
                if let Some(style) = self.styles.get_mut(&self.current) {
                    style.list_level = value.and_then(|level| level.parse().ok());
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

/// What applies to a run of text.
#[derive(Default)]
struct Run {
    font: String,
    is_hidden: bool,
}

/// A paragraph. Text boxes nest them.
#[derive(Default)]
struct Paragraph {
    text: String,
    level: Option<u8>,
    style: String,
    /// The list of the paragraph itself; `0` for none.
    list: Option<String>,
    list_level: Option<usize>,
}

struct Body<'s, 'a, 'b> {
    styles: &'s Styles,
    numbering: &'s Numbering,
    counters: Counters,
    parts: Option<Parts<'s>>,
    sections: &'s mut Sections<'a, 'b>,
    paragraphs: Vec<Paragraph>,
    runs: Vec<Run>,
    /// Whether properties of a paragraph, or of a row, are read.
    is_in_paragraph_properties: bool,
    is_in_row_properties: bool,
    is_deleted_row: bool,
    equation: Equation,
    field: FormField,
    /// The author of a comment that begins.
    author: Option<String>,
    /// Whether headers and footers are read, which repeat each other, and their texts so far.
    is_repeated: bool,
    repeated: HashSet<String>,
    /// The rows of the open tables.
    tables: Vec<Vec<Vec<String>>>,
    /// Depth within an element that is left out.
    skipped: usize,
    is_in_text: bool,
    /// Heading before the next paragraph with text.
    pending_heading: Option<&'static str>,
}

impl<'s, 'a, 'b> Body<'s, 'a, 'b> {
    fn new(styles: &'s Styles, numbering: &'s Numbering, sections: &'s mut Sections<'a, 'b>) -> Self {
        Self {
            styles,
            numbering,
            counters: Counters::default(),
            parts: None,
            sections,
            paragraphs: Vec::new(),
            runs: Vec::new(),
            is_in_paragraph_properties: false,
            is_in_row_properties: false,
            is_deleted_row: false,
            equation: Equation::default(),
            field: FormField::default(),
            author: None,
            is_repeated: false,
            repeated: HashSet::new(),
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

    /// The number or sign of a paragraph of a list.
    fn marker(&mut self, paragraph: &Paragraph) -> Option<Marker<String>> {
        let Paragraph { style, list, list_level, .. } = paragraph;
        let (styles, numbering) = (self.styles, self.numbering);
        let of_style = || styles.find(style, |_, style| style.list.clone());
        let list = list.clone().or_else(of_style).filter(|list| list != "0")?;
        let level = list_level
            .or_else(|| styles.find(style, |id, _| numbering.level_of_style(&list, id)))
            .or_else(|| styles.find(style, |_, style| style.list_level))
            .unwrap_or(0);
        let marker = self.counters.next(numbering, &list, level);
        // A list without a definition has signs.
        marker.or_else(|| (!numbering.has_list(&list)).then_some(Marker::Bullet))
    }

    fn pass(&mut self, paragraph: &Paragraph) -> Result<(), Stopped> {
        let marker = self.marker(paragraph);
        let text = paragraph.text.trim();
        // Headers and footers with numbers of pages alone say nothing.
        let is_repeated = self.is_repeated
            && (!text.contains(char::is_alphabetic) || !self.repeated.insert(text.to_owned()));
        if text.is_empty() || is_repeated {
            return Ok(());
        }
        let by_author = self.author.take().map(|author| format!("{author}: {text}"));
        let text = by_author.as_deref().unwrap_or(text);
        if let Some(cell) = self.cell() {
            if !cell.is_empty() {
                cell.push(' ');
            }
            if let Some(Marker::Number(number)) = marker {
                cell.push_str(&number);
                cell.push(' ');
            }
            cell.push_str(text);
            return Ok(());
        }
        if let Some(heading) = self.pending_heading.take() {
            self.sections.heading(1, heading)?;
        }
        match (paragraph.level, marker) {
            (Some(level), Some(Marker::Number(number))) => {
                self.sections.heading(level, &format!("{number} {text}"))?;
            }
            (Some(level), _) => self.sections.heading(level, text)?,
            (None, Some(Marker::Number(number))) => self.sections.numbered_item(&number, text),
            (None, Some(Marker::Bullet)) => self.sections.item(text),
            (None, None) => self.sections.paragraph(text),
        }
        Ok(())
    }
}

impl Handler for Body<'_, '_, '_> {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        self.is_deleted_row |= self.is_in_row_properties && element.name == "del";
        if self.skipped > 0 || SKIPPED.contains(&element.name) {
            self.skipped += 1;
            return Ok(());
        }
        if self.equation.start(element) {
            return Ok(());
        }
        self.field.start(element);
        match element.name {
            "r" => self.runs.push(Run::default()),
            "pPr" => self.is_in_paragraph_properties = true,
            "trPr" => self.is_in_row_properties = true,
            "vanish" if !self.is_in_paragraph_properties => {
                if let Some(run) = self.runs.last_mut() {
                    run.is_hidden = is_on(element);
                }
            }
            "rFonts" if !self.is_in_paragraph_properties => {
                if let Some(run) = self.runs.last_mut() {
                    run.font = element.attribute("ascii").unwrap_or_default();
                }
            }
            "sym" => {
                let code = element.attribute("char").and_then(|code| u32::from_str_radix(&code, 16).ok());
                let sign = code.and_then(|code| symbols::decode(&element.attribute("font")?, code));
                sign.into_iter().for_each(|sign| self.add(sign.encode_utf8(&mut [0; 4])));
            }
            "comment" => self.author = element.attribute("author").filter(|author| !author.is_empty()),
            "chart" => {
                if let (Some(id), Some(parts)) = (element.prefixed_attribute("id"), self.parts.as_mut())
                    && let Some((titles, table)) = drawing::chart(parts.package, &parts.relations, &id)
                {
                    self.sections.paragraph(&titles);
                    self.sections.table(&table)?;
                }
            }
            "relIds" => {
                if let (Some(id), Some(parts)) = (element.prefixed_attribute("dm"), self.parts.as_mut()) {
                    let texts = drawing::diagram(parts.package, &parts.relations, &id);
                    texts.iter().for_each(|text| self.sections.item(text));
                }
            }
            "p" => self.paragraphs.push(Paragraph::default()),
            "pStyle" => {
                let style = element.attribute("val").unwrap_or_default();
                let level = self.styles.level(&style);
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.level = paragraph.level.or(level);
                    paragraph.style = style;
                }
            }
            "outlineLvl" => {
                let level = outline_level(element.attribute("val"));
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.level = level.or(paragraph.level);
                }
            }
            "numId" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.list = element.attribute("val");
                }
            }
            "ilvl" => {
                if let Some(paragraph) = self.paragraphs.last_mut() {
                    paragraph.list_level = element.attribute("val").and_then(|level| level.parse().ok());
                }
            }
            "altChunk" => {
                let id = element.prefixed_attribute("id");
                if let (Some(id), Some(parts)) = (id, self.parts.as_mut()) {
                    parts.add(&id, self.sections)?;
                }
            }
            "blip" | "imagedata" => {
                let id = element.prefixed_attribute("embed").or_else(|| element.prefixed_attribute("id"));
                // Pictures of embedded documents are not entries of this file.
                if let (Some(id), Some(parts)) = (id, self.parts.as_mut().filter(|parts| parts.depth == 0))
                    && let Some(path) = parts.relations.by_id(&id)
                {
                    self.sections.picture(parts.package, &path);
                }
            }
            "drawing" | "pict" => self.sections.add_picture(),
            "t" => self.is_in_text = true,
            "tab" | "ptab" => self.add(" "),
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
        if self.equation.is_open() {
            if let Some(text) = self.equation.end() {
                match self.paragraphs.is_empty() {
                    true => self.sections.paragraph(&text),
                    false => self.add(&text),
                }
            }
            return Ok(());
        }
        if let Some(text) = self.field.end(name).map(str::to_owned) {
            self.add(&text);
        }
        match name {
            "t" => self.is_in_text = false,
            "r" => drop(self.runs.pop()),
            "pPr" => self.is_in_paragraph_properties = false,
            "trPr" => self.is_in_row_properties = false,
            "tr" if std::mem::take(&mut self.is_deleted_row) => {
                self.tables.last_mut().map(Vec::pop);
            }
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
        self.equation.text(text);
        let run = self.runs.last();
        if self.skipped == 0 && self.is_in_text && run.is_none_or(|run| !run.is_hidden) {
            let text = run.map_or_else(|| text.to_owned(), |run| symbols::decode_text(&run.font, text));
            self.add(&text);
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

    /// Builds a document whose relations name these further parts.
    fn file_with(body: &str, parts: &[(&str, &str, &str)]) -> Vec<u8> {
        let relation = |(kind, path, _): &(&str, &str, &str)| {
            format!("<Relationship Id='{path}' Type='http://x/{kind}' Target='{path}'/>")
        };
        let relations: String = parts.iter().map(relation).collect();
        let relations = format!("<Relationships>{relations}</Relationships>");
        let document = format!("<w:document><w:body>{body}</w:body></w:document>");
        let paths: Vec<String> = parts.iter().map(|(_, path, _)| format!("word\\{path}")).collect();
        let mut entries = vec![
            ("_rels\\.rels", RELS),
            ("word\\_rels\\document.xml.rels", relations.as_str()),
            ("word\\document.xml", document.as_str()),
        ];
        entries.extend(paths.iter().map(String::as_str).zip(parts.iter().map(|part| part.2)));
        archive(&entries)
    }

    #[test]
    fn headings_and_clauses_have_their_numbers() {
        let numbering = "<w:numbering><w:abstractNum w:abstractNumId='0'>\
            <w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/><w:pStyle w:val='berschrift1'/><w:lvlText w:val='%1.'/></w:lvl>\
            <w:lvl w:ilvl='1'><w:numFmt w:val='decimal'/><w:lvlText w:val='%1.%2'/></w:lvl>\
            <w:lvl w:ilvl='2'><w:numFmt w:val='bullet'/><w:lvlText w:val='x'/></w:lvl></w:abstractNum>\
            <w:num w:numId='4'><w:abstractNumId w:val='0'/></w:num></w:numbering>";
        let styles = "<w:styles><w:style w:styleId='berschrift1'><w:name w:val='heading 1'/><w:pPr><w:numPr><w:numId w:val='4'/></w:numPr></w:pPr></w:style>\
            <w:style w:styleId='Custom'><w:name w:val='Annex'/><w:basedOn w:val='berschrift1'/></w:style></w:styles>";
        let clause = |list: &str, level: usize, text: &str| {
            format!(
                "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='{list}'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
            )
        };
        let body = paragraph("berschrift1", "Terms")
            + &clause("4", 1, "Rent")
            + &clause("4", 1, "")
            + &clause("4", 1, "Deposit")
            + &clause("4", 2, "cash")
            + &clause("0", 0, "Plain")
            + &paragraph("Custom", "Repairs")
            + &format!(
                "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>",
                clause("4", 1, "a"),
                clause("4", 2, "b")
            );
        let parts = [("styles", "styles.xml", styles), ("numbering", "numbering.xml", numbering)];
        let pages = read(file_with(&body, &parts)).unwrap();
        assert_eq!(pages[0].0, "1. Terms");
        assert_eq!(pages[0].1, "1. Terms\n\n1.1 Rent\n1.3 Deposit\n- cash\nPlain");
        assert_eq!(pages[1].1, "2. Repairs\n\n| 2.1 a | b |\n|---|---|");
    }

    #[test]
    fn embedded_documents_are_read_in_their_place() {
        let html = "<html><body><h2>Sales</h2><p>8812 units</p></body></html>";
        let mail = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\nContent-Type: text/html\n\n<p>From a page</p>\n--x--\n";
        let parts = [
            ("aFChunk", "a.html", html),
            ("aFChunk", "b.rtf", "{\\rtf1 From RTF}"),
            ("aFChunk", "c.mht", mail),
        ];
        let chunk = |id: &str| format!("<w:altChunk r:id='{id}'/>");
        let body = paragraph("", "Before.")
            + &chunk("a.html")
            + &chunk("b.rtf")
            + &chunk("c.mht")
            + &chunk("gone")
            + &paragraph("", "After.");
        let pages = read(file_with(&body, &parts)).unwrap();
        assert_eq!(pages[0].1, "Before.");
        assert_eq!(pages[1].1, "Sales\n\n8812 units\n\nFrom RTF\n\nFrom a page\n\nAfter.");
    }

    #[test]
    fn signs_hidden_text_and_form_fields_are_read_as_shown() {
        let run = |properties: &str, text: &str| {
            format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
        };
        let field = |field: &str| format!("<w:r><w:fldChar><w:ffData>{field}</w:ffData></w:fldChar></w:r>");
        let body = format!(
            "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr>{}{}{}<w:r><w:sym w:font='Symbol' w:char='F061'/><w:ptab/><w:t>Ü</w:t><w:softHyphen/><w:t>ber</w:t></w:r></w:p>\
             <w:p>{}{}</w:p><w:p>{}{}</w:p><w:p><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath></w:p>\
             <w:p><w:r><w:ruby><w:rt><w:r><w:t>x</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東</w:t></w:r></w:rubyBase></w:ruby></w:r></w:p>",
            run("", "Seen "),
            run("<w:vanish/>", "secret"),
            run("<w:vanish w:val='0'/><w:rFonts w:ascii='Symbol'/>", "\u{f062} "),
            field("<w:checkBox><w:default w:val='0'/><w:checked/></w:checkBox>"),
            run("", " yes"),
            field("<w:checkBox><w:default w:val='0'/></w:checkBox>"),
            field(
                "<w:ddList><w:result w:val='1'/><w:listEntry w:val='A'/><w:listEntry w:val='B'/></w:ddList>"
            ),
        );
        let pages = read(file_with(&body, &[])).unwrap();
        assert_eq!(pages[0].1, "Seen β α Über\n\n☒ yes\n\n☐B\n\na/b\n\n東");
    }

    #[test]
    fn deleted_rows_are_left_out() {
        let row = |properties: &str, text: &str| {
            format!(
                "<w:tr><w:trPr>{properties}</w:trPr><w:tc>{0}</w:tc><w:tc>{0}</w:tc></w:tr>",
                paragraph("", text)
            )
        };
        let body = format!("<w:tbl>{}{}</w:tbl>", row("<w:del w:id='1'/>", "gone"), row("<w:ins/>", "new"));
        assert_eq!(read(file_with(&body, &[])).unwrap()[0].1, "| new | new |\n|---|---|");
    }

    #[test]
    fn comments_headers_diagrams_and_charts_are_read() {
        let text = |part: &str, content: &str| format!("<w:{part}>{content}</w:{part}>");
        let comments = format!(
            "<w:comments><w:comment w:author='Ann'>{}{}</w:comment></w:comments>",
            paragraph("", "Too dear."),
            paragraph("", "Ask again.")
        );
        let header = text("hdr", &(paragraph("", "Contract 7731") + &paragraph("", "2 / 5")));
        let diagram = "<dgm:dataModel><dgm:pt><dgm:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:dataModel>";
        let chart = "<c:chartSpace><c:title><a:t>Sales</a:t></c:title></c:chartSpace>";
        let parts = [
            ("comments", "comments.xml", comments.as_str()),
            ("header", "header1.xml", &header),
            ("header", "header2.xml", &header),
            ("diagramData", "data.xml", diagram),
            ("chart", "chart.xml", chart),
        ];
        let body = paragraph("", "Body.")
            + "<w:p><w:r><w:drawing><dgm:relIds r:dm='data.xml'/><c:chart r:id='chart.xml'/></w:drawing></w:r></w:p>";
        let pages = read(file_with(&body, &parts)).unwrap();
        let texts: Vec<&str> = pages.iter().map(|(_, text)| text.as_str()).collect();
        let expected = [
            "Body.\n\n- Plan\nSales",
            "Comments\n\nAnn: Too dear.\n\nAsk again.",
            "Headers and footers\n\nContract 7731",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn document_of_pictures_has_an_empty_page() {
        let pages =
            read(file_with("<w:p><w:r><w:drawing><a:graphic/></w:drawing></w:r></w:p>", &[])).unwrap();
        assert_eq!(pages, [("Part 1".to_owned(), String::new())]);
        assert!(read(file_with("<w:p/>", &[])).unwrap().is_empty());
    }

    #[test]
    fn encrypted_and_older_files_are_named_as_such() {
        let compound = |name: &str| {
            let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
            [&b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"[..], &[0; 600], &name].concat()
        };
        assert_eq!(read(compound("EncryptedPackage")), Err(FailureCode::PasswordRequired));
        assert_eq!(read(compound("WordDocument")), Err(FailureCode::WrongFileType));
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
