//! The header of a table.

use super::columns::{Band, Columns};
use super::value::{is_period, is_value};
use super::{Cell, Row, Rule, Strip};
use std::ops::Range;

/// Maximum number of rows above the first row with figures that can belong to the header. A header of several lines per
/// column has many of them.
const MAX_ROWS: usize = 40;
/// Maximum distance between two lines of a header, in multiples of the font size.
const LINE_GAP: f64 = 3.5;
/// Maximum length of a header that spans columns, in characters; longer texts are captions.
const MAX_LENGTH: usize = 60;
/// Gap between two words, as a fraction of the font size, from which they are headers of different columns.
const HEADER_GAP: f64 = 0.6;
/// Distance between the centres of a header and of the columns that it spans, in multiples of the font size.
const CENTERED: f64 = 2.5;

/// Whether a row has years or dates and no other figures.
pub(super) fn is_periods(row: &Row) -> bool {
    let is_labelled = row.cells.first().is_some_and(|cell| !is_value(&cell.text));
    let entries = row.cells.iter().skip(usize::from(is_labelled));
    let mut values = entries.filter(|cell| is_value(&cell.text)).peekable();
    values.peek().is_some() && values.all(|cell| is_period(&cell.text))
}

/// Returns where the header in the rows of a block ends: rows with periods or words instead of figures belong to it. Of
/// a table without figures, the first row does.
pub(super) fn end(rows: &[Row], block: &Range<usize>) -> usize {
    let mut end = block.start;
    for index in block.clone() {
        let row = &rows[index];
        if is_periods(row) || row.is_of_words() {
            end = index + 1;
        } else if row.values > 0 {
            return end;
        }
    }
    if rows[block.start].is_of_words() { block.start + 1 } else { block.start }
}

/// Returns where the header above a block begins, at least `free`.
pub(super) fn start(
    strips: &[Strip<'_>],
    rows: &[Row],
    columns: &Columns,
    free: usize,
    block_start: usize,
    body: &Row,
) -> usize {
    let mut start = block_start;
    // The baseline of the highest line found, including labels.
    let mut top = rows[block_start].baseline;
    for index in (free..block_start).rev().take(MAX_ROWS) {
        let row = &rows[index];
        let gap = (top - row.baseline) / row.size;
        if strips[index].direction != strips[block_start].direction
            || gap > LINE_GAP
            || row.baseline > body.baseline - 0.5 * row.size
        {
            break;
        }
        if is_over_entries(row, columns) || is_unit(row) {
            start = index;
        } else if !is_label(row, columns) {
            break;
        }
        top = top.min(row.baseline);
    }
    start
}

/// Whether the cells of a row stand over the columns after the labels, except a label.
fn is_over_entries(row: &Row, columns: &Columns) -> bool {
    let (Some(first), Some(last)) = (row.cells.first(), columns.bands().last()) else { return false };
    let entries_start = columns.entries_start();
    // Headers are wider than figures.
    let slack = 4.0 * row.size;
    let is_inside = |cell: &Cell| cell.start > entries_start - slack && cell.end < last.end + slack;
    // A title or a sentence begins at the labels and reaches over the entries.
    let is_label = columns.has_labels()
        && first.start < entries_start - slack
        && first.end < entries_start + 0.5 * slack;
    match row.cells.as_slice() {
        [] => false,
        [only] => {
            let is_narrow = || only.end - only.start < 0.7 * (last.end - entries_start);
            is_inside(only)
                && !is_label
                && only.text.chars().count() <= MAX_LENGTH
                && (columns.has_labels() || is_narrow())
        }
        [_, others @ ..] => (is_label || is_inside(first)) && others.iter().all(is_inside),
    }
}

/// Whether a row is a remark in parentheses, such as "(in millions)".
fn is_unit(row: &Row) -> bool {
    match row.cells.as_slice() {
        [only] => {
            only.text.starts_with('(')
                && only.text.ends_with(')')
                && only.text.chars().any(char::is_alphabetic)
        }
        _ => false,
    }
}

/// Whether a row consists of a short label.
fn is_label(row: &Row, columns: &Columns) -> bool {
    let entries_start = columns.entries_start();
    let is_short = |cell: &Cell| cell.end < entries_start && cell.text.chars().count() <= MAX_LENGTH;
    columns.has_labels() && matches!(row.cells.as_slice(), [only] if is_short(only))
}

/// A header: the text of each column, and the rows below them that are labels of the body.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) cells: Vec<String>,
    /// Indexes of labels between the header and the first row with figures.
    pub(super) labels: Vec<usize>,
}

/// A line of a header: its cells from left to right, each with its row.
struct Line {
    cells: Vec<(usize, Cell)>,
    row: Row,
}

