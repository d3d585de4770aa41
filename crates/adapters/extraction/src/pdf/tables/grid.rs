//! Tables whose cells are surrounded by lines.

use super::value::is_value;
use super::{MAX_COLUMNS, Rule, Strip, Table};
use std::ops::Range;

/// Distance in points within which two lines meet or are the same.
const TOLERANCE: f64 = 3.0;
/// Maximum number of lines; drawings have more.
const MAX_LINES: usize = 1000;
/// Maximum number of rows of a table.
const MAX_ROWS: usize = 200;
/// Number of lines of figures in a row from which the row is several rows without lines between them.
const LINES_WITH_VALUES: usize = 3;

/// Finds the tables drawn with horizontal and vertical lines. Only upright text is searched.
pub(super) fn find(strips: &[Strip<'_>], rules: &[Rule]) -> Vec<Table> {
    let upright = rules.iter().filter(|rule| rule.direction == 0);
    let (vertical, horizontal): (Vec<Rule>, Vec<Rule>) = upright.partition(|rule| rule.is_vertical);
    let (vertical, horizontal) = (joined(vertical, TOLERANCE), joined(horizontal, TOLERANCE));
    if vertical.is_empty() || horizontal.len() < 2 || vertical.len() + horizontal.len() > MAX_LINES {
        return Vec::new();
    }
    let mut tables: Vec<Table> = Vec::new();
    for grid in grids(&horizontal, &vertical) {
        let is_free = |row: &usize| tables.iter().all(|table| !table.rows.contains(row));
        let rows: Vec<usize> = grid.rows_inside(strips).filter(is_free).collect();
        tables.extend(grid.table(strips, rows));
    }
    tables
}

/// Joins lines of one orientation that overlap or are at most this far apart.
pub(super) fn joined(mut rules: Vec<Rule>, gap: f64) -> Vec<Rule> {
    rules.sort_by(|a, b| a.across.total_cmp(&b.across).then(a.start.total_cmp(&b.start)));
    let mut joined: Vec<Rule> = Vec::new();
    for rule in rules {
        let near = joined.iter_mut().rev().take_while(|other| rule.across - other.across < 0.5 * TOLERANCE);
        let same =
            near.into_iter().find(|other| rule.start < other.end + gap && other.start < rule.end + gap);
        match same {
            Some(other) => {
                other.start = other.start.min(rule.start);
                other.end = other.end.max(rule.end);
            }
            None => joined.push(rule),
        }
    }
    joined
}

/// Whether two lines of different orientation meet.
fn meet(horizontal: &Rule, vertical: &Rule) -> bool {
    let is_within = |rule: &Rule, at: f64| rule.start - TOLERANCE < at && at < rule.end + TOLERANCE;
    is_within(horizontal, vertical.across) && is_within(vertical, horizontal.across)
}

/// Lines that are connected with each other.
struct Grid {
    horizontal: Vec<Rule>,
    vertical: Vec<Rule>,
    /// Positions of the lines between columns and between rows, including the outer ones.
    xs: Vec<f64>,
    ys: Vec<f64>,
}

/// Groups connected lines. Groups without two columns and two rows are left out.
fn grids(horizontal: &[Rule], vertical: &[Rule]) -> Vec<Grid> {
    let mut is_grouped = (vec![false; horizontal.len()], vec![false; vertical.len()]);
    let mut grids = Vec::new();
    for first in 0..vertical.len() {
        if is_grouped.1[first] {
            continue;
        }
        is_grouped.1[first] = true;
        let (mut rows, mut columns) = (Vec::new(), vec![vertical[first]]);
        let (mut seen_rows, mut seen_columns) = (0, 0);
        while seen_columns < columns.len() || seen_rows < rows.len() {
            for column in &columns[std::mem::replace(&mut seen_columns, columns.len())..] {
                for (index, rule) in horizontal.iter().enumerate() {
                    if !is_grouped.0[index] && meet(rule, column) {
                        is_grouped.0[index] = true;
                        rows.push(*rule);
                    }
                }
            }
            for row in &rows[std::mem::replace(&mut seen_rows, rows.len())..] {
                for (index, rule) in vertical.iter().enumerate() {
                    if !is_grouped.1[index] && meet(row, rule) {
                        is_grouped.1[index] = true;
                        columns.push(*rule);
                    }
                }
            }
        }
        grids.extend(Grid::new(rows, columns));
    }
    grids
}

/// Returns distinct positions, and the ends of the lines of the other orientation if they reach farther.
fn positions(rules: &[Rule], others: &[Rule]) -> Vec<f64> {
    let mut positions: Vec<f64> = rules.iter().map(|rule| rule.across).collect();
    positions.push(others.iter().map(|rule| rule.start).fold(f64::INFINITY, f64::min));
    positions.push(others.iter().map(|rule| rule.end).fold(f64::NEG_INFINITY, f64::max));
    positions.sort_by(f64::total_cmp);
    positions.dedup_by(|a, b| *a - *b < TOLERANCE);
    positions
}

impl Grid {
    fn new(horizontal: Vec<Rule>, vertical: Vec<Rule>) -> Option<Self> {
        let (xs, ys) = (positions(&vertical, &horizontal), positions(&horizontal, &vertical));
        let is_table = (3..=MAX_COLUMNS + 1).contains(&xs.len()) && (3..=MAX_ROWS + 1).contains(&ys.len());
        is_table.then_some(Self { horizontal, vertical, xs, ys })
    }

    /// The rows of text that are inside.
    fn rows_inside(&self, strips: &[Strip<'_>]) -> impl Iterator<Item = usize> {
        let (left, right) = (self.xs[0] - TOLERANCE, self.xs[self.xs.len() - 1] + TOLERANCE);
        let (top, bottom) = (self.ys[0] - TOLERANCE, self.ys[self.ys.len() - 1] + TOLERANCE);
        strips.iter().enumerate().filter_map(move |(index, strip)| {
            let (first, last) = (strip.words.first()?, strip.words.last()?);
            let is_inside =
                first.start > left && last.end < right && strip.baseline > top && strip.baseline < bottom;
            (is_inside && strip.direction == 0).then_some(index)
        })
    }

    /// Whether a line separates the cell from the one to its left.
    fn has_left_edge(&self, row: usize, column: usize) -> bool {
        let middle = f64::midpoint(self.ys[row], self.ys[row + 1]);
        column == 0 || is_drawn(&self.vertical, self.xs[column], middle)
    }

    /// Whether a line separates the cell from the one above.
    fn has_upper_edge(&self, row: usize, column: usize) -> bool {
        let middle = f64::midpoint(self.xs[column], self.xs[column + 1]);
        row == 0 || is_drawn(&self.horizontal, self.ys[row], middle)
    }

    /// The cell that a place belongs to: the first one of cells without lines between them.
    fn cell_at(&self, x: f64, y: f64) -> (usize, usize) {
        let mut column = index_of(&self.xs, x);
        let mut row = index_of(&self.ys, y);
        while !self.has_upper_edge(row, column) {
            row -= 1;
        }
        while !self.has_left_edge(row, column) {
            column -= 1;
        }
        (row, column)
    }

    /// The columns that a cell spans.
    fn span(&self, row: usize, column: usize) -> Range<usize> {
        let columns = self.xs.len() - 1;
        let end = (column + 1..columns).find(|next| self.has_left_edge(row, *next)).unwrap_or(columns);
        column..end
    }

    /// Writes the table; `None` if the lines do not separate its rows.
    fn table(&self, strips: &[Strip<'_>], inside: Vec<usize>) -> Option<Table> {
        let (rows, columns) = (self.ys.len() - 1, self.xs.len() - 1);
        let mut cells = vec![vec![String::new(); columns]; rows];
        let mut from = vec![Vec::new(); rows];
        let mut lines_with_values = vec![0; rows];
        for index in &inside {
            let strip = &strips[*index];
            let y = strip.baseline - 0.3 * strip.size;
            let (mut columns_with_values, mut row_of_values) = (Vec::new(), 0);
            for word in &strip.words {
                let (row, column) = self.cell_at(f64::midpoint(word.start, word.end), y);
                let text = &mut cells[row][column];
                if !text.is_empty() {
                    text.push(' ');
                }
                text.push_str(word.text);
                if from[row].last() != Some(index) {
                    from[row].push(*index);
                }
                if is_value(word.text) && !columns_with_values.contains(&column) {
                    columns_with_values.push(column);
                    row_of_values = row;
                }
            }
            lines_with_values[row_of_values] += usize::from(columns_with_values.len() > 1);
        }
        let filled = cells.iter().filter(|row| row.iter().any(|cell| !cell.is_empty())).count();
        let has_two_columns = cells.iter().any(|row| row.iter().filter(|cell| !cell.is_empty()).count() > 1);
        let is_merged = lines_with_values.iter().any(|lines| *lines >= LINES_WITH_VALUES);
        if filled < 2 || !has_two_columns || is_merged {
            return None;
        }
        let first = cells.iter().position(|row| row.iter().any(|cell| !cell.is_empty()))?;
        // The header ends with the first row whose cells span no columns.
        let spans = |row: usize| (0..columns).any(|column| !self.has_left_edge(row, column));
        let last = (first..rows - 1).take(3).find(|row| !spans(*row)).unwrap_or(first);
        let mut header = vec![String::new(); columns];
        for (row, cells) in cells.iter().enumerate().take(last + 1).skip(first) {
            for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
                for spanned in self.span(row, column) {
                    let text = &mut header[spanned];
                    if !text.is_empty() {
                        text.push(' ');
                    }
                    text.push_str(cell);
                }
            }
        }
        let above = from[first..=last].concat();
        let body = cells.into_iter().zip(from).skip(last + 1);
        let body = body.filter(|(row, _)| row.iter().any(|cell| !cell.is_empty()));
        Some(Table::new(inside, (&header, above), body))
    }
}

fn is_drawn(rules: &[Rule], across: f64, at: f64) -> bool {
    rules.iter().any(|rule| (rule.across - across).abs() < TOLERANCE && (rule.start..=rule.end).contains(&at))
}

/// The interval between positions that contains a value; the first or last one outside.
fn index_of(positions: &[f64], value: f64) -> usize {
    positions.partition_point(|position| *position <= value).saturating_sub(1).min(positions.len() - 2)
}
