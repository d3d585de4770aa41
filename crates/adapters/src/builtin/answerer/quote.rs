//! Writes quotes.

use super::passage::{Passage, years};
use docent_domain::chunk::page_at;
use docent_domain::sentences::{self, Row};
use docent_domain::table;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// A quoted sentence or table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    /// The document's title.
    pub(super) title: String,
    /// The page, counted from 1.
    pub(super) page: u32,
    /// The text, possibly shortened; Markdown for a list or a table.
    pub(super) text: String,
    /// Whether the text is more than one sentence: a list or a table.
    pub(super) is_block: bool,
}

/// Longer quotes are cut.
const QUOTE_CHARS: usize = 350;
/// The same for brief quotes.
const BRIEF_CHARS: usize = 140;
/// Maximum number of columns of a quoted table, and of characters of its cells.
const TABLE_COLUMNS: usize = 7;
const CELL_CHARS: usize = 160;

/// Quotes a sentence or row with what belongs to it.
pub(super) fn quote_block(
    passage: &Passage<'_>,
    index: usize,
    block: Range<usize>,
    asked: &HashSet<String>,
    weight: &dyn Fn(&str) -> f32,
) -> Quote {
    let unit = &passage.units[index].sentence;
    let (text, is_block) = match &unit.row {
        Some(_) => (tables(passage, block, asked), true),
        None if block.len() == 1 => (marked(&sentences::excerpt(&unit.text, QUOTE_CHARS, weight)), false),
        None => announced(passage, index, block, asked),
    };
    Quote { title: passage.chunk.title.clone(), page: page_at(&passage.chunk.pages, unit.at), text, is_block }
}

/// Quotes a sentence or row in few words.
pub(super) fn quote_briefly(passage: &Passage<'_>, index: usize, weight: &dyn Fn(&str) -> f32) -> Quote {
    let unit = &passage.units[index].sentence;
    Quote {
        title: passage.chunk.title.clone(),
        page: page_at(&passage.chunk.pages, unit.at),
        text: marked(&sentences::excerpt(&unit.text, BRIEF_CHARS, weight)),
        is_block: false,
    }
}

/// Quotes rows, those of one table together.
pub(super) fn quote_rows(rows: &[(&Passage<'_>, usize)], asked: &HashSet<String>) -> Vec<Quote> {
    let mut tables: Vec<(&Passage<'_>, Vec<usize>)> = Vec::new();
    for (passage, index) in rows {
        let header = |passage: &Passage<'_>, index: usize| {
            passage.units[index].sentence.row.as_ref().map(|row| Arc::clone(&row.header))
        };
        let wanted = header(passage, *index);
        let is_same = |(other, indexes): &&mut (&Passage<'_>, Vec<usize>)| {
            let found = header(other, indexes[0]);
            found.zip(wanted.clone()).is_some_and(|(a, b)| Arc::ptr_eq(&a, &b))
        };
        match tables.iter_mut().find(is_same) {
            Some((_, indexes)) if !indexes.contains(index) => indexes.push(*index),
            Some(_) => {}
            None => tables.push((passage, vec![*index])),
        }
    }
    let quote = |(passage, mut indexes): (&Passage<'_>, Vec<usize>)| {
        indexes.sort_unstable();
        let rows: Vec<&Row> =
            indexes.iter().filter_map(|index| passage.units[*index].sentence.row.as_ref()).collect();
        let at = passage.units[indexes[0]].sentence.at;
        Quote {
            title: passage.chunk.title.clone(),
            page: page_at(&passage.chunk.pages, at),
            text: table_of(&rows, asked),
            is_block: true,
        }
    };
    tables.into_iter().map(quote).collect()
}

/// Writes a sentence with the list, table or text that it announces.
fn announced(
    passage: &Passage<'_>,
    index: usize,
    block: Range<usize>,
    asked: &HashSet<String>,
) -> (String, bool) {
    let first = &passage.units[index].sentence;
    let rest = block.start + 1..block.end;
    let units = &passage.units[rest.clone()];
    if units.iter().any(|unit| unit.sentence.row.is_some()) {
        return (format!("“{}”\n\n{}", marked(&first.text), tables(passage, rest, asked)), true);
    }
    if units.iter().all(|unit| unit.sentence.is_item) {
        let items: Vec<String> = units
            .iter()
            .map(|unit| format!("- {}", marked(sentences::without_bullet(&unit.sentence.text))))
            .collect();
        return (format!("“{}”\n\n{}", marked(&first.text), items.join("\n")), true);
    }
    let texts: Vec<String> =
        std::iter::once(&passage.units[index]).chain(units).map(|unit| marked(&unit.sentence.text)).collect();
    (texts.join(" "), false)
}

/// A text without the marks that surround quotes.
fn marked(text: &str) -> String {
    text.replace(['“', '”', '"'], "'")
}

/// Writes the rows of a range, one table for each header.
fn tables(passage: &Passage<'_>, range: Range<usize>, asked: &HashSet<String>) -> String {
    let rows: Vec<&Row> = passage.units[range].iter().filter_map(|unit| unit.sentence.row.as_ref()).collect();
    let tables: Vec<String> =
        rows.chunk_by(|a, b| Arc::ptr_eq(&a.header, &b.header)).map(|rows| table_of(rows, asked)).collect();
    tables.join("\n\n")
}

/// Writes rows of a table with its caption and header. If one column alone is of a year of the question, its entries are marked, and
/// of a wide table only that column and its neighbours are shown.
fn table_of(rows: &[&Row], asked: &HashSet<String>) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let header = &first.header;
    let has_entries = |column: &usize| rows.iter().any(|row| !row.cells[*column].is_empty());
    let columns: Vec<usize> = (1..header.len()).filter(has_entries).collect();
    let is_asked = |column: &&usize| !years(&header[**column]).is_disjoint(asked);
    let of_year: Vec<usize> = columns.iter().filter(is_asked).copied().collect();
    let marked = match of_year.as_slice() {
        [one] if asked.len() == 1 => Some(*one),
        _ => None,
    };
    let near = of_year.first().copied();
    let from = match near {
        Some(near) if columns.len() >= TABLE_COLUMNS => {
            let at = columns.iter().position(|column| *column == near).unwrap_or(0);
            at.saturating_sub(TABLE_COLUMNS / 2).min(columns.len() + 1 - TABLE_COLUMNS)
        }
        _ => 0,
    };
    let shown: Vec<usize> =
        std::iter::once(0).chain(columns.into_iter().skip(from).take(TABLE_COLUMNS - 1)).collect();
    let line = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = shown.iter().map(|column| cell(*column)).collect();
        table::row(cells.iter().map(String::as_str))
    };
    let shortened = |cell: &str| sentences::excerpt(cell, CELL_CHARS, |_| 0.0);
    let mut lines = vec![line(&|column| shortened(&header[column])), table::delimiter(shown.len())];
    lines.extend(rows.iter().map(|row| {
        line(&|column| {
            let cell = shortened(&row.cells[column]);
            if marked == Some(column) && !cell.is_empty() { format!("**{cell}**") } else { cell }
        })
    }));
    // A page number, or the name of a page's header.
    let caption = first.caption.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
    let caption = caption.trim_start_matches("Table of Contents ").trim();
    if caption.is_empty() { lines.join("\n") } else { format!("{caption}\n\n{}", lines.join("\n")) }
}
