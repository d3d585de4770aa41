//! Reads OpenDocument spreadsheets, in ranges of rows of each sheet.

use super::package::Package;
use super::sheet::{self, Row};
use super::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped};
use docent_domain::document::{Failure, FailureCode};

/// Maximum number of repetitions of a cell or row with content.
const REPEATED_MAX: u32 = 100;
/// Maximum number of cells, and size of their texts in bytes. Cells of repeated rows count twice.
const CELLS_MAX: usize = 2_000_000;
const TEXT_BYTES: usize = 64 << 20;
/// Elements whose content is not part of a cell: comments, charts and other objects, and deleted rows.
const SKIPPED: [&str; 4] = ["annotation", "frame", "tracked-changes", "forms"];

/// Passes ranges of rows of all sheets on. Cells are as the program that saved the file showed them.
pub(super) fn read(bytes: Vec<u8>, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let mut package = Package::open(bytes)?;
    package.refuse_encrypted_open_document()?;
    let xml = package.require_xml("content.xml")?;
    let mut content = Content::default();
    walk(&xml, &mut content)?;
    if !content.is_spreadsheet {
        let reason = "the file is another kind of OpenDocument file than a spreadsheet";
        return Err(Failure::because(FailureCode::WrongFileType, reason).into());
    }
    content.sheets.iter().try_for_each(|sheet| {
        pages.set_lacks_results(sheet.lacks_results);
        sheet::pass(&sheet.name, &sheet.rows, pages)
    })
}

#[derive(Default)]
struct Sheet {
    name: String,
    rows: Vec<(u32, Row)>,
    /// Whether a formula has no saved result.
    lacks_results: bool,
}

#[derive(Default)]
struct Content {
    is_spreadsheet: bool,
    sheets: Vec<Sheet>,
    /// Depth within an element that is left out.
    skipped: usize,
    row: Row,
    /// Numbers of the current row and of the next column.
    number: u32,
    column: u32,
    row_repeats: u32,
    cell_repeats: u32,
    cell: String,
    /// The value or the formula of a cell that shows nothing.
    value: Option<String>,
    /// Whether this value is a formula.
    is_unsaved: bool,
    is_in_cell: bool,
    cells: usize,
    bytes: usize,
}

fn repeats(element: &Element<'_>, name: &str) -> u32 {
    element.attribute(name).and_then(|count| count.parse().ok()).unwrap_or(1)
}

impl Content {
    fn end_cell(&mut self) -> Result<(), Stopped> {
        self.is_in_cell = false;
        let cell = std::mem::take(&mut self.cell);
        let text = match self.value.take() {
            Some(value) if cell.trim().is_empty() => {
                if let Some(sheet) = self.sheets.last_mut() {
                    sheet.lacks_results |= self.is_unsaved;
                }
                value
            }
            _ => cell,
        };
        let next = self.column.saturating_add(self.cell_repeats);
        if !text.trim().is_empty() {
            for column in self.column..next.min(self.column.saturating_add(REPEATED_MAX)) {
                self.count(&text)?;
                self.row.push((column, text.trim().to_owned()));
            }
        }
        self.column = next;
        Ok(())
    }

    fn end_row(&mut self) -> Result<(), Stopped> {
        let row = std::mem::take(&mut self.row);
        let next = self.number.saturating_add(self.row_repeats);
        if !row.is_empty() {
            for number in self.number..next.min(self.number.saturating_add(REPEATED_MAX)) {
                for (_, text) in &row {
                    self.count(text)?;
                }
                if let Some(sheet) = self.sheets.last_mut() {
                    sheet.rows.push((number, row.clone()));
                }
            }
        }
        self.number = next;
        Ok(())
    }

    fn count(&mut self, text: &str) -> Result<(), Stopped> {
        self.cells += 1;
        self.bytes += text.len();
        if self.cells > CELLS_MAX || self.bytes > TEXT_BYTES {
            return Err(Failure::of(FailureCode::TooMuchText).into());
        }
        Ok(())
    }
}

