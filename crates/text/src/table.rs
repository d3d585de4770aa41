//! Markdown tables in the text of documents.
//!
//! Extracted text contains tables in this form: a header row, a row of dashes, and rows of cells between bars. `|` in a
//! cell is written `\\|`.

use std::ops::Range;

/// Returns the byte ranges of the tables in a text, in order. A range ends after the line break of its last row, or before the
/// header of another table.
pub fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    // Beginning of the current table, or of the line that may be its header.
    let mut begin: Option<(usize, bool)> = None;
    let (mut at, mut last) = (0, 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let line = line.trim_end();
        begin = match begin {
            _ if !is_row(line) => {
                ranges.extend(begin.and_then(|(from, is_table)| is_table.then_some(from..start)));
                None
            }
            Some((from, false)) if is_delimiter(line) => Some((from, true)),
            // The row before it is the header of the next table.
            Some((from, true)) if is_delimiter(line) && last > from => {
                ranges.push(from..last);
                Some((last, true))
            }
            Some((from, true)) => Some((from, true)),
            _ => Some((start, false)),
        };
        last = start;
    }
    ranges.extend(begin.and_then(|(from, is_table)| is_table.then_some(from..at)));
    ranges
}

/// Whether a line is a row of a table.
pub fn is_row(line: &str) -> bool {
    line.len() > 1 && line.starts_with('|') && line.ends_with('|')
}

/// Whether a line is the row of dashes below a header.
pub fn is_delimiter(line: &str) -> bool {
    is_row(line) && line.contains("---") && line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// Writes a row, without a line break.
pub fn row<'a>(cells: impl IntoIterator<Item = &'a str>) -> String {
    let mut line = "|".to_owned();
    for cell in cells {
        if !cell.is_empty() {
            line.push(' ');
            line.push_str(&cell.replace('|', "\\|"));
        }
        line.push_str(" |");
    }
    line
}

/// Writes the row of dashes below a header of this many cells, without a line break.
pub fn delimiter(columns: usize) -> String {
    format!("|{}", "---|".repeat(columns))
}

/// Returns the cells of a row.
pub fn cells(row: &str) -> Vec<String> {
    let inner = row.trim_end();
    let inner = inner.strip_prefix('|').unwrap_or(inner);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut cells = Vec::new();
    let (mut start, mut is_escaped) = (0, false);
    for (at, c) in inner.char_indices() {
        if c == '|' && !is_escaped {
            cells.push(&inner[start..at]);
            start = at + 1;
        }
        is_escaped = c == '\\';
    }
    cells.push(&inner[start..]);
    cells.into_iter().map(|cell| cell.trim().replace("\\|", "|")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "| | 2024 |\n|---|---|\n| Sales | 5 |\n";

    #[test]
    fn tables_are_found_among_text() {
        let text = format!("Before\n{TABLE}between | bars |\n\n{TABLE}| no table |\nAfter");
        let found: Vec<&str> = ranges(&text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, [TABLE, &format!("{TABLE}| no table |\n")]);
        assert_eq!(ranges("| a | b |\n| c | d |\n"), [], "no row of dashes");
        assert_eq!(ranges("|---|---|\n"), []);
        let other = "| Code | Service |\n|---|---|\n| 7 | Planting |\n";
        let adjacent = format!("{TABLE}{other}");
        let found: Vec<&str> = ranges(&adjacent).into_iter().map(|range| &adjacent[range]).collect();
        assert_eq!(found, [TABLE, other], "the second table has a header of its own");
        assert_eq!(ranges("| a |\n|---|").first(), Some(&(0..11)));
    }

    #[test]
    fn written_row_is_read_again() {
        let written = ["a", "", "b|c"];
        assert_eq!(row(written), "| a | | b\\|c |");
        assert_eq!(cells(&row(written)), written);
        assert!(is_delimiter(&delimiter(2)) && cells(&delimiter(2)).len() == 2);
    }

    #[test]
    fn cells_are_unescaped() {
        assert_eq!(cells("| a | b\\|c | |\n"), ["a", "b|c", ""]);
        assert_eq!(cells("| |"), [""]);
    }
}
