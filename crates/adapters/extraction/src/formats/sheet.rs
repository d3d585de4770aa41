//! Passes the rows of spreadsheets on as tables.

use crate::reader::{Pages, Stopped, markdown_table, one_line};
use std::collections::{BTreeSet, HashMap};

/// Size of a range in bytes from which on the next one begins.
pub(super) const RANGE_BYTES: usize = 4000;
/// Rows in which the header is looked for, and by which the width of the table is found.
const HEADER_ROWS: usize = 20;
pub(super) const WIDTH_ROWS: usize = 60;
/// Maximum size of the rows above the header that are repeated in every range, in bytes.
const TITLE_BYTES: usize = 300;

/// Cells of a row by column.
pub(super) type Row = Vec<(u32, String)>;

/// Passes ranges of rows on as tables; each has the header of its sheet, and the title above it.
pub(super) fn pass(name: &str, rows: &[(u32, Row)], pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let columns: BTreeSet<u32> = rows.iter().flat_map(|(_, cells)| cells.iter().map(|cell| cell.0)).collect();
    let (Some(first), Some(last)) = (columns.first(), columns.last()) else { return Ok(()) };
    let (first, last) = (column_name(*first), column_name(*last));
    let index: HashMap<u32, usize> = columns.iter().copied().zip(0..).collect();
    let line = |cells: &Row| {
        let end = cells.last().and_then(|(column, _)| index.get(column)).map_or(0, |at| at + 1);
        let mut line = vec![String::new(); end];
        for (column, text) in cells {
            if let Some(cell) = index.get(column).and_then(|at| line.get_mut(*at)) {
                cell.clone_from(text);
            }
        }
        line
    };
    let widths: Vec<usize> = rows.iter().map(|(_, cells)| cells.len()).take(WIDTH_ROWS).collect();
    let (above, rows) = rows.split_at(header_index(&widths));
    let Some(((top, header), mut rest)) =
        rows.split_first().map(|((row, cells), rest)| ((*row, line(cells)), rest))
    else {
        return Ok(());
    };
    let title = title(above);
    let mut start = above.first().map_or(top, |(row, _)| *row);
    let mut is_first = true;
    loop {
        let mut table = vec![header.clone()];
        let (mut bytes, mut end) = (0, top.max(start));
        // Empty columns take room in the table too.
        while bytes < RANGE_BYTES
            && let Some(((row, cells), after)) = rest.split_first()
        {
            let line = line(cells);
            bytes += line.iter().map(|cell| cell.len() + 3).sum::<usize>();
            (end, rest) = (*row, after);
            table.push(line);
        }
        let above = if is_first || title.len() <= TITLE_BYTES { title.as_str() } else { "" };
        let text = format!("{above}{}", markdown_table(&table)?);
        pages.push_section(Some(&format!("{name}!{first}{start}:{last}{end}")), &text)?;
        is_first = false;
        match rest.first() {
            Some((row, _)) => start = *row,
            None => return Ok(()),
        }
    }
}

/// The rows above the header as lines.
fn title(rows: &[(u32, Row)]) -> String {
    let mut title = String::new();
    for (_, cells) in rows {
        let texts: Vec<String> = cells.iter().map(|(_, text)| one_line(text)).collect();
        title.push_str(&texts.join(" "));
        title.push('\n');
    }
    if !title.is_empty() {
        title.push('\n');
    }
    title
}

/// The index of the row with the names of the columns: the first row that has most of the cells that rows usually have. The
/// rows above are the title of the sheet and remarks.
///
/// `widths` are the numbers of cells with text in the first rows.
pub(super) fn header_index(widths: &[usize]) -> usize {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for cells in widths {
        *counts.entry(*cells).or_default() += 1;
    }
    let width =
        counts.into_iter().max_by_key(|(width, count)| (*count, *width)).map_or(0, |(width, _)| width);
    let is_header = |cells: &usize| *cells >= 2 && 3 * cells >= 2 * width;
    match widths.iter().take(HEADER_ROWS).position(is_header) {
        Some(at) if width >= 2 => at,
        _ => 0,
    }
}

/// The letters of a column, counted from 0.
pub(super) fn column_name(mut column: u32) -> String {
    let mut name = String::new();
    loop {
        name.insert(0, char::from(b'A' + u8::try_from(column % 26).unwrap_or(0)));
        match (column / 26).checked_sub(1) {
            Some(rest) => column = rest,
            None => return name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    fn rows(texts: &[&[&str]]) -> Vec<(u32, Row)> {
        let row = |texts: &&[&str]| {
            let cells = (0..).zip(texts.iter().map(|text| (*text).to_owned()));
            cells.filter(|(_, text): &(u32, String)| !text.is_empty()).collect()
        };
        (1..).zip(texts.iter().map(row)).filter(|(_, cells): &(u32, Row)| !cells.is_empty()).collect()
    }

    #[test]
    fn header_is_below_the_title_of_the_sheet() {
        let sheet = rows(&[
            &["Price list 2026"],
            &[],
            &["Valid from", "1 May"],
            &["Part", "Price", "Stock", "Place"],
            &["Ring", "12", "4", "A1"],
            &["Screw", "3", "", "B2"],
        ]);
        let pages = collect(LIMITS, |pages| pass("Parts", &sheet, pages)).unwrap();
        let table = "| Part | Price | Stock | Place |\n|---|---|---|---|\n| Ring | 12 | 4 | A1 |\n| Screw | 3 | | B2 |";
        let expected = format!("Price list 2026\nValid from 1 May\n\n{table}");
        assert_eq!(pages, [("Parts!A1:D6".to_owned(), expected)]);
    }

    #[test]
    fn every_range_has_title_and_header() {
        let names: Vec<String> = (0..600).map(|n| format!("value {n}")).collect();
        let mut texts: Vec<Vec<&str>> = vec![vec!["Title"], vec!["Name", "Note"]];
        texts.extend(names.iter().map(|name| vec![name.as_str(), "x"]));
        let texts: Vec<&[&str]> = texts.iter().map(Vec::as_slice).collect();
        let pages = collect(LIMITS, |pages| pass("S", &rows(&texts), pages)).unwrap();
        assert!(pages.len() > 1);
        assert!(
            pages.iter().all(|(_, text)| text.starts_with("Title\n\n| Name | Note |\n|---|---|\n| value "))
        );
        assert!(pages[1].0.starts_with("S!A") && !pages[1].0.starts_with("S!A1:"));
    }
}
