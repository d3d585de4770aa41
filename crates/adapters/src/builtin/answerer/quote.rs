//! Writes quotes.

use super::kinds::is_month;
use super::passage::{Passage, years};
use docent_text::sentences::{self, Row};
use docent_text::table;
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
/// The same for the text of a page.
const PAGE_CHARS: usize = 700;
/// The same for brief quotes.
const BRIEF_CHARS: usize = 200;
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
        None if block.len() == 1 => (paragraph(passage, index, weight), false),
        None => announced(passage, index, block, asked),
    };
    Quote { title: passage.chunk.title.clone(), page: passage.page(index), text, is_block }
}

/// Quotes the beginning of the text that a passage has of a page.
pub(super) fn quote_page(passage: &Passage<'_>, page: u32) -> Option<Quote> {
    let is_on_page = |index: &usize| passage.page(*index) == page;
    let mut chars = 0;
    let units = (0..passage.units.len()).filter(is_on_page).take_while(|index| {
        let fits = chars < PAGE_CHARS;
        chars += passage.units[*index].sentence.text.chars().count();
        fits
    });
    let text = units.map(|index| passage.units[index].sentence.text.as_str()).collect::<Vec<_>>().join(" ");
    let text = marked(&sentences::excerpt(&text, PAGE_CHARS, |_| 0.0));
    (!text.is_empty()).then(|| Quote { title: passage.chunk.title.clone(), page, text, is_block: false })
}

/// Writes a sentence with what is quoted of its paragraph.
fn paragraph(passage: &Passage<'_>, index: usize, weight: &dyn Fn(&str) -> f32) -> String {
    let sentence = &passage.units[index].sentence;
    let texts = passage.units[passage.paragraph(index)].iter().map(|unit| {
        let is_asked = std::ptr::eq(&unit.sentence, sentence);
        marked(&if is_asked {
            sentences::excerpt(&unit.sentence.text, QUOTE_CHARS, weight)
        } else {
            unit.sentence.text.clone()
        })
    });
    texts.collect::<Vec<_>>().join(" ")
}

/// Quotes a sentence or row in few words.
pub(super) fn quote_briefly(passage: &Passage<'_>, index: usize, weight: &dyn Fn(&str) -> f32) -> Quote {
    let unit = &passage.units[index].sentence;
    Quote {
        title: passage.chunk.title.clone(),
        page: passage.page(index),
        text: marked(&sentences::excerpt(&unit.text, BRIEF_CHARS, weight)),
        is_block: false,
    }
}

/// Quotes rows, those of one table together, also if the table was divided.
pub(super) fn quote_rows(rows: &[(&Passage<'_>, usize)], asked: &HashSet<String>) -> Vec<Quote> {
    let mut tables: Vec<Vec<Place<'_>>> = Vec::new();
    for (passage, index) in rows {
        let sentence = &passage.units[*index].sentence;
        let Some(row) = &sentence.row else { continue };
        let place = Place { passage, page: passage.page(*index), index: *index, row };
        match tables.iter_mut().find(|table| table[0].shares_table(&place)) {
            Some(table) if table.iter().any(|other| other.is_same(&place)) => {}
            Some(table) => table.push(place),
            None => tables.push(vec![place]),
        }
    }
    let quote = |mut table: Vec<Place<'_>>| {
        table.sort_by_key(|place| (place.passage.chunk.span.start, place.index));
        let rows: Vec<&Row> = table.iter().map(|place| place.row).collect();
        let (title, page) = (table[0].passage.chunk.title.clone(), table[0].page);
        Quote { title, page, text: table_of(&rows, asked), is_block: true }
    };
    tables.into_iter().map(quote).collect()
}

/// A row of a passage.
struct Place<'a> {
    passage: &'a Passage<'a>,
    page: u32,
    index: usize,
    row: &'a Row,
}

impl Place<'_> {
    fn shares_table(&self, other: &Self) -> bool {
        self.passage.chunk.document_id == other.passage.chunk.document_id
            && self.page == other.page
            && self.row.header == other.row.header
            && self.row.caption == other.row.caption
    }

    fn is_same(&self, other: &Self) -> bool {
        self.passage.chunk.id == other.passage.chunk.id && self.index == other.index
    }
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
    if let Some(row) = units.iter().find_map(|unit| unit.sentence.row.as_ref()) {
        let tables = tables(passage, rest, asked);
        let is_caption = caption_of(row).contains(first.text.trim());
        return (if is_caption { tables } else { format!("“{}”\n\n{tables}", marked(&first.text)) }, true);
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
    let heads: Vec<&str> = shown.iter().skip(1).map(|column| header[*column].as_str()).collect();
    let common = common_beginning(&heads);
    let head =
        |column: usize| if column == 0 { &header[0] } else { header[column][common.len()..].trim_start() };
    let mut lines = vec![line(&|column| shortened(head(column))), table::delimiter(shown.len())];
    let mut section = "";
    for (index, row) in rows.iter().enumerate() {
        if rows[..index].iter().any(|other| other.cells == row.cells && other.section == row.section) {
            continue;
        }
        if *row.section != *section && *row.section != *row.cells[0] && !row.section.is_empty() {
            lines.push(line(&|column| if column == 0 { shortened(&row.section) } else { String::new() }));
        }
        section = &row.section;
        lines.push(line(&|column| {
            let cell = shortened(&row.cells[column]);
            if marked == Some(column) && !cell.is_empty() { format!("**{cell}**") } else { cell }
        }));
    }
    let (caption, common) = (caption_of(first), common.trim_end());
    let caption = if common.is_empty() { caption } else { caption.trim_end_matches(':') };
    let above: Vec<&str> = [caption, common].into_iter().filter(|text| !text.is_empty()).collect();
    if above.is_empty() { lines.join("\n") } else { format!("{}\n\n{}", above.join(": "), lines.join("\n")) }
}

/// The words with which the heads of all columns begin, such as “Years ended December 31,”, with the space after them. Empty if
/// they are fewer than two, or if a head has no others.
fn common_beginning<'h>(heads: &[&'h str]) -> &'h str {
    let (Some(first), true) = (heads.first().copied(), heads.len() > 1) else { return "" };
    let ends: Vec<usize> = first.match_indices(' ').map(|(at, _)| at + 1).collect();
    let is_common =
        |end: &&usize| heads.iter().all(|head| head.len() > **end && head.starts_with(&first[..**end]));
    let last_word =
        |end: usize| first[..end].trim_end().rsplit(' ').next().unwrap_or_default().to_lowercase();
    // A date stays whole.
    let end = ends.iter().take_while(is_common).filter(|end| !is_month(&last_word(**end))).last().copied();
    let common = &first[..end.unwrap_or_default()];
    if common.trim_end().contains(' ') { common } else { "" }
}

/// A sentence before a caption has at least this many words; fewer are part of it, such as “Item 2.”.
const SENTENCE_WORDS: usize = 5;

/// The caption of a row's table without the end of the text before it and without the header of the page. Empty if nothing else is
/// left.
fn caption_of(row: &Row) -> &str {
    let is_number = |c: char| c.is_ascii_digit() || c == ' ' || c == '.';
    let caption = row.caption.rsplit(" | ").next().unwrap_or_default();
    let caption = match caption.rsplit_once(". ") {
        Some((before, last)) if before.split(' ').count() >= SENTENCE_WORDS && last.contains(' ') => last,
        _ => caption,
    };
    let caption = caption.trim_start_matches(is_number).trim_start_matches("Table of Contents ").trim();
    if caption.starts_with([',', ';', ')']) { "" } else { caption }
}
