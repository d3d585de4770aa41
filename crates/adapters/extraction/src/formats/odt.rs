//! Reads OpenDocument texts, in sections by heading.

use super::description;
use super::package::Package;
use super::sections::Sections;
use super::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped};
use docent_domain::document::{Failure, FailureCode};

/// Maximum number of repetitions of a cell, a row or a space.
const REPEATED_MAX: usize = 100;
/// Elements whose content is not part of the text: comments, deleted text, and numbers of notes.
const SKIPPED: [&str; 4] = ["annotation", "tracked-changes", "note-citation", "forms"];

/// Passes the sections of a text on.
pub(super) fn read(bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let mut package = Package::open(bytes)?;
    package.refuse_encrypted_open_document()?;
    let xml = package.require_xml("content.xml")?;
    let mut content = Content {
        package: &mut package,
        sections: Sections::new(pages),
        blocks: Vec::new(),
        tables: Vec::new(),
        lists: 0,
        skipped: 0,
        is_text: false,
        is_in_picture: false,
    };
    walk(&xml, &mut content)?;
    if !content.is_text {
        let reason = "the file is another kind of OpenDocument file than a text";
        return Err(Failure::because(FailureCode::WrongFileType, reason).into());
    }
    content.sections.finish()
}

/// A paragraph, or a heading of a level. Notes and text boxes nest.
struct Block {
    level: Option<u8>,
    text: String,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    repeated: usize,
}

struct Content<'p, 'a, 'b> {
    package: &'p mut Package,
    sections: Sections<'a, 'b>,
    blocks: Vec<Block>,
    tables: Vec<Table>,
    lists: usize,
    /// Depth within an element that is left out.
    skipped: usize,
    /// Whether the document has a text body.
    is_text: bool,
    /// Whether the title and the description of a picture can follow.
    is_in_picture: bool,
}

fn count(element: &Element<'_>, name: &str) -> usize {
    let count = element.attribute(name).and_then(|count| count.parse().ok());
    count.unwrap_or(1_usize).clamp(1, REPEATED_MAX)
}

