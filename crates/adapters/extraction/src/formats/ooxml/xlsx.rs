//! Reads workbooks of Excel, in ranges of rows of each sheet.

use super::drawing::{self, Drawing};
use super::number_format::NumberFormat;
use super::relations::Relations;
use super::texts::Texts;
use super::values::{position, unescaped};
use crate::formats::embedded;
use crate::formats::package::Package;
use crate::formats::sheet::{self, Row};
use crate::formats::xml::{Element, Handler, walk};
use crate::reader::{Pages, Stopped, markdown_table};
use docent_domain::document::{Failure, FailureCode};
use std::collections::HashMap;

/// Maximum number of cells of a sheet.
const CELLS_MAX: usize = 2_000_000;
/// Maximum size of the texts of a sheet in bytes: shared texts count wherever they are used.
const TEXT_BYTES: usize = 64 << 20;

/// Passes ranges of rows of all sheets on as tables.
pub(super) fn read(
    package: &mut Package,
    path: &str,
    xml: &str,
    pages: &mut Pages<'_>,
) -> Result<(), Stopped> {
    let relations = Relations::read(package, path)?;
    let mut workbook = Workbook::default();
    walk(xml, &mut workbook)?;
    // Cells refer to these texts by number.
    let mut texts = Texts::of(&["si"]);
    if let Some(xml) = relations.read_first(package, "sharedStrings")? {
        walk(&xml, &mut texts)?;
    }
    let texts = texts.into_all();
    let mut styles = Styles::default();
    if let Some(xml) = relations.read_first(package, "styles")? {
        walk(&xml, &mut styles)?;
    }
    for (name, id) in &workbook.sheets {
        let Some(path) = relations.by_id(id) else { continue };
        let Some(xml) = package.read_xml(&path)? else { continue };
        let mut sheet = Sheet::new(&texts, &styles, workbook.from_1904);
        walk(&xml, &mut sheet)?;
        if sheet.has_drawing {
            pages.add_picture();
        }
        pages.set_lacks_results(sheet.lacks_results);
        sheet::pass(name, &sheet.rows, pages)?;
        pages.set_lacks_results(false);
        let relations = Relations::read(package, &path)?;
        for path in relations.all("drawing") {
            pass_drawing(package, path, name, pages)?;
        }
        if let Some(xml) = relations.read_first(package, "comments")? {
            let mut comments = Texts::of(&["comment"]);
            walk(&xml, &mut comments)?;
            pages.push_section(Some(&format!("{name}: comments")), &comments.into_shown().join("\n"))?;
        }
    }
    Ok(())
}

/// Passes text boxes, diagrams, charts and pictures of a sheet on.
fn pass_drawing(
    package: &mut Package,
    path: &str,
    sheet: &str,
    pages: &mut Pages<'_>,
) -> Result<(), Stopped> {
    let Drawing { texts, charts, diagrams, pictures } = Drawing::read(package, path);
    let relations = Relations::read(package, path)?;
    let mut texts = texts.into_shown();
    for id in &diagrams {
        texts.extend(drawing::diagram(package, &relations, id));
    }
    for id in &charts {
        if let Some((titles, table)) = drawing::chart(package, &relations, id) {
            texts.push(format!("\n{titles}\n\n{}", markdown_table(&table)?));
        }
    }
    let text = texts.join("\n");
    let paths: Vec<String> = pictures.iter().filter_map(|id| relations.by_id(id)).collect();
    let pictures = paths.iter().filter_map(|path| embedded::find(pages, package, path));
    let pictures = pictures.map(|picture| (text.len(), picture)).collect();
    pages.push_pictured_section(Some(&format!("{sheet}: drawings")), &text, pictures)
}

/// Names and relations of the sheets.
#[derive(Default)]
struct Workbook {
    sheets: Vec<(String, String)>,
    /// Whether dates count from 1904.
    from_1904: bool,
}

impl Handler for Workbook {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        match element.name {
            "sheet" => {
                if let (Some(name), Some(id)) = (element.attribute("name"), element.prefixed_attribute("id"))
                {
                    self.sheets.push((name, id));
                }
            }
            "workbookPr" => {
                self.from_1904 = element.attribute("date1904").is_some_and(|is| is == "1" || is == "true");
            }
            _ => {}
        }
        Ok(())
    }
}

/// The number format of each style.
#[derive(Default)]
struct Styles {
    codes: HashMap<u32, NumberFormat>,
    formats: Vec<NumberFormat>,
    is_in_cells: bool,
}

