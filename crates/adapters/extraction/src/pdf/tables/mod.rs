//! Finds tables among the rows of a page and writes them as Markdown tables.
//!
//! A table is a series of rows in content order whose figures are aligned in columns. Columns are the horizontal bands
//! that the figures and other entries cover; a label column precedes them. Rows above the first row with figures whose
//! entries stand over the columns are its header; a header above several columns is repeated in each.
//!
//! Where lines are drawn around the cells, the lines give rows and columns, see [`grid`]. Other tables without figures stay
//! running text, because their wrapped cells are easier to read in content order.

mod body;
mod columns;
mod grid;
mod header;
mod value;

use super::line::Line;
use docent_text::table;
use hayro_interpret::kurbo::Rect;
use std::ops::Range;
use value::is_currency;
pub(crate) use value::is_value;

/// Gap between two words, as a fraction of the font size, from which they are in different cells.
const CELL_GAP: f64 = 0.95;
/// The same between two figures.
const VALUE_GAP: f64 = 0.45;
/// Distance between the baselines of two rows of a table, in multiples of the font size.
const ROW_GAP: f64 = 4.0;
/// Distance in points of the parts of a line below a header; lines of different headers are farther apart.
const RULE_GAP: f64 = 1.0;
/// Maximum number of consecutive rows without figures in the midst of a table.
const ROWS_WITHOUT_VALUES: usize = 5;
/// Minimum number of rows with figures or words below the header.
const MIN_VALUE_ROWS: usize = 2;
/// The same for tables with one column of figures, which resemble running text more.
const MIN_VALUE_ROWS_OF_ONE_COLUMN: usize = 3;
/// Minimum number of cells of a row without figures, and maximum number of characters of each: columns of running text
/// are fewer or longer.
const MIN_CELLS_OF_WORDS: usize = 3;
const MAX_WORDS: usize = 60;
/// Maximum number of columns; more are not a table but a chart.
const MAX_COLUMNS: usize = 40;

/// A word of a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    /// Where it begins and ends in the direction of the text, in points.
    pub(crate) start: f64,
    pub(crate) end: f64,
}

/// A row of words on one baseline, from left to right.
#[derive(Clone, Debug)]
pub(crate) struct Strip<'a> {
    pub(crate) words: Vec<Word<'a>>,
    /// Position of the baseline across the direction of the text, growing downwards.
    pub(crate) baseline: f64,
    /// Font size in points.
    pub(crate) size: f64,
    /// Index of its direction: rows of different directions are not in the same table.
    pub(crate) direction: u8,
}

/// A line drawn on the page, in the coordinates of the rows of a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(super) is_vertical: bool,
    /// Where it begins and ends.
    pub(super) start: f64,
    pub(super) end: f64,
    /// Its position in the other dimension.
    pub(super) across: f64,
    pub(super) direction: u8,
}

/// Words of a row without a wide gap.
#[derive(Clone, Debug, PartialEq)]
struct Cell {
    text: String,
    start: f64,
    end: f64,
}

impl Cell {
    fn center(&self) -> f64 {
        f64::midpoint(self.start, self.end)
    }

    /// Length of the common part with a range; negative is the distance.
    fn overlap(&self, start: f64, end: f64) -> f64 {
        self.end.min(end) - self.start.max(start)
    }
}

/// The cells of a row.
#[derive(Debug)]
struct Row {
    cells: Vec<Cell>,
    baseline: f64,
    size: f64,
    /// Number of the cells that are figures, without the first cell.
    values: usize,
}

impl Row {
    fn of(strip: &Strip<'_>) -> Self {
        Self::with_gap(strip, CELL_GAP)
    }

