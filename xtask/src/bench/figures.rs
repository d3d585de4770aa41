//! Measured figures, printed as a Markdown table that compares builds.

use std::path::{Path, PathBuf};

/// A measured figure.
pub(crate) struct Figure {
    /// What was measured, with its unit.
    pub(crate) what: String,
    pub(crate) value: f64,
}

impl Figure {
    pub(crate) fn new(what: impl Into<String>, value: f64) -> Self {
        Self { what: what.into(), value }
    }
}

/// Prints a table with a column for each program, and with the ratio of each further one to the first. Prints nothing without
/// figures.
#[cfg(feature = "load")]
pub(crate) fn print(programs: &[PathBuf], measured: &[Vec<Figure>]) {
    for line in table(programs, measured) {
        println!("{line}");
    }
}

fn table(programs: &[PathBuf], measured: &[Vec<Figure>]) -> Vec<String> {
    let Some((first, others)) = measured.split_first().filter(|(first, _)| !first.is_empty()) else {
        return Vec::new();
    };
    let name = |program: &Path| program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = programs.iter().map(|program| name(program)).collect();
    let ratios = names.iter().skip(1).map(|other| format!("{other} / {}", names[0]));
    let columns: Vec<String> = names.iter().cloned().chain(ratios).collect();
    let mut lines = vec![String::new(), format!("| | {} |", columns.join(" | "))];
    lines.push(format!("|---|{}", "---:|".repeat(columns.len())));
    for (row, figure) in first.iter().enumerate() {
        // A program that failed in between has fewer figures.
        let others: Vec<Option<f64>> =
            others.iter().map(|figures| figures.get(row).map(|figure| figure.value)).collect();
        let value = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), rounded);
        let ratio = |other: &Option<f64>| {
            other.map_or_else(|| "–".to_owned(), |other| format!("{:.2}", other / figure.value))
        };
        let values = std::iter::once(Some(figure.value)).chain(others.iter().copied()).map(value);
        let cells: Vec<String> = values.chain(others.iter().map(ratio)).collect();
        lines.push(format!("| {} | {} |", figure.what, cells.join(" | ")));
    }
    lines
}

/// A number with three digits or more.
fn rounded(value: f64) -> String {
    match value.abs() {
        100.0.. => format!("{value:.0}"),
        10.0..100.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_are_compared_row_by_row() {
        let programs = [PathBuf::from("a/before"), PathBuf::from("b/after")];
        let measured = [
            vec![Figure::new("tokens per CPU second", 20_000.4), Figure::new("start, ms", 8.0)],
            vec![Figure::new("tokens per CPU second", 30_000.0)],
        ];
        assert_eq!(
            table(&programs, &measured),
            [
                "",
                "| | before | after | after / before |",
                "|---|---:|---:|---:|",
                "| tokens per CPU second | 20000 | 30000 | 1.50 |",
                "| start, ms | 8.00 | – | – |",
            ]
        );
        assert!(table(&programs[..1], &[Vec::new()]).is_empty());
    }
}