impl Handler for Styles {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        let id = || element.attribute("numFmtId")?.parse::<u32>().ok();
        match element.name {
            "numFmt" => {
                if let (Some(id), Some(code)) = (id(), element.attribute("formatCode")) {
                    self.codes.insert(id, NumberFormat::of_code(&code));
                }
            }
            "cellXfs" => self.is_in_cells = true,
            "xf" if self.is_in_cells => {
                let id = id().unwrap_or(0);
                let format = self.codes.get(&id).cloned();
                self.formats.push(format.unwrap_or_else(|| NumberFormat::built_in(id)));
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        self.is_in_cells &= name != "cellXfs";
        Ok(())
    }
}

/// The rows of a sheet that have values. Formulas are not evaluated: their last results are values, and the formula itself is
/// the value of a cell without a saved result.
struct Sheet<'a> {
    texts: &'a [String],
    styles: &'a Styles,
    from_1904: bool,
    rows: Vec<(u32, Row)>,
    cells: usize,
    text_bytes: usize,
    /// Position of the current cell, its type and its style.
    at: (u32, u32),
    kind: String,
    style: usize,
    value: String,
    is_in_value: bool,
    /// Whether the text is a phonetic guide.
    is_phonetic: bool,
    formula: String,
    is_in_formula: bool,
    /// Whether the current cell has a saved value, which may be an empty text.
    has_value: bool,
    has_drawing: bool,
    /// Whether a formula has no saved result.
    lacks_results: bool,
    /// The cells that define shared formulas, by the number of the formula, and the number of the current one.
    shared: HashMap<String, String>,
    shared_number: Option<String>,
}

impl<'a> Sheet<'a> {
    fn new(texts: &'a [String], styles: &'a Styles, from_1904: bool) -> Self {
        Self {
            texts,
            styles,
            from_1904,
            rows: Vec::new(),
            cells: 0,
            text_bytes: 0,
            at: (0, 0),
            kind: String::new(),
            style: 0,
            value: String::new(),
            is_in_value: false,
            is_phonetic: false,
            formula: String::new(),
            is_in_formula: false,
            has_value: false,
            has_drawing: false,
            lacks_results: false,
            shared: HashMap::new(),
            shared_number: None,
        }
    }

    fn text_of(&self) -> String {
        match self.kind.as_str() {
            "s" => {
                let number = self.value.trim().parse::<usize>().ok();
                number.and_then(|number| self.texts.get(number)).cloned().unwrap_or_default()
            }
            "b" => if self.value.trim() == "1" { "TRUE" } else { "FALSE" }.to_owned(),
            "" | "n" => {
                let shown = self.styles.formats.get(self.style);
                let shown = shown.map(|format| format.show(&self.value, self.from_1904));
                shown.unwrap_or_else(|| NumberFormat::default().show(&self.value, self.from_1904))
            }
            "d" => date(&self.value),
            // Texts of formulas and of cells, and errors.
            _ => unescaped(&self.value),
        }
    }

    fn begin_formula(&mut self, element: &Element<'_>) {
        self.is_in_formula = true;
        self.shared_number =
            element.attribute("si").filter(|_| element.attribute("t").as_deref() == Some("shared"));
    }

    /// Remembers a shared formula, or takes it from the cell that defines it.
    fn end_formula(&mut self) {
        self.is_in_formula = false;
        let Some(number) = self.shared_number.take() else { return };
        if self.formula.is_empty() {
            let cell = self.shared.get(&number);
            self.formula = cell.map(|cell| format!("formula of {cell}")).unwrap_or_default();
        } else {
            let (column, row) = self.at;
            self.shared.insert(number, format!("{}{row}", sheet::column_name(column)));
        }
    }

    fn end_cell(&mut self) -> Result<(), Stopped> {
        let is_unsaved = !self.has_value && !self.formula.is_empty();
        if self.value.trim().is_empty() && !is_unsaved {
            return Ok(());
        }
        let text = if is_unsaved { format!("={}", unescaped(&self.formula)) } else { self.text_of() };
        if text.trim().is_empty() {
            return Ok(());
        }
        self.lacks_results |= is_unsaved;
        self.cells += 1;
        self.text_bytes += text.len();
        if self.cells > CELLS_MAX || self.text_bytes > TEXT_BYTES {
            return Err(Failure::of(FailureCode::TooMuchText).into());
        }
        let (column, row) = self.at;
        match self.rows.last_mut() {
            Some((last, cells)) if *last == row => cells.push((column, text)),
            _ => self.rows.push((row, vec![(column, text)])),
        }
        Ok(())
    }
}

/// A date such as `2026-11-29T00:00:00Z` as other dates are written.
fn date(value: &str) -> String {
    let value = value.trim().trim_end_matches('Z');
    match value.split_once('T') {
        Some((date, time)) if time.trim_matches(['0', ':', '.']).is_empty() => date.to_owned(),
        Some((date, time)) => format!("{date} {}", time.split('.').next().unwrap_or_default()),
        None => value.to_owned(),
    }
}