    /// Splits a row at gaps of this fraction of the font size.
    fn with_gap(strip: &Strip<'_>, cell_gap: f64) -> Self {
        let mut cells: Vec<Cell> = Vec::new();
        let mut previous: Option<Word<'_>> = None;
        for word in &strip.words {
            let joins = previous.is_some_and(|previous| {
                let gap = word.start - previous.end;
                let begins_value = is_value(word.text) || is_currency(word.text);
                let limit = if is_value(previous.text) && begins_value { VALUE_GAP } else { cell_gap };
                let is_amount = is_currency(previous.text) && is_value(word.text);
                let is_sign = matches!(word.text, ")" | "%" | ")%") && is_value(previous.text);
                gap < limit * strip.size || is_amount || (is_sign && gap < 2.0 * strip.size)
            });
            match cells.last_mut() {
                Some(cell) if joins => {
                    let is_tight = previous.is_some_and(|previous| is_currency(previous.text))
                        || matches!(word.text, ")" | "%" | ")%");
                    if !is_tight {
                        cell.text.push(' ');
                    }
                    cell.text.push_str(word.text);
                    cell.end = word.end;
                }
                _ => cells.push(Cell { text: word.text.to_owned(), start: word.start, end: word.end }),
            }
            previous = Some(*word);
        }
        let values = cells.iter().skip(1).filter(|cell| is_value(&cell.text)).count();
        Self { cells, baseline: strip.baseline, size: strip.size, values }
    }

    /// Whether the row can be a row of a table with entries: it has figures, or several words in a distance.
    fn has_entries(&self) -> bool {
        self.values > 0 || self.is_of_words()
    }

    /// Whether the row has no figures but several short cells.
    fn is_of_words(&self) -> bool {
        let is_short = |cell: &Cell| cell.text.chars().count() <= MAX_WORDS;
        self.values == 0 && self.cells.len() >= MIN_CELLS_OF_WORDS && self.cells.iter().all(is_short)
    }

    fn start(&self) -> f64 {
        self.cells.first().map_or(0.0, |cell| cell.start)
    }
}

/// A table on a page.
#[derive(Debug)]
pub(crate) struct Table {
    /// The rows of the page that it consists of, in order.
    pub(crate) rows: Vec<usize>,
    /// Whether lines are drawn around its cells.
    pub(crate) is_ruled: bool,
    /// Its lines in Markdown, each with the rows of the page that it was made from.
    lines: Vec<(String, Vec<usize>)>,
}

impl Table {
    /// Writes a table with a header.
    fn new(
        rows: Vec<usize>,
        header: (&[String], Vec<usize>),
        body: impl Iterator<Item = (Vec<String>, Vec<usize>)>,
    ) -> Self {
        let (cells, from) = header;
        let delimiter = table::delimiter(cells.len());
        let mut lines = vec![(markdown(cells), from), (delimiter, Vec::new())];
        lines.extend(body.map(|(cells, from)| (markdown(&cells), from)));
        Self { rows, is_ruled: false, lines }
    }

    /// Its lines, each with the rows of the page that it was made from.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.lines.iter().map(|(text, rows)| (text.as_str(), rows.as_slice()))
    }

    /// Its lines; `bounds` returns the boxes of a row of the page.
    pub(super) fn into_lines(self, bounds: impl Fn(usize) -> Vec<Rect>) -> impl Iterator<Item = Line> {
        self.lines.into_iter().enumerate().map(move |(index, (text, rows))| {
            let boxes = rows.into_iter().flat_map(&bounds).collect();
            Line { text, begins_paragraph: index == 0, boxes }
        })
    }
}