/// Reads the header in the given rows: above each column, the texts from top to bottom.
pub(super) fn read(strips: &[Strip<'_>], rows: Range<usize>, columns: &Columns, rules: &[Rule]) -> Header {
    let parts: Vec<(usize, Row)> =
        rows.map(|index| (index, Row::with_gap(&strips[index], HEADER_GAP))).collect();
    let is_of_labels = |row: &Row| is_unit(row) || row.cells.iter().all(|cell| is_over_labels(cell, columns));
    let entries = parts.iter().filter(|(_, row)| !is_of_labels(row));
    let lowest = entries.map(|(_, row)| row.baseline).fold(f64::NEG_INFINITY, f64::max);
    let mut header = Header { cells: vec![String::new(); columns.count()], labels: Vec::new() };
    let mut lines: Vec<Line> = Vec::new();
    for (index, row) in parts {
        if !is_unit(&row) && is_of_labels(&row) && row.baseline > lowest + 0.4 * row.size {
            header.labels.push(index);
            continue;
        }
        let cells = row.cells.iter().map(|cell| (index, cell.clone()));
        match lines.iter_mut().find(|line| (line.row.baseline - row.baseline).abs() < 0.4 * row.size) {
            Some(line) => line.cells.extend(cells),
            None => lines.push(Line { cells: cells.collect(), row }),
        }
    }
    lines.sort_by(|a, b| a.row.baseline.total_cmp(&b.row.baseline));
    for line in &mut lines {
        line.cells.sort_by(|(_, a), (_, b)| a.start.total_cmp(&b.start));
        line.row.cells = line.cells.iter().map(|(_, cell)| cell.clone()).collect();
    }
    for (number, line) in lines.iter().enumerate() {
        for (index, cell) in &line.cells {
            let spanned = if columns.has_labels() && (is_unit(&line.row) || is_over_labels(cell, columns)) {
                0..1
            } else {
                // The next line of the same header was written next.
                let written_next =
                    lines.iter().flat_map(|line| &line.cells).find(|(other, _)| *other == index + 1);
                let is_wrapped = written_next.is_some_and(|(_, next)| {
                    (next.center() - cell.center()).abs() < line.row.size
                        || (next.start - cell.start).abs() < 0.2 * line.row.size
                });
                span(cell, is_wrapped, &line.row, lines.get(number + 1).map(|line| &line.row), columns, rules)
            };
            for column in spanned {
                let text = &mut header.cells[column];
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(&cell.text);
            }
        }
    }
    header
}

/// Whether a cell stands over the labels.
fn is_over_labels(cell: &Cell, columns: &Columns) -> bool {
    columns.has_labels() && cell.end <= columns.entries_start() && cell.start < columns.bands()[0].end
}

/// Returns the columns that a header spans: those over a line drawn right below it, those that it overlaps, or those in
/// whose midst it stands.
fn span(
    cell: &Cell,
    is_wrapped: bool,
    row: &Row,
    below: Option<&Row>,
    columns: &Columns,
    rules: &[Rule],
) -> Range<usize> {
    let skipped = usize::from(columns.has_labels());
    let bands = &columns.bands()[skipped..];
    let overlapped = |start: f64, end: f64| {
        let first = bands.iter().position(|band| band.end > start)?;
        let last = bands.iter().rposition(|band| band.start < end)?;
        (first <= last).then_some(first + skipped..last + skipped + 1)
    };
    let own = overlapped(cell.start, cell.end).unwrap_or_else(|| {
        let column = columns.of_cell(cell, false);
        column..column + 1
    });
    if is_wrapped {
        return own;
    }
    let is_alone_over = |rule: &&Rule| {
        let covered = row.cells.iter().filter(|other| other.overlap(rule.start, rule.end) > 0.0);
        covered.count() == 1 && (rule.start..rule.end).contains(&cell.center())
    };
    let is_under = |rule: &&Rule| (0.0..0.9 * row.size).contains(&(rule.across - row.baseline));
    let rule =
        rules.iter().filter(is_under).filter(is_alone_over).min_by(|a, b| a.across.total_cmp(&b.across));
    // A line below one column says little: each column of a header can have its own.
    let ruled = rule.and_then(|rule| overlapped(rule.start.min(cell.start), rule.end.max(cell.end)));
    if let Some(span) = ruled.filter(|span| span.len() > 1) {
        return span;
    }
    // The columns to which this is the nearest cell of the row.
    let nearest = |band: &Band| {
        let center = f64::midpoint(band.start, band.end);
        let distance = |cell: &Cell| (cell.center() - center).abs();
        row.cells.iter().all(|other| distance(other) >= distance(cell))
    };
    let (Some(first), Some(last)) = (bands.iter().position(nearest), bands.iter().rposition(nearest)) else {
        return own;
    };
    let (left, right) = (bands[first].start, bands[last].end);
    let is_centered = (f64::midpoint(left, right) - cell.center()).abs() < CENTERED * row.size;
    let cells_below =
        |below: &Row| below.cells.iter().filter(|other| other.overlap(left, right) > 0.0).count();
    if is_centered && last > first && below.is_some_and(|below| cells_below(below) > 1) {
        return first + skipped..last + skipped + 1;
    }
    own
}
