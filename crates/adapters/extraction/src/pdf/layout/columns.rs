//! Columns of running text that a file writes row by row across the gap between them.

use super::Row;

/// Minimum number of rows with text in both columns.
const MIN_ROWS: usize = 4;
/// Minimum width of the gap as a multiple of the font size.
const MIN_GAP: f64 = 0.8;
/// Maximum distance between rows of a block as a multiple of the font size.
const MAX_DISTANCE: f64 = 3.0;
/// Minimum mean number of characters of the lines of a column; cells of tables are shorter.
const MIN_CHARACTERS: usize = 20;
/// Minimum mean number of words of the lines of a column.
const MIN_WORDS: usize = 3;
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

/// Whether both columns of a block are running text: long lines, most of which fill the column.
fn is_running_text(rows: &[Row], gap: (f64, f64)) -> bool {
    let middle = f64::midpoint(gap.0, gap.1);
    let mut both = 0;
    // Text and edges of each line of each column.
    let mut columns: [Vec<(String, f64, f64)>; 2] = [Vec::new(), Vec::new()];
    for row in rows {
        let mut sides = [false; 2];
        for (side, column) in columns.iter_mut().enumerate() {
            let runs: Vec<_> = row.runs.iter().filter(|run| (run.start.x >= middle) == (side == 1)).collect();
            let (Some(first), Some(last)) = (runs.first(), runs.last()) else { continue };
            let text = runs.iter().map(|run| run.text.trim()).collect::<Vec<_>>().join(" ");
            column.push((text, first.start.x, last.end.x));
            sides[side] = true;
        }
        both += usize::from(sides == [true, true]);
    }
    both >= MIN_ROWS
        && columns.iter().all(|lines| {
            let characters: usize = lines.iter().map(|line| line.0.chars().count()).sum();
            let words: usize = lines.iter().map(|line| line.0.split_whitespace().count()).sum();
            let left = lines.iter().map(|line| line.1).fold(f64::INFINITY, f64::min);
            let right = lines.iter().map(|line| line.2).fold(f64::NEG_INFINITY, f64::max);
            let full = lines.iter().filter(|line| line.2 - left >= FULL_WIDTH * (right - left)).count();
            characters >= MIN_CHARACTERS * lines.len()
                && words >= MIN_WORDS * lines.len()
                && 3 * full >= 2 * lines.len()
        })
}