/// Finds the tables of a page, in order.
pub(crate) fn find(strips: &[Strip<'_>], rules: &[Rule]) -> Vec<Table> {
    let mut tables = grid::find(strips, rules);
    tables.iter_mut().for_each(|table| table.is_ruled = true);
    let mut is_taken = vec![false; strips.len()];
    for row in tables.iter().flat_map(|table| &table.rows) {
        is_taken[*row] = true;
    }
    let rows: Vec<Row> = strips.iter().map(Row::of).collect();
    let (mut first, mut free) = (0, 0);
    while first < rows.len() {
        if is_taken[first] {
            free = first + 1;
        }
        if is_taken[first] || !rows[first].has_entries() {
            first += 1;
            continue;
        }
        let end = block_end(strips, &rows, &is_taken, first);
        if let Some(table) = read(strips, &rows, rules, free, first..end) {
            free = end;
            tables.push(table);
        }
        first = end;
    }
    tables.sort_by_key(|table| table.rows.first().copied());
    tables
}

/// Whether a row follows another one closely enough to be in the same table.
fn follows(strips: &[Strip<'_>], next: usize) -> bool {
    let (above, below) = (&strips[next - 1], &strips[next]);
    let gap = (below.baseline - above.baseline) / above.size.max(below.size);
    above.direction == below.direction && (0.3..ROW_GAP).contains(&gap)
}

/// Returns the end of the block of rows that begins with a row with figures: rows with figures, and rows without that
/// can be labels.
fn block_end(strips: &[Strip<'_>], rows: &[Row], is_taken: &[bool], first: usize) -> usize {
    let mut end = first + 1;
    // The first figure after a label; a row without figures that reaches beyond it is running text.
    let mut values_start = first_value(&rows[first]);
    let mut value_rows = usize::from(!header::is_periods(&rows[first]));
    let mut follows_label = false;
    for next in first + 1..rows.len() {
        let row = &rows[next];
        if is_taken[next] || !follows(strips, next) || next - end >= ROWS_WITHOUT_VALUES {
            break;
        }
        if row.has_entries() || is_lone_value(row, values_start) {
            // Periods below figures are the header of the next table.
            if value_rows >= MIN_VALUE_ROWS && row.cells.len() > 1 && header::is_periods(row) {
                break;
            }
            values_start = values_start.min(first_value(row));
            value_rows += usize::from(!header::is_periods(row));
            end = next + 1;
            follows_label = false;
        } else if is_running_text(row, values_start) || (follows_label && is_header(row, values_start)) {
            break;
        } else {
            follows_label |= !is_header(row, values_start);
        }
    }
    end
}

/// Whether a row without figures stands over figures.
fn is_header(row: &Row, values_start: f64) -> bool {
    row.cells.iter().all(|cell| cell.start > values_start - 4.0 * row.size)
}

/// Where the first figure of a row begins that is not its first cell; the row's own start if it has only figures.
fn first_value(row: &Row) -> f64 {
    let is_labelled = row.cells.first().is_some_and(|cell| !is_value(&cell.text));
    let value = row.cells.iter().skip(usize::from(is_labelled)).find(|cell| is_value(&cell.text));
    value.map_or(f64::INFINITY, |cell| cell.start)
}

/// Whether a row consists of one figure in a column of figures, such as a total without a label.
fn is_lone_value(row: &Row, values_start: f64) -> bool {
    matches!(row.cells.as_slice(), [cell] if is_value(&cell.text) && cell.end > values_start)
}

/// Whether a row without figures begins at the labels and reaches into the figures.
fn is_running_text(row: &Row, values_start: f64) -> bool {
    let Some(first) = row.cells.first() else { return false };
    first.start < values_start - 2.0 * row.size && first.end > values_start + 2.0 * row.size
}

/// Makes a table of the rows of a block and the header above it, whose rows are not before `free`.
fn read(
    strips: &[Strip<'_>],
    rows: &[Row],
    rules: &[Rule],
    free: usize,
    block: Range<usize>,
) -> Option<Table> {
    let header_end = header::end(rows, &block);
    let body = header_end..block.end;
    let value_rows = rows[body.clone()].iter().filter(|row| row.has_entries()).count();
    let columns = columns::Columns::of(&rows[body.clone()])?;
    let minimum = if columns.values() == 1 { MIN_VALUE_ROWS_OF_ONE_COLUMN } else { MIN_VALUE_ROWS };
    if value_rows < minimum || columns.count() > MAX_COLUMNS || 3 * value_rows < body.len() {
        return None;
    }
    let start = header::start(strips, rows, &columns, free, block.start, &rows[header_end]);
    let rules =
        rules.iter().filter(|rule| !rule.is_vertical && rule.direction == strips[block.start].direction);
    let rules = grid::joined(rules.copied().collect(), RULE_GAP);
    let header = header::read(strips, start..header_end, &columns, &rules);
    let (labels, above): (Vec<usize>, Vec<usize>) =
        (start..header_end).partition(|row| header.labels.contains(row));
    let body: Vec<(usize, &Row)> = labels.into_iter().chain(body).map(|row| (row, &rows[row])).collect();
    let lines = body::rows(&body, &columns).into_iter();
    Some(Table::new((start..block.end).collect(), (&header.cells, above), lines))
}

/// Writes the cells of a row.
fn markdown(cells: &[String]) -> String {
    table::row(cells.iter().map(String::as_str))
}

#[cfg(test)]
mod tests;
