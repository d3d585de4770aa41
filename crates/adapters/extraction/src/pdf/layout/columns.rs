//! Columns of running text that a file writes row by row across the gap between them.

use super::Row;
use std::collections::HashSet;

/// Minimum number of rows with text in both columns, and of rows of short lines.
const MIN_ROWS: usize = 4;
const MIN_SHORT_ROWS: usize = 3;
/// Minimum width of the gap as a multiple of the font size.
const MIN_GAP: f64 = 0.8;
/// Maximum distance between rows of a block as a multiple of the font size.
const MAX_DISTANCE: f64 = 3.0;
/// Minimum mean number of characters of the lines of a column; cells of tables are shorter.
const MIN_CHARACTERS: usize = 20;
/// Minimum mean number of words of the lines of a column, and of short lines.
const MIN_WORDS: usize = 3;
const MIN_SHORT_WORDS: usize = 2;
/// A line is full if it has this fraction of the width of its column, and most lines of running text are.
const FULL_WIDTH: f64 = 0.7;
/// Maximum number of times that columns are split again.
const DEPTH_MAX: usize = 3;

/// Rows whose columns are side by side, from the first one to the one after the last.
struct Block {
    start: usize,
    end: usize,
    /// Where the gap between the columns is.
    gap: (f64, f64),
}

/// Puts the rows of columns in reading order: the left column before the right one. Rows that are not free are in tables.
/// Returns the unchanged rows as an error if there are no such columns.
pub(super) fn reordered(rows: Vec<Row>, is_free: &[bool]) -> Result<Vec<Row>, Vec<Row>> {
    let blocks = blocks(&rows, is_free);
    if blocks.is_empty() {
        return Err(rows);
    }
    Ok(split(rows, blocks, 1))
}

fn split(rows: Vec<Row>, blocks: Vec<Block>, depth: usize) -> Vec<Row> {
    let mut ordered = Vec::with_capacity(2 * rows.len());
    let mut rows = rows.into_iter();
    let mut next = 0;
    for block in blocks {
        ordered.extend(rows.by_ref().take(block.start - next));
        next = block.end;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        for row in rows.by_ref().take(block.end - block.start) {
            let (before, after): (Vec<_>, Vec<_>) = row
                .runs
                .into_iter()
                .partition(|run| run.position() < f64::midpoint(block.gap.0, block.gap.1));
            for (column, runs) in [(&mut left, before), (&mut right, after)] {
                if !runs.is_empty() {
                    column.push(Row { runs, rtl: false });
                }
            }
        }
        for column in [left, right] {
            let inner = if depth < DEPTH_MAX { self::blocks(&column, &[]) } else { Vec::new() };
            ordered.extend(split(column, inner, depth + 1));
        }
    }
    ordered.extend(rows);
    ordered
}

/// Finds the blocks of rows with two columns.
fn blocks(rows: &[Row], is_free: &[bool]) -> Vec<Block> {
    let is_text =
        |at: usize| is_free.get(at).copied().unwrap_or(true) && !rows[at].rtl && is_upright(&rows[at]);
    let mut blocks = Vec::new();
    let mut start = 0;
    while start < rows.len() {
        let widest = is_text(start).then(|| widest_gap(&rows[start])).flatten();
        let Some(mut gap) = widest else {
            start += 1;
            continue;
        };
        let mut end = start + 1;
        while end < rows.len() && is_text(end) && follows(&rows[end - 1], &rows[end]) {
            let Some(common) = common_gap(&rows[end], gap) else { break };
            (gap, end) = (common, end + 1);
        }
        let block = Block { start, end, gap };
        if is_running_text(&rows[start..end], gap) {
            blocks.push(block);
            start = end;
        } else {
            start += 1;
        }
    }
    blocks
}

fn is_upright(row: &Row) -> bool {
    row.runs.iter().all(|run| run.direction.x > 0.98)
}

fn follows(above: &Row, below: &Row) -> bool {
    above.gap_to(below).is_some_and(|gap| gap < MAX_DISTANCE)
}

/// The edges of the runs of a row.
fn edges(row: &Row) -> Vec<(f64, f64)> {
    let mut edges: Vec<(f64, f64)> = row.runs.iter().map(|run| (run.start.x, run.end.x)).collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0));
    edges
}

fn widest_gap(row: &Row) -> Option<(f64, f64)> {
    let edges = edges(row);
    let gaps = edges.windows(2).map(|pair| (pair[0].1, pair[1].0));
    let widest = gaps.max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    widest.filter(|gap| gap.1 - gap.0 >= MIN_GAP * row.size())
}