impl Handler for Content {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        if self.skipped > 0 || SKIPPED.contains(&element.name) {
            self.skipped += 1;
            return Ok(());
        }
        match element.name {
            "spreadsheet" => self.is_spreadsheet = true,
            "table" => {
                let name = element.attribute("name").unwrap_or_default();
                self.sheets.push(Sheet { name, ..Sheet::default() });
                self.number = 1;
            }
            "table-row" => {
                self.row_repeats = repeats(element, "number-rows-repeated");
                self.column = 0;
                self.row.clear();
            }
            "table-cell" | "covered-table-cell" => {
                self.cell_repeats = repeats(element, "number-columns-repeated");
                self.is_in_cell = true;
                self.cell.clear();
                let formula = element.attribute("formula").map(|formula| {
                    let formula = formula.strip_prefix("of:").map(str::to_owned).unwrap_or(formula);
                    formula.replace("[.", "").replace(":.", ":").replace(']', "")
                });
                let saved = ["value", "date-value", "time-value", "string-value"];
                self.value = saved.iter().find_map(|name| element.attribute(name));
                self.is_unsaved = self.value.is_none() && formula.is_some();
                self.value = self.value.take().or(formula);
            }
            "p" if self.is_in_cell && !self.cell.is_empty() => self.cell.push(' '),
            "s" if self.is_in_cell => self.cell.push(' '),
            "line-break" | "tab" if self.is_in_cell => self.cell.push(' '),
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
            "table-cell" | "covered-table-cell" => self.end_cell(),
            "table-row" => self.end_row(),
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        if self.skipped == 0 && self.is_in_cell {
            self.cell.push_str(text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::tests::archive;
    use crate::reader::tests::{LIMITS, collect};

    fn file(sheet: &str) -> Vec<u8> {
        let xml = format!(
            "<office:document-content><office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body></office:document-content>"
        );
        archive(&[("mimetype", "application/vnd.oasis.opendocument.spreadsheet"), ("content.xml", &xml)])
    }

    #[test]
    fn cells_are_read_as_they_are_shown() {
        let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
        let sheet = format!(
            "<table:table table:name='Prices'><table:table-row table:number-rows-repeated='2'><table:table-cell/></table:table-row>\
             <table:table-row>{}{}<table:table-cell table:number-columns-repeated='2'/>{}</table:table-row>\
             <table:table-row table:number-rows-repeated='2'>{}<table:table-cell office:value='12.5'><office:annotation><text:p>note</text:p></office:annotation>\
             <text:p>12,50 €</text:p></table:table-cell><table:table-cell table:number-columns-repeated='16381'/></table:table-row>\
             <table:table-row><table:table-cell table:formula='of:=SUM([.B4:.B5])'/></table:table-row>\
             <table:table-row table:number-rows-repeated='1048570'><table:table-cell/></table:table-row></table:table>",
            cell("Part"),
            cell("Price"),
            cell("Place"),
            cell("Ring")
        );
        let pages = collect(LIMITS, |pages| read(file(&sheet), pages)).unwrap();
        let table = "| Part | Price | Place |\n|---|---|---|\n| Ring | 12,50 € | |\n| Ring | 12,50 € | |\n| =SUM(B4:B5) | | |";
        assert_eq!(pages, [("Prices!A3:E6".to_owned(), table.to_owned())]);
    }

    #[test]
    fn other_and_bloated_files_are_failures() {
        let text = archive(&[("content.xml", "<document-content><body><text/></body></document-content>")]);
        assert_eq!(collect(LIMITS, |pages| read(text, pages)), Err(FailureCode::WrongFileType));
        let row = "<table:table-row table:number-rows-repeated='100'><table:table-cell table:number-columns-repeated='100'>\
                   <text:p>x</text:p></table:table-cell></table:table-row>";
        let bomb = file(&format!("<table:table table:name='a'>{}</table:table>", row.repeat(250)));
        assert_eq!(collect(LIMITS, |pages| read(bomb, pages)), Err(FailureCode::TooMuchText));
    }
}
