//! Reads values separated by commas, semicolons, tabs or bars, in ranges of rows.

use super::{sheet, unreadable};
use crate::reader::{Pages, Stopped, markdown_table, one_line};
use csv::{ReaderBuilder, StringRecord};

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// The lines by which the delimiter is found.
const SAMPLE_LINES: usize = 20;

/// Passes rows on as tables; each has the header of the file, which is its first row or below a title.
pub(super) fn read(text: &str, pages: &mut Pages<'_>) -> Result<(), Stopped> {
    let (declared, text) = declared_delimiter(text.trim_start_matches('\u{feff}'));
    let mut reader = ReaderBuilder::new();
    let delimiter = declared.unwrap_or_else(|| delimiter(text));
    let reader = reader.delimiter(delimiter).has_headers(false).flexible(true);
    let mut rows = reader.from_reader(text.as_bytes()).into_records();
    let cells = |record: StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let mut top: Vec<(u64, Vec<String>)> = Vec::new();
    let mut numbered = (1_u64..).zip(&mut rows);
    for (number, row) in numbered.by_ref().take(sheet::WIDTH_ROWS) {
        let row = cells(row.map_err(|_| unreadable())?);
        top.extend((!is_empty(&row)).then_some((number, row)));
    }
    // Rows above the names of the columns are the title of the table.
    let widths: Vec<usize> = top.iter().map(|(_, row)| filled(row)).collect();
    let above: Vec<_> = top.drain(..sheet::header_index(&widths)).collect();
    let Some((number, header)) = (!top.is_empty()).then(|| top.remove(0)) else { return Ok(()) };
    let mut title = String::new();
    for (_, row) in &above {
        let texts: Vec<String> =
            row.iter().map(|cell| one_line(cell)).filter(|cell| !cell.is_empty()).collect();
        title.push_str(&format!("{}\n", texts.join(" ")));
    }
    let (mut first, mut last) = (above.first().map_or(number, |(number, _)| *number), number);
    let (mut table, mut bytes) = (vec![header.clone()], 0);
    let rest = numbered.map(|(number, row)| row.map(|row| (number, cells(row))));
    for row in top.into_iter().map(Ok).chain(rest) {
        let (number, row) = row.map_err(|_: csv::Error| unreadable())?;
        // Some programs write the empty rows of a whole sheet.
        if is_empty(&row) {
            continue;
        }
        if bytes > sheet::RANGE_BYTES {
            pass(pages, first, last, &std::mem::take(&mut title), &table)?;
            (table, first, bytes) = (vec![header.clone()], number, 0);
        }
        bytes += row.iter().map(String::len).sum::<usize>();
        last = number;
        table.push(row);
    }
    pass(pages, first, last, &title, &table)
}

fn is_empty(row: &[String]) -> bool {
    filled(row) == 0
}

/// The number of cells with text.
fn filled(row: &[String]) -> usize {
    row.iter().filter(|cell| !cell.trim().is_empty()).count()
}

fn pass(
    pages: &mut Pages<'_>,
    first: u64,
    last: u64,
    title: &str,
    table: &[Vec<String>],
) -> Result<(), Stopped> {
    let label = if first == last { format!("Row {first}") } else { format!("Rows {first}–{last}") };
    let space = if title.is_empty() { "" } else { "\n" };
    pages.push_section(Some(&label), &format!("{title}{space}{}", markdown_table(table)?))
}

/// The delimiter that a first line such as `sep=;` declares to Excel, and the text after that line.
fn declared_delimiter(text: &str) -> (Option<u8>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let line = line.trim_end_matches('\r').trim_matches('"');
    let is_declaration = line.get(..4).is_some_and(|key| key.eq_ignore_ascii_case("sep="));
    match line.get(4..).map(str::as_bytes) {
        Some([delimiter]) if is_declaration => (Some(*delimiter), rest),
        _ => (None, text),
    }
}

/// The delimiter that separates the first lines into the same number of values, and into most.
fn delimiter(text: &str) -> u8 {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(SAMPLE_LINES).collect();
    let score = |delimiter: &u8| {
        let count = |line: &&str| {
            let mut is_quoted = false;
            line.bytes()
                .filter(|byte| {
                    is_quoted ^= *byte == b'"';
                    !is_quoted && byte == delimiter
                })
                .count()
        };
        let counts: Vec<usize> = lines.iter().map(count).collect();
        let first = counts.first().copied().unwrap_or(0);
        let equal = counts.iter().filter(|count| **count == first && first > 0).count();
        (equal, first)
    };
    // The last of equal maxima would win.
    DELIMITERS.into_iter().rev().max_by_key(score).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::tests::{LIMITS, collect};

    #[test]
    fn rows_become_tables_whatever_separates_values() {
        for text in [
            "Name,Age\n\"Doe, J\",3\n",
            "Name;Age\r\nDoe, J;3",
            "Name\tAge\nDoe, J\t3\n",
            "Name|Age\nDoe, J|3",
            "sep=;\r\nName;Age\r\nDoe, J;3",
            "\u{feff}\"SEP=\t\"\nName\tAge\nDoe, J\t3",
        ] {
            let pages = collect(LIMITS, |pages| read(text, pages)).unwrap();
            let table = "| Name | Age |\n|---|---|\n| Doe, J | 3 |";
            assert_eq!(pages, [("Rows 1–2".to_owned(), table.to_owned())], "{text}");
        }
    }

    #[test]
    fn header_is_below_the_title() {
        for title in ["Stock 2026\n\n", "Stock 2026,,\n"] {
            let text = format!("{title}Part,Qty,Place\nRing,4,A1\nBolt,9,B2\nNut,1,C3\n");
            let pages = collect(LIMITS, |pages| read(&text, pages)).unwrap();
            assert!(
                pages[0].1.starts_with("Stock 2026\n\n| Part | Qty | Place |\n|---|---|---|\n"),
                "{pages:?}"
            );
        }
    }

    #[test]
    fn every_range_has_the_header() {
        let rows: String = (2..400).map(|n| format!("value {n},{n}\n")).collect();
        let pages = collect(LIMITS, |pages| read(&format!("Key,Number\n{rows}"), pages)).unwrap();
        assert!(pages.len() > 1 && pages[0].0.starts_with("Rows 1–"));
        assert!(pages.iter().all(|(_, text)| text.starts_with("| Key | Number |\n|---|---|\n| value ")));
        assert!(pages.last().unwrap().0.ends_with("–399") && pages.last().unwrap().1.contains("value 399"));
    }

    #[test]
    fn empty_rows_are_left_out() {
        let pages =
            collect(LIMITS, |pages| read(&format!("a,b\n1,2\n{}3,4\n, \n", ",\n".repeat(9000)), pages));
        let table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |";
        assert_eq!(pages.unwrap(), [("Rows 1–9003".to_owned(), table.to_owned())]);
    }

    #[test]
    fn unclosed_quotes_and_empty_files_do_not_fail() {
        let pages = collect(LIMITS, |pages| read("a,b\n\"c,d\ne,f", pages)).unwrap();
        assert!(pages[0].1.contains("c,d e,f"), "{pages:?}");
        assert!(collect(LIMITS, |pages| read("", pages)).unwrap().is_empty());
    }
}
