//! The columns of a table.

use super::value::is_value;
use super::{Cell, Row};

/// Columns as bands in the direction of the text, from left to right.
#[derive(Debug)]
pub(super) struct Columns {
    bands: Vec<Band>,
    /// Whether the first column holds the labels of the rows.
    has_labels: bool,
}

/// A column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub(super) start: f64,
    pub(super) end: f64,
    /// Whether figures are in it.
    pub(super) has_values: bool,
}

impl Columns {
    /// Finds the columns of rows; `None` if they have only labels.
    pub(super) fn of(rows: &[Row]) -> Option<Self> {
        let first_value =
            rows.iter().filter(|row| row.values > 0).filter_map(value_start).fold(f64::INFINITY, f64::min);
        let is_label =
            |index: usize, cell: &Cell| index == 0 && !is_value(&cell.text) && cell.start < first_value;
        let cells = || {
            let of_row = |row: &'_ Row| {
                row.cells
                    .iter()
                    .enumerate()
                    .filter(|(index, cell)| !is_label(*index, cell))
                    .map(|(_, cell)| (cell.start, cell.end, is_value(&cell.text)))
                    .collect::<Vec<_>>()
            };
            rows.iter().filter(|row| row.cells.len() > 1 || row.values > 0).flat_map(of_row)
        };
        let mut bands = merged(cells().filter(|cell| cell.2), true);
        // Entries that are no figures: a column of their own only where they are in no column of figures.
        let free = cells()
            .filter(|cell| !cell.2)
            .filter(|(start, end, _)| bands.iter().all(|band| end.min(band.end) <= start.max(band.start)));
        let others = merged(free.collect::<Vec<_>>().into_iter(), false);
        bands.extend(others);
        bands.sort_by(|a, b| a.start.total_cmp(&b.start));
        if bands.is_empty() {
            return None;
        }
        let labels = rows.iter().filter_map(|row| row.cells.first().filter(|cell| is_label(0, cell)));
        let label_start = labels.clone().map(|cell| cell.start).fold(f64::INFINITY, f64::min);
        let has_labels = label_start < bands[0].start;
        if has_labels {
            let end =
                labels.map(|cell| cell.end).filter(|end| *end < bands[0].start).fold(label_start, f64::max);
            bands.insert(0, Band { start: label_start, end, has_values: false });
        }
        Some(Self { bands, has_labels })
    }

    pub(super) fn count(&self) -> usize {
        self.bands.len()
    }

    /// Number of columns with figures.
    pub(super) fn values(&self) -> usize {
        self.bands.iter().filter(|band| band.has_values).count()
    }

    pub(super) fn bands(&self) -> &[Band] {
        &self.bands
    }

    pub(super) fn has_labels(&self) -> bool {
        self.has_labels
    }

    /// Where the first column after the labels begins.
    pub(super) fn entries_start(&self) -> f64 {
        self.bands[usize::from(self.has_labels)].start
    }

    /// Returns the column of a cell in the body: the one it shares most with, otherwise the nearest one.
    pub(super) fn of_cell(&self, cell: &Cell, is_first: bool) -> usize {
        if is_first && self.has_labels && !is_value(&cell.text) && cell.start < self.entries_start() {
            return 0;
        }
        let skipped = usize::from(self.has_labels && is_value(&cell.text) && cell.end > self.entries_start());
        let overlap = |band: &Band| cell.overlap(band.start, band.end);
        let best = self
            .bands
            .iter()
            .enumerate()
            .skip(skipped)
            .max_by(|(_, a), (_, b)| overlap(a).total_cmp(&overlap(b)));
        best.map_or(0, |(index, _)| index)
    }
}

/// Where the first figure after the first cell of a row begins.
fn value_start(row: &Row) -> Option<f64> {
    row.cells.iter().skip(1).find(|cell| is_value(&cell.text)).map(|cell| cell.start)
}

/// Merges ranges that overlap.
fn merged(ranges: impl Iterator<Item = (f64, f64, bool)>, has_values: bool) -> Vec<Band> {
    let mut ranges: Vec<_> = ranges.collect();
    ranges.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut bands: Vec<Band> = Vec::new();
    for (start, end, _) in ranges {
        match bands.last_mut() {
            Some(band) if start < band.end => band.end = band.end.max(end),
            _ => bands.push(Band { start, end, has_values }),
        }
    }
    bands
}