impl Handler for Content<'_, '_, '_> {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if self.skipped > 0 || SKIPPED.contains(&element.name) {
            self.skipped += 1;
            return Ok(());
        }
        match element.name {
            "text" => self.is_text = true,
            "image" => {
                self.sections.add_picture();
                self.is_in_picture = true;
                // Pictures outside the file have other addresses than entries.
                if let Some(path) = element.attribute("href") {
                    self.sections.picture(self.package, path.trim_start_matches("./"));
                }
            }
            "h" => {
                let level = element.attribute("outline-level").and_then(|level| level.parse().ok());
                self.blocks.push(Block { level: Some(level.unwrap_or(1)), text: String::new() });
            }
            "p" => self.blocks.push(Block { level: None, text: String::new() }),
            "s" => self.add(&" ".repeat(count(element, "c"))),
            "title" | "desc" if self.is_in_picture => {
                self.blocks.push(Block { level: None, text: String::new() });
            }
            "tab" => self.add(" "),
            "line-break" => self.add("\n"),
            "list" => self.lists += 1,
            "table" => self.tables.push(Table::default()),
            "table-row" => {
                if let Some(table) = self.tables.last_mut() {
                    table.rows.push(Vec::new());
                }
            }
            "table-cell" | "covered-table-cell" => {
                if let Some(table) = self.tables.last_mut() {
                    table.repeated = count(element, "number-columns-repeated");
                    if let Some(row) = table.rows.last_mut() {
                        row.push(String::new());
                    }
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
            "h" | "p" => {
                if let Some(block) = self.blocks.pop() {
                    self.pass(&block)?;
                }
            }
            // The title and the description of a picture are apart from each other and from the text.
            "title" | "desc" if self.is_in_picture => {
                let text = self.blocks.pop().map(|block| block.text).unwrap_or_default();
                if let Some(description) = description::shown(&text) {
                    self.add(&format!(" {description} "));
                }
            }
            "frame" => self.is_in_picture = false,
            "list" => self.lists = self.lists.saturating_sub(1),
            "table-cell" | "covered-table-cell" => {
                if let Some(table) = self.tables.last_mut()
                    && let Some(row) = table.rows.last_mut()
                    && let Some(cell) = row.last().cloned().filter(|cell| !cell.is_empty())
                {
                    row.extend(vec![cell; table.repeated - 1]);
                }
            }
            "table" => {
                if let Some(table) = self.tables.pop() {
                    match self.cell() {
                        Some(cell) => {
                            for text in table.rows.into_iter().flatten() {
                                append(cell, &text);
                            }
                        }
                        None => self.sections.table(&table.rows)?,
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        if self.skipped == 0 {
            self.add(text);
        }
        Ok(())
    }
}

fn append(cell: &mut String, text: &str) {
    if !cell.is_empty() && !text.is_empty() {
        cell.push(' ');
    }
    cell.push_str(text);
}

impl Content<'_, '_, '_> {
    /// Adds text to the innermost paragraph. Line ends in the XML are spaces.
    fn add(&mut self, text: &str) {
        if let Some(block) = self.blocks.last_mut() {
            block.text.push_str(text);
        }
    }

    /// The current cell of the innermost table.
    fn cell(&mut self) -> Option<&mut String> {
        self.tables.last_mut()?.rows.last_mut()?.last_mut()
    }

    fn pass(&mut self, block: &Block) -> Result<(), Stopped> {
        let text = block.text.trim();
        let (level, is_item) = (block.level, self.lists > 0);
        if let Some(cell) = self.cell() {
            append(cell, text);
            return Ok(());
        }
        match level {
            Some(level) => self.sections.heading(level, text)?,
            None if is_item => self.sections.item(text),
            None => self.sections.paragraph(text),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::archive;
    use crate::reader::tests::{LIMITS, collect};

    fn text(body: &str) -> Vec<u8> {
        let xml = format!(
            "<office:document-content><office:body><office:text>{body}</office:text></office:body></office:document-content>"
        );
        archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", &xml)])
    }

    #[test]
    fn headings_paragraphs_lists_notes_and_tables_are_read() {
        let body = "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>\
            <text:h text:outline-level='1'>Setup</text:h><text:h text:outline-level='2'>Network</text:h>\
            <text:p>Plug<text:s text:c='2'/>in<text:tab/>now<text:line-break/>here\
            <text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>\
            <office:annotation><text:p>comment</text:p></office:annotation>.</text:p>\
            <text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>\
            <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Key</text:p></table:table-cell>\
            <table:table-cell><text:p>Value</text:p></table:table-cell></table:table-row></table:table-header-rows>\
            <table:table-row><table:table-cell table:number-columns-repeated='2'><text:p>a</text:p><text:p>b</text:p></table:table-cell>\
            <table:table-cell table:number-columns-repeated='16384'/></table:table-row></table:table>";
        let pages = collect(LIMITS, |pages| read(text(body), pages)).unwrap();
        assert_eq!(pages.len(), 1);
        assert_eq!(pages[0].0, "Setup › Network");
        let expected = "Setup\n\nNetwork\n\nA note.\n\nPlug  in now\nhere.\n\n- one\n\n\
                        | Key | Value | |\n|---|---|---|\n| a b | a b | |";
        assert_eq!(pages[0].1, expected);
    }

    #[test]
    fn descriptions_of_pictures_are_words_of_their_own() {
        let body = "<text:p>See<draw:frame><draw:image xlink:href='http://a.example/b.png'/><svg:title>Pump 5</svg:title>\
            <svg:desc>a cut</svg:desc></draw:frame><draw:frame><draw:image xlink:href='http://a.example/c.png'/><svg:title>image001.png</svg:title></draw:frame>(<text:title>Manual</text:title>)</text:p>";
        let pages = collect(LIMITS, |pages| read(text(body), pages)).unwrap();
        assert_eq!(pages[0].1, "See Pump 5  a cut (Manual)");
    }

    #[test]
    fn encrypted_and_other_files_are_failures() {
        let manifest = "<manifest><file-entry><encryption-data/></file-entry></manifest>";
        let encrypted = archive(&[("META-INF/manifest.xml", manifest), ("content.xml", "…")]);
        assert_eq!(collect(LIMITS, |pages| read(encrypted, pages)), Err(FailureCode::PasswordRequired));
        let sheet =
            archive(&[("content.xml", "<document-content><body><spreadsheet/></body></document-content>")]);
        assert_eq!(collect(LIMITS, |pages| read(sheet, pages)), Err(FailureCode::WrongFileType));
        assert_eq!(
            collect(LIMITS, |pages| read(archive(&[("a", "b")]), pages)),
            Err(FailureCode::Unreadable)
        );
    }
}
