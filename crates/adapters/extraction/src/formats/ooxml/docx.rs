//! Reads documents of Word, in sections by heading.

mod styles;
#[cfg(test)]
mod tests;

use super::equation::Equation;
use super::form_fields::FormField;
use super::numbering::{Counters, Marker, Numbering};
use super::relations::Relations;
use super::{description, drawing, is_on};
use crate::formats::package::Package;
use crate::formats::sections::Sections;
use crate::formats::xml::{Element, Handler, walk};
use crate::formats::{embedded, eml, encoding, html, rtf, symbols};
use crate::reader::{Pages, Stopped, damaged};
use docent_domain::file_type::{FileType, HEAD_BYTES, detect};
use std::collections::HashSet;
use styles::{Styles, outline_level};

/// Elements whose content is left out: deleted and moved text, field codes, the older form of a drawing, and phonetic guides.
const SKIPPED: [&str; 7] = ["del", "moveFrom", "instrText", "Fallback", "pPrChange", "rPrChange", "rt"];
/// Maximum number of columns that a cell spans.
const SPAN_MAX: usize = 100;

/// The heading of headers and footers.
const REPEATED: &str = "Headers and footers";
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
    read_into(package, (path, xml), &mut sections, ("", 0))?;
    sections.finish()
}

/// Adds the content of a document to sections. An embedded document has a name in the file and a depth.
fn read_into(
    package: &mut Package,
    (path, xml): (&str, &str),
    sections: &mut Sections<'_, '_>,
    (archive, depth): (&str, usize),
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
        ("header", REPEATED),
        ("footer", REPEATED),
    ];
    // Headers and footers of an embedded document are not shown.
    let notes: Vec<(String, &str)> = notes
        .iter()
        .filter(|(_, title)| depth == 0 || *title != REPEATED)
        .flat_map(|(kind, title)| relations.all(kind).map(|path| (path.to_owned(), *title)))
        .collect();
    let mut body = Body::new(&styles, &numbering, sections);
    body.parts = Some(Parts { package, relations, archive, depth, read: 0 });
    walk(xml, &mut body)?;
    let mut last = "";
    for (path, title) in notes {
        let Some(parts) = body.parts.as_mut() else { continue };
        if let Some(xml) = parts.package.read_xml(&path)? {
            parts.relations = Relations::read(parts.package, &path)?;
            body.pending_heading = Some(title).filter(|title| *title != last).or(body.pending_heading);
            body.is_repeated = title == REPEATED;
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
    /// The name of the embedded document in the file; empty for the file itself.
    archive: &'a str,
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
                let archive = embedded::within(self.archive, &path);
                let mut package = Package::open(bytes)?;
                let path = Relations::read(&mut package, "")?.first("officeDocument");
                let path = path.ok_or_else(|| damaged("it does not name its content"))?;
                let xml = package.require_xml(&path)?;
                read_into(&mut package, (&path, &xml), sections, (&archive, self.depth + 1))
            }
            Some(FileType::Text) => {
                sections.paragraph(&encoding::decode(bytes)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }
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
    /// The last description of a picture.
    description: String,
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
            description: String::new(),
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

    /// Adds the description of a picture. It can be written twice: for the drawing and for its picture.
    fn describe(&mut self, element: &Element<'_>) {
        let text = description(element).filter(|text| *text != self.description);
        if let Some(text) = text {
            self.add(&format!(" {text} "));
            self.description = text;
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
                if let (Some(id), Some(parts)) = (id, self.parts.as_mut())
                    && let Some(path) = parts.relations.by_id(&id)
                {
                    self.sections.picture_within(parts.package, parts.archive, &path);
                }
            }
            "drawing" | "pict" => self.sections.add_picture(),
            "docPr" | "cNvPr" | "shape" => self.describe(element),
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