impl Handler for Sheet<'_> {
    fn start(&mut self, element: &Element<'_>) -> Result<(), Stopped> {
        match element.name {
            "row" => {
                let row = element.attribute("r").and_then(|row| row.parse().ok());
                self.at = (0, row.unwrap_or_else(|| self.at.1.saturating_add(1)));
            }
            "c" => {
                let at = element.attribute("r").and_then(|reference| position(&reference));
                self.at = at.unwrap_or(self.at);
                self.kind = element.attribute("t").unwrap_or_default();
                self.style = element.attribute("s").and_then(|style| style.parse().ok()).unwrap_or(0);
                self.value.clear();
                self.formula.clear();
                self.has_value = false;
            }
            "f" => self.begin_formula(element),
            "v" => (self.is_in_value, self.has_value) = (true, true),
            "rPh" => self.is_phonetic = true,
            "t" => self.is_in_value = !self.is_phonetic,
            "drawing" | "legacyDrawing" => self.has_drawing = true,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), Stopped> {
        match name {
            "rPh" => self.is_phonetic = false,
            "v" | "t" => self.is_in_value = false,
            "f" => self.end_formula(),
            "c" => {
                self.end_cell()?;
                self.at.0 = self.at.0.saturating_add(1);
            }
            _ => {}
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stopped> {
        if self.is_in_value {
            self.value.push_str(text);
        } else if self.is_in_formula {
            self.formula.push_str(text);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::formats::tests::archive;
    use crate::reader::tests::{LIMITS, collect};
    use docent_domain::file_type::FileType;

    fn read(sheet: &str) -> Vec<(String, String)> {
        let relation = |id: &str, kind: &str, target: &str| {
            format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'/>")
        };
        let parts = relation("r1", "worksheet", "worksheets/sheet1.xml")
            + &relation("r2", "sharedStrings", "sharedStrings.xml")
            + &relation("r3", "styles", "/xl/styles.xml");
        let bytes = archive(&[
            (
                "_rels/.rels",
                &format!(
                    "<Relationships>{}</Relationships>",
                    relation("r1", "officeDocument", "xl/workbook.xml")
                ),
            ),
            (
                "xl/workbook.xml",
                "<workbook><sheets><sheet name='Budget &amp; plan' sheetId='1' rel:id='r1'/><sheet name='gone' rel:id='r9'/></sheets></workbook>",
            ),
            ("xl/_rels/workbook.xml.rels", &format!("<Relationships>{parts}</Relationships>")),
            (
                "xl/sharedStrings.xml",
                "<sst><si><t>Item</t></si><si><r><t>Pu</t></r><r><t>mp</t></r><rPh><t>x</t></rPh></si></sst>",
            ),
            (
                "xl/styles.xml",
                "<styleSheet><numFmts><numFmt numFmtId='164' formatCode='yyyy\\-mm\\-dd'/></numFmts><cellStyleXfs><xf numFmtId='9'/></cellStyleXfs><cellXfs><xf numFmtId='0'/><xf numFmtId='164'/><xf numFmtId='9'/></cellXfs></styleSheet>",
            ),
            ("xl/worksheets/sheet1.xml", &format!("<worksheet><sheetData>{sheet}</sheetData></worksheet>")),
        ]);
        collect(LIMITS, |pages| super::super::read(FileType::Xlsx, bytes, pages)).unwrap()
    }

    #[test]
    fn cells_become_a_table_with_formatted_values() {
        let sheet = "<row r='2'><c r='B2' t='s'><v>0</v></c><c r='C2' t='inlineStr'><is><t>When</t></is></c><c r='E2' t='str'><f>A1</f><v>Part|s</v></c></row>\
                     <row r='3'><c r='B3' t='s'><v>1</v></c><c r='C3' s='1'><v>45000</v></c><c r='D3' s='2'/><c r='E3' s='2'><v>0.5</v></c></row>\
                     <row><c><v>7</v></c><c t='b'><v>1</v></c><c t='s'><v>99</v></c></row>";
        let table = "| | Item | When | Part\\|s |\n|---|---|---|---|\n| | Pump | 2023-03-15 | 50% |\n| 7 | TRUE | | |";
        assert_eq!(read(sheet), [("Budget & plan!A2:E4".to_owned(), table.to_owned())]);
    }

    #[test]
    fn dates_and_phonetic_guides_of_cells_are_read() {
        let sheet = "<row><c t='d'><v>2024-03-05T00:00:00</v></c><c t='d'><v>2024-03-05T10:30:00.000Z</v></c></row>\
                     <row><c t='inlineStr'><is><r><t>Tok</t></r><r><t>yo</t></r><rPh><t>x</t></rPh></is></c><c><v>1</v></c></row>";
        let table = "| 2024-03-05 | 2024-03-05 10:30:00 |\n|---|---|\n| Tokyo | 1 |";
        assert_eq!(read(sheet), [("Budget & plan!A1:B2".to_owned(), table.to_owned())]);
    }

    #[test]
    fn text_boxes_charts_and_comments_of_a_sheet_are_read() {
        let relation = |kind: &str, target: &str| {
            format!("<Relationship Id='{kind}' Type='http://x/{kind}' Target='{target}'/>")
        };
        let relations = |entries: &[String]| format!("<Relationships>{}</Relationships>", entries.concat());
        let bytes = archive(&[
            ("_rels/.rels", &relations(&[relation("officeDocument", "xl/workbook.xml")])),
            ("xl/workbook.xml", "<workbook><sheets><sheet name='S' r:id='worksheet'/></sheets></workbook>"),
            ("xl/_rels/workbook.xml.rels", &relations(&[relation("worksheet", "sheet1.xml")])),
            ("xl/sheet1.xml", "<worksheet><sheetData/><drawing r:id='drawing'/></worksheet>"),
            (
                "xl/_rels/sheet1.xml.rels",
                &relations(&[relation("drawing", "drawing.xml"), relation("comments", "comments.xml")]),
            ),
            (
                "xl/drawing.xml",
                "<xdr:wsDr><xdr:sp><xdr:txBody><a:p><a:r><a:t>Box</a:t></a:r></a:p></xdr:txBody></xdr:sp><xdr:pic><xdr:cNvPr descr='Plan of the hall'/></xdr:pic><c:chart r:id='chart'/></xdr:wsDr>",
            ),
            ("xl/_rels/drawing.xml.rels", &relations(&[relation("chart", "chart.xml")])),
            ("xl/chart.xml", "<c:chartSpace><c:title><a:t>Sales</a:t></c:title></c:chartSpace>"),
            (
                "xl/comments.xml",
                "<comments><comment ref='B2'><text><r><t>Too </t></r><r><t>high</t></r></text></comment></comments>",
            ),
        ]);
        let pages = collect(LIMITS, |pages| super::super::read(FileType::Xlsx, bytes, pages)).unwrap();
        let page = |label: &str, text: &str| (label.to_owned(), text.to_owned());
        assert_eq!(
            pages,
            [page("S: drawings", "Box\nPlan of the hall\n\nSales"), page("S: comments", "B2: Too high")]
        );
    }

    #[test]
    fn formulas_without_results_and_escapes_are_read() {
        let sheet = "<row><c t='str'><v>a_x000D_b</v></c><c t='inlineStr'><is><t>x</t></is></c></row>\
                     <row><c><f>SUM(C2:C9)</f></c><c t='str'><f>IF(1,\"\",2)</f><v></v></c></row>\
                     <row><c><f t='shared' si='0' ref='A3:A4'>B3*2</f></c><c><v>1</v></c></row>\
                     <row><c><f t='shared' si='0'/></c><c><f>A1</f><v>2</v></c></row>";
        let table = "| a b | x |\n|---|---|\n| =SUM(C2:C9) | |\n| =B3*2 | 1 |\n| =formula of A3 | 2 |";
        assert_eq!(read(sheet), [("Budget & plan!A1:B4".to_owned(), table.to_owned())]);
    }

    #[test]
    fn long_sheet_is_cut_into_ranges_with_its_header() {
        let rows: String = (2..=400)
            .map(|row| format!("<row r='{row}'><c r='A{row}' t='str'><v>value {row}</v></c><c r='B{row}'><v>{row}</v></c></row>"))
            .collect();
        let pages = read(&format!(
            "<row r='1'><c r='A1' t='s'><v>0</v></c><c r='B1' t='str'><v>No</v></c></row>{rows}"
        ));
        assert!(pages.len() > 1 && pages[0].0.starts_with("Budget & plan!A1:B"), "{:?}", pages[0].0);
        assert!(pages.iter().all(|(_, text)| text.starts_with("| Item | No |\n|---|---|\n| value ")));
        assert!(pages.last().unwrap().0.ends_with(":B400") && pages.last().unwrap().1.contains("value 400"));
    }

    #[test]
    fn sparse_and_empty_sheets_are_small() {
        let pages = read(
            "<row r='1'><c r='A1'><v>1</v></c></row><row r='1048576'><c r='XFD1048576'><v>2</v></c></row>",
        );
        assert_eq!(pages[0].1, "| 1 | |\n|---|---|\n| | 2 |");
        assert_eq!(pages[0].0, "Budget & plan!A1:XFD1048576");
        assert!(read("").is_empty());
    }
}
