//! Tables of PDFs compared with tables written by hand.
//!
//! Each file of the gold directory names a PDF and a page, and holds a table in Markdown:
//!
//! ```text
//! file: reports/annual.pdf
//! page: 12
//!
//! | (in millions) | 2024 | 2023 |
//! |---|---|---|
//! | Revenue | 1,234 | 1,100 |
//! ```

use super::extract::extract_file;
use anyhow::{Context, Result, ensure};
use docent_extraction::WorkerExtractor;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// A table: its header, then its rows.
#[derive(Debug)]
struct Table(Vec<Vec<String>>);

/// A table written by hand.
#[derive(Debug)]
struct Gold {
    name: String,
    file: String,
    page: u32,
    table: Table,
}

/// Counts of a comparison, found and expected.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Rows whose label and entries are in one line, in order and without others.
    rows: (usize, usize),
    /// Entries in a line with their label.
    cells: (usize, usize),
    /// Entries in the row of their label, under their header.
    headed: (usize, usize),
}

impl Counts {
    fn add(&mut self, other: Self) {
        for (sum, more) in
            [(&mut self.rows, other.rows), (&mut self.cells, other.cells), (&mut self.headed, other.headed)]
        {
            *sum = (sum.0 + more.0, sum.1 + more.1);
        }
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let share = |(found, of): (usize, usize)| 100.0 * found as f64 / of.max(1) as f64;
        let Self { rows, cells, headed } = *self;
        write!(
            f,
            "rows {:5.1} % of {:4}, entries with label {:5.1} % of {:4}, and under their header {:5.1} %",
            share(rows),
            rows.1,
            share(cells),
            cells.1,
            share(headed)
        )
    }
}

/// Extracts the pages of the gold tables from the PDFs below `files`, and prints how much of each table is found.
pub(crate) fn run(gold: &Path, files: &Path, each: bool) -> Result<ExitCode> {
    let gold = read_all(gold)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let worker = std::env::current_exe().context("path of this program")?;
    let extractor = WorkerExtractor::new(worker, vec!["extract-worker".into()], Default::default());
    let mut extracted = HashMap::new();
    let mut sum = Counts::default();
    for Gold { name, file, page, table } in &gold {
        if !extracted.contains_key(file) {
            let extraction = runtime.block_on(extract_file(&extractor, &files.join(file)))??;
            extracted.insert(file, extraction);
        }
        let text = extracted[file].pages.iter().find(|found| found.number == *page);
        let text = &text.with_context(|| format!("{name}: {file} has no page {page}"))?.text;
        let counts = compare(table, text);
        if each {
            println!("{name} {counts}");
        }
        sum.add(counts);
    }
    println!("{} tables: {sum}", gold.len());
    Ok(ExitCode::SUCCESS)
}

fn read_all(folder: &Path) -> Result<Vec<Gold>> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    ensure!(!paths.is_empty(), "no tables in {}", folder.display());
    paths.iter().map(|path| read(path).with_context(|| path.display().to_string())).collect()
}

fn read(path: &Path) -> Result<Gold> {
    let text = fs::read_to_string(path)?;
    let field = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(|value| value.trim().to_owned()).with_context(|| format!("no line \"{name}:\""))
    };
    let table = tables(&text).into_iter().next().context("no table")?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Gold { name, file: field("file")?, page: field("page")?.parse()?, table })
}

/// Returns the Markdown tables of a text.
fn tables(text: &str) -> Vec<Table> {
    let mut tables = Vec::new();
    let mut rows = Vec::new();
    for line in text.lines().chain([""]) {
        match line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|')) {
            Some(inner)
                if inner.chars().all(|c| matches!(c, '-' | '|' | ':' | ' ')) && inner.contains("--") => {}
            Some(inner) => rows.push(cells(inner)),
            None if rows.is_empty() => {}
            None => tables.push(Table(std::mem::take(&mut rows))),
        }
    }
    tables
}

fn cells(inner: &str) -> Vec<String> {
    let hidden = inner.replace("\\|", "\u{1}");
    hidden.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
}

/// Letters, digits and the signs of figures.
fn plain(text: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '%' | '(' | '—');
    let dash = |c: char| if matches!(c, '–' | '-' | '−') { '—' } else { c };
    text.chars().map(dash).filter(kept).flat_map(char::to_lowercase).collect()
}

/// Compares a gold table with the text of its page.
fn compare(gold: &Table, text: &str) -> Counts {
    let found = tables(text);
    let lines: Vec<String> = text.lines().map(plain).collect();
    let header = &gold.0[0];
    let mut counts = Counts::default();
    for row in &gold.0[1..] {
        let whole = plain(&row.concat());
        let label = plain(&row[0]);
        if whole.is_empty() {
            continue;
        }
        counts.rows.1 += 1;
        counts.rows.0 += usize::from(lines.contains(&whole));
        for (column, cell) in row.iter().enumerate().skip(1).filter(|(_, cell)| !plain(cell).is_empty()) {
            let value = plain(cell);
            counts.cells.1 += 1;
            counts.headed.1 += 1;
            // The label may have been cut into lines; its end is beside the entries.
            let in_line = |line: &String| line.strip_prefix(&label).is_some_and(|rest| rest.contains(&value));
            counts.cells.0 += usize::from(lines.iter().any(in_line));
            let headed = found.iter().any(|table| has_cell(table, &label, &plain(&header[column]), &value));
            counts.headed.0 += usize::from(headed);
        }
    }
    counts
}

/// Whether a table has a value in the row with this label, in a column whose header contains this one.
fn has_cell(table: &Table, label: &str, header: &str, value: &str) -> bool {
    let Some((first, rows)) = table.0.split_first() else { return false };
    rows.iter().filter(|row| plain(&row[0]) == label || label.is_empty()).any(|row| {
        row.iter().zip(first).any(|(cell, above)| plain(cell) == value && plain(above).ends_with(header))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLD: &str = "| | 2024 | 2023 |\n|---|---|---|\n| Net sales | $1,234 | (5) |\n| Costs | — | 7 |\n";

    fn compared(text: &str) -> [usize; 3] {
        let counts = compare(&tables(GOLD)[0], text);
        assert_eq!((counts.rows.1, counts.cells.1), (2, 4));
        [counts.rows.0, counts.cells.0, counts.headed.0]
    }

    #[test]
    fn found_tables_are_counted() {
        assert_eq!(compared(GOLD), [2, 4, 4]);
        assert_eq!(compared("Net sales $ 1,234 (5)\nCosts - 7\n"), [2, 4, 0]);
        assert_eq!(compared("| | 2023 | 2024 |\n|---|---|---|\n| Net sales | 1,234 | (5) |\n"), [1, 2, 0]);
        assert_eq!(compared("Net sales\n1,234\n(5)\n"), [0, 0, 0]);
    }
}