/// The part of a gap that a row leaves free too.
fn common_gap(row: &Row, gap: (f64, f64)) -> Option<(f64, f64)> {
    let (mut start, mut end) = gap;
    let middle = f64::midpoint(start, end);
    for (left, right) in edges(row) {
        if f64::midpoint(left, right) < middle {
            start = start.max(right);
        } else {
            end = end.min(left);
        }
    }
    (end - start >= MIN_GAP * row.size()).then_some((start, end))
}

/// A line of a column: its row, its text and its edges.
struct ColumnLine {
    row: usize,
    text: String,
    left: f64,
    right: f64,
}

/// The lines of the columns on both sides of a gap.
fn columns(rows: &[Row], gap: (f64, f64)) -> [Vec<ColumnLine>; 2] {
    let middle = f64::midpoint(gap.0, gap.1);
    [false, true].map(|is_right| {
        let line = |(row, of): (usize, &Row)| {
            let runs: Vec<_> = of.runs.iter().filter(|run| (run.start.x >= middle) == is_right).collect();
            let text = runs.iter().map(|run| run.text.trim()).collect::<Vec<_>>().join(" ");
            Some(ColumnLine { row, text, left: runs.first()?.start.x, right: runs.last()?.end.x })
        };
        rows.iter().enumerate().filter_map(line).collect()
    })
}

/// Whether both columns of a block are running text: lines fill the column, and are long or continue the
/// line above.
fn is_running_text(rows: &[Row], gap: (f64, f64)) -> bool {
    let columns = columns(rows, gap);
    let [left, right] = &columns;
    let rows_of_right: HashSet<usize> = right.iter().map(|line| line.row).collect();
    let both = left.iter().filter(|line| rows_of_right.contains(&line.row)).count();
    let are_long = both >= MIN_ROWS && columns.iter().all(|lines| has_mean(lines, MIN_CHARACTERS, MIN_WORDS));
    columns.iter().all(|lines| is_filled(lines))
        && (are_long
            || both >= MIN_SHORT_ROWS
                && columns.iter().all(|lines| has_mean(lines, 0, MIN_SHORT_WORDS) && continues(lines))
                && !begin_together(&columns))
}

/// Whether rows are columns of sentences that continue on the next line, below a heading at most.
pub(super) fn are_sentences(rows: &[Row]) -> bool {
    let is_whole = |block: &&Block| block.start <= 1 && block.end == rows.len();
    blocks(rows, &[]).first().filter(is_whole).is_some_and(|block| {
        let columns = columns(&rows[block.start..], block.gap);
        columns.iter().all(|lines| continues(lines)) && !begin_together(&columns)
    })
}

fn has_mean(lines: &[ColumnLine], characters: usize, words: usize) -> bool {
    lines.iter().map(|line| line.text.chars().count()).sum::<usize>() >= characters * lines.len()
        && lines.iter().map(|line| line.text.split_whitespace().count()).sum::<usize>() >= words * lines.len()
}

/// Whether most lines fill the column.
fn is_filled(lines: &[ColumnLine]) -> bool {
    let left = lines.iter().map(|line| line.left).fold(f64::INFINITY, f64::min);
    let right = lines.iter().map(|line| line.right).fold(f64::NEG_INFINITY, f64::max);
    let full = lines.iter().filter(|line| line.right - left >= FULL_WIDTH * (right - left)).count();
    3 * full >= 2 * lines.len()
}

/// The rows of the lines that begin with a small letter, and of those that do not, without the first line.
fn beginnings(lines: &[ColumnLine]) -> (Vec<usize>, Vec<usize>) {
    let is_small = |line: &&ColumnLine| line.text.starts_with(char::is_lowercase);
    let (small, others): (Vec<_>, Vec<_>) = lines.iter().skip(1).partition(is_small);
    let rows = |lines: Vec<&ColumnLine>| lines.into_iter().map(|line| line.row).collect();
    (rows(small), rows(others))
}

/// Whether at least half of the lines continue a sentence.
fn continues(lines: &[ColumnLine]) -> bool {
    let (small, others) = beginnings(lines);
    small.len() >= others.len()
}

/// Whether the texts of both columns begin in the same rows, as cells do. The first row can be a heading.
fn begin_together(columns: &[Vec<ColumnLine>; 2]) -> bool {
    let [left, right] = columns.each_ref().map(|lines| beginnings(lines).1);
    let is_below_heading = |row: &&usize| **row > 1;
    let together = left.iter().filter(is_below_heading).filter(|row| right.contains(row)).count();
    2 * together > left.iter().filter(is_below_heading).count()
}
