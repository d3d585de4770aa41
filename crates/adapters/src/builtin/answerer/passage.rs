//! Passages split into sentences and rows with their terms, and what belongs to each of them.

use super::kinds::{AskedKind, has_duration, has_name, has_time};
use super::periods;
use super::question::Intent;
use super::reasons::gives_reason;
use docent_domain::chunk::page_at;
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::{Analyzer, Synonym, is_year};
use docent_text::sentences::{self, Sentence};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// Maximum number of rows and of characters that are quoted with what announces them.
const BLOCK_ROWS: usize = 8;
const BLOCK_CHARS: usize = 600;
/// Maximum number of characters of running text that are quoted with a heading.
const HEADED_CHARS: usize = 300;
/// Maximum number of characters of a sentence with what is quoted with it of its paragraph.
const PARAGRAPH_CHARS: usize = 400;
/// A line has at most this many words, and is quoted with this many lines before and after it.
const FRAGMENT_WORDS: usize = 6;
const LINES_BEFORE: usize = 1;
const LINES_AFTER: usize = 2;
/// A heading has at most this many words.
const HEADING_WORDS: usize = 9;
/// Factor for a sentence with a figure if the question asks for one.
const FIGURE_FACTOR: f32 = 1.15;
/// Factor for a sentence without an amount if the question asks for one.
const NO_AMOUNT_FACTOR: f32 = 0.5;
/// Factor for a sentence that names a cause if the question asks for a reason, and for a row, which names none.
const REASON_FACTOR: f32 = 1.25;
const NO_REASON_FACTOR: f32 = 0.6;
/// Factor for what lacks the kind of value that the question asks for: a name, a date or a duration.
const NO_VALUE_FACTOR: f32 = 0.5;
/// Factor for a row in percent if the question does not ask for a share or a rate.
const PERCENTAGE_FACTOR: f32 = 0.5;
/// Phrases of a sentence that announces a list or table.
const ANNOUNCEMENTS: [&str; 9] = [
    "as follows",
    "the following table",
    "table below",
    "listed below",
    "following list",
    "set forth below",
    "summarized below",
    "shown below",
    "presented below",
];
/// Factor for a sentence that only says where something is.
const POINTER_FACTOR: f32 = 0.4;
/// Factor for a sentence that announces what the passage lacks.
const EMPTY_FACTOR: f32 = 0.3;
/// Factor for a heading without what it is for.
const HEADING_FACTOR: f32 = 0.6;
/// Factor for the footer of a page and the line of a table of contents.
const FURNITURE_FACTOR: f32 = 0.2;

/// A passage split into sentences and rows.
pub(super) struct Passage<'a> {
    pub(super) chunk: &'a ScoredChunk,
    pub(super) units: Vec<Unit>,
}

/// A sentence or row with its terms.
pub(super) struct Unit {
    pub(super) sentence: Sentence,
    /// The distinct terms, with those of phrases of the question that it has other words for.
    pub(super) terms: HashSet<String>,
    /// The terms in order.
    pub(super) sequence: Vec<String>,
    /// For a row of a table, the terms of the header and of its context.
    pub(super) above: HashSet<String>,
    /// For a row of a table, the terms of its first cell.
    pub(super) label: Option<HashSet<String>>,
}

impl<'a> Passage<'a> {
    pub(super) fn of(
        analyzer: Analyzer,
        chunk: &'a ScoredChunk,
        synonyms: &[Synonym<'_>],
        kinds: &[AskedKind<'_>],
    ) -> Self {
        let unit = |sentence| {
            let mut unit = Unit::of(analyzer, sentence, synonyms);
            for kind in kinds.iter().filter(|kind| (kind.is_in)(&unit.sentence.text)) {
                unit.terms.extend(kind.terms.iter().map(|term| (*term).clone()));
            }
            unit
        };
        Self { chunk, units: sentences::split(&chunk.text).into_iter().map(unit).collect() }
    }

    /// The page of a sentence.
    pub(super) fn page(&self, index: usize) -> u32 {
        page_at(&self.chunk.pages, self.units[index].sentence.at)
    }

    /// Keeps the sentences of these pages only.
    pub(super) fn keep_pages(&mut self, pages: &[u32]) {
        let of = |unit: &Unit| page_at(&self.chunk.pages, unit.sentence.at);
        self.units.retain(|unit| pages.contains(&of(unit)));
    }

    /// Returns the terms of all sentences.
    pub(super) fn terms<'s>(&'s self) -> HashSet<&'s str> {
        let terms = |unit: &'s Unit| unit.terms.iter().chain(&unit.above).map(String::as_str);
        self.units.iter().flat_map(terms).collect()
    }

    /// Returns what is quoted with a sentence: the list, table or text that it announces, and the whole small table of a row if
    /// several things are asked for.
    pub(super) fn block(&self, index: usize, several: bool) -> Range<usize> {
        let unit = &self.units[index];
        let end = match () {
            () if unit.sentence.row.is_some() => {
                let table = self.table(index);
                return if several && table.len() <= BLOCK_ROWS { table } else { index..index + 1 };
            }
            () if unit.announces() || self.is_caption(index) => self.announced(index + 1),
            () if unit.is_heading() => self.headed(index + 1),
            () => index + 1,
        };
        index..end
    }

    /// Whether a line without the end of a sentence stands directly above a table.
    fn is_caption(&self, index: usize) -> bool {
        let unit = &self.units[index];
        unit.sentence.row.is_none()
            && !unit.sentence.text.ends_with(['.', '!', '?', ';', ','])
            && self.units.get(index + 1).is_some_and(|next| next.sentence.row.is_some())
    }

    /// The rows of the table that a row belongs to.
    fn table(&self, index: usize) -> Range<usize> {
        let is_of_same = |at: usize| self.units[at].is_in_table_of(&self.units[index]);
        let start = (0..index).rev().take_while(|at| is_of_same(*at)).last().unwrap_or(index);
        let end = (index..self.units.len()).take_while(|at| is_of_same(*at)).last().unwrap_or(index) + 1;
        start..end
    }

    /// The end of what is announced before `start`: a table, a list, or one sentence.
    fn announced(&self, start: usize) -> usize {
        let Some(first) = self.units.get(start) else { return start };
        if first.sentence.row.is_some() {
            return self.table(start).end.min(start + BLOCK_ROWS);
        }
        let is_item =
            |unit: &Unit| unit.sentence.row.is_none() && (unit.sentence.is_item || !unit.is_prose());
        let mut chars = 0;
        let items = self.units[start..].iter().take_while(|unit| {
            chars += unit.sentence.text.chars().count();
            is_item(unit) && chars <= BLOCK_CHARS
        });
        let items = items.count();
        start + items.max(usize::from(first.sentence.text.chars().count() <= BLOCK_CHARS))
    }

    /// The end of what is quoted with the heading before `start`: a table, a list, or some sentences.
    fn headed(&self, start: usize) -> usize {
        let Some(first) = self.units.get(start) else { return start };
        if first.sentence.row.is_some() || first.sentence.is_item {
            return self.announced(start);
        }
        let mut chars = 0;
        let text = (start..self.units.len()).take_while(|at| {
            let unit = &self.units[*at];
            chars += unit.sentence.text.chars().count();
            let is_text = unit.sentence.row.is_none() && !unit.is_heading();
            chars <= HEADED_CHARS && is_text && (*at == start || !self.begins_paragraph(*at))
        });
        start + text.count()
    }

    /// Whether an empty line is before a sentence.
    fn begins_paragraph(&self, index: usize) -> bool {
        let Some(before) = index.checked_sub(1) else { return true };
        let between = self.units[before].sentence.at..self.units[index].sentence.at;
        self.chunk.text.get(between).is_some_and(|between| between.contains("\n\n"))
    }

    /// Returns what is quoted of the paragraph of a sentence: the sentence before if it refers to that, and those that follow. Of a
    /// short line, the lines around it.
    pub(super) fn paragraph(&self, index: usize) -> Range<usize> {
        if self.units[index].is_fragment() {
            return self.lines_around(index);
        }
        let mut chars = self.units[index].sentence.text.chars().count();
        let mut fits = |at: usize| {
            let unit = &self.units[at];
            chars += unit.sentence.text.chars().count();
            chars <= PARAGRAPH_CHARS
                && unit.sentence.row.is_none()
                && !unit.sentence.is_item
                && unit.is_prose()
        };
        let refers = self.units[index].refers_back() && !self.begins_paragraph(index);
        let start = if refers && fits(index - 1) { index - 1 } else { index };
        let follows = |at: &usize| !self.begins_paragraph(*at) && fits(*at);
        start..index + 1 + (index + 1..self.units.len()).take_while(follows).count()
    }

    /// The short lines around one.
    fn lines_around(&self, index: usize) -> Range<usize> {
        let is_line = |at: &usize| {
            let unit = &self.units[*at];
            unit.is_fragment() && unit.sentence.row.is_none() && self.page(*at) == self.page(index)
        };
        let before = (0..index).rev().take(LINES_BEFORE).take_while(is_line).count();
        let after = (index + 1..self.units.len()).take(LINES_AFTER).take_while(is_line).count();
        index - before..index + 1 + after
    }

    /// The texts that are quoted with a sentence: its block, the header of its table, or its paragraph.
    fn quoted<'s>(&'s self, index: usize, block: &Range<usize>) -> impl Iterator<Item = &'s str> {
        let unit = &self.units[index];
        let is_alone = block.len() == 1 && unit.sentence.row.is_none();
        let range = if is_alone { self.paragraph(index) } else { block.clone() };
        let header = unit.sentence.row.iter().flat_map(|row| row.header.iter().map(String::as_str));
        self.units[range].iter().map(|unit| unit.sentence.text.as_str()).chain(header)
    }

    /// Rates how suitable a sentence is as a quote with its block.
    pub(super) fn fitness(&self, index: usize, block: &Range<usize>, intent: &Intent) -> f32 {
        let unit = &self.units[index];
        let units = &self.units[block.clone()];
        let form = match &unit.sentence.row {
            Some(_) => unit.row_fitness(),
            None if block.len() > 1 => 1.0,
            None if unit.announces() => EMPTY_FACTOR,
            None if unit.is_bare_heading() => HEADING_FACTOR * unit.text_fitness(),
            None => unit.text_fitness(),
        };
        let text = || units.iter().map(|unit| unit.sentence.text.as_str());
        let has_figure = units.iter().any(Unit::has_figures);
        let figure = match () {
            () if intent.amount && !units.iter().any(Unit::has_amount) => NO_AMOUNT_FACTOR,
            () if intent.figure && has_figure => FIGURE_FACTOR,
            () => 1.0,
        };
        let reason = match () {
            () if !intent.reason => 1.0,
            () if text().any(gives_reason) => REASON_FACTOR,
            () if unit.sentence.row.is_some() => NO_REASON_FACTOR,
            () => 1.0,
        };
        let lacks =
            |is_asked: bool, is_in: fn(&str) -> bool| is_asked && !self.quoted(index, block).any(is_in);
        let value = match () {
            () if lacks(intent.person, has_name) => NO_VALUE_FACTOR,
            () if lacks(intent.time, has_time) => NO_VALUE_FACTOR,
            () if lacks(intent.duration, has_duration) => NO_VALUE_FACTOR,
            () if unit.is_percentage() && !intent.percentage => PERCENTAGE_FACTOR,
            () => 1.0,
        };
        let pointer = if is_pointer(&unit.sentence.text) { POINTER_FACTOR } else { 1.0 };
        form * figure * reason * value * pointer
    }
}

impl Unit {
    /// A sentence with other words for a phrase of the question has the terms of the phrase too. If it needs the header of its table
    /// for that, or has only a part of what is calculated, the terms count as those of a header.
    fn of(analyzer: Analyzer, sentence: Sentence, synonyms: &[Synonym<'_>]) -> Self {
        let sequence = analyzer.terms(&sentence.text);
        let row = sentence.row.as_ref();
        let mut above: HashSet<String> = row
            .into_iter()
            .flat_map(|row| row.header.iter().map(String::as_str).chain([&*row.caption, &*row.section]))
            .flat_map(|text| analyzer.terms(text).into_iter().chain(years(text)))
            .collect();
        let label = row.map(|row| analyzer.terms(&row.cells[0]).into_iter().collect());
        // Dates such as 31.3.2002 are one term.
        let mut terms: HashSet<String> = sequence.iter().cloned().chain(years(&sentence.text)).collect();
        for synonym in synonyms {
            if synonym.is_in(|term| terms.contains(term)) {
                terms.extend(synonym.phrase.iter().cloned());
            } else if synonym.has_part_in(|term| terms.contains(term) || above.contains(term)) {
                above.extend(synonym.phrase.iter().cloned());
            }
        }
        Self { sentence, terms, sequence, above, label }
    }

    pub(super) fn has_pair(&self, first: &str, second: &str) -> bool {
        self.sequence.windows(2).any(|pair| pair[0] == first && pair[1] == second)
    }

    /// The terms in order without figures, to find the sentence in other documents.
    pub(super) fn key(&self) -> String {
        let words = self.sequence.iter().map(String::as_str).filter(|term| !term.contains(char::is_numeric));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Whether two sentences say the same. Rows with the same label and different figures do not.
    pub(super) fn repeats(&self, other: &Self, max_similarity: f32) -> bool {
        let similarity = |a: &HashSet<String>, b: &HashSet<String>| {
            a.intersection(b).count() as f32 / a.len().max(b.len()).max(1) as f32
        };
        let figures = |unit: &Self| {
            let figures = unit.sequence.iter().filter(|term| term.contains(char::is_numeric));
            figures.cloned().collect::<HashSet<String>>()
        };
        let (mine, others) = (figures(self), figures(other));
        let is_row = self.label.is_some() && other.label.is_some();
        let differs = is_row && !mine.is_empty() && !others.is_empty() && mine.is_disjoint(&others);
        !differs && similarity(&self.terms, &other.terms) > max_similarity
    }

    pub(super) fn is_in_table_of(&self, other: &Self) -> bool {
        let header = |unit: &Self| unit.sentence.row.as_ref().map(|row| Arc::clone(&row.header));
        header(self).zip(header(other)).is_some_and(|(a, b)| Arc::ptr_eq(&a, &b))
    }

    /// Whether the caption or the document part of a row is that of a financial statement. Statements of changes in equity have no
    /// totals of a year.
    pub(super) fn is_in_statement(&self) -> bool {
        let Some(row) = &self.sentence.row else { return false };
        // The title can be the head of the first column.
        let first = row.header.iter().find(|cell| !cell.is_empty()).map_or("", String::as_str);
        let caption = format!("{} {first}", row.caption).to_lowercase();
        let is_of_changes = caption.contains("equity") && !caption.contains("liabilities");
        caption.contains("statement") && !is_of_changes || caption.contains("balance sheet")
    }

    /// Whether it has a figure that is not in the label of a row.
    pub(super) fn has_figures(&self) -> bool {
        let has = |text: &str| text.contains(|c: char| c.is_ascii_digit());
        match &self.sentence.row {
            Some(row) => row.cells.iter().skip(1).any(|cell| has(cell)),
            None => has(&self.sentence.text),
        }
    }

    /// Whether it has an amount rather than a date or the number of a note.
    pub(super) fn has_amount(&self) -> bool {
        if self.sentence.row.is_some() {
            return self.has_figures();
        }
        let text = &self.sentence.text;
        let words = || text.split(' ').map(|word| word.trim_matches(|c: char| "()[];:,.".contains(c)));
        let is_amount = |word: &str| {
            let digits = word.contains(|c: char| c.is_ascii_digit());
            digits && (word.contains(['%', '$', '€', '£']) || word.contains(',') || word.contains('.'))
        };
        words().any(is_amount)
            || (text.contains(|c: char| c.is_ascii_digit())
                && words().any(|word| {
                    matches!(word, "million" | "billion" | "percent" | "Millionen" | "Milliarden" | "Prozent")
                }))
    }

    /// Whether a line belongs to a table of contents.
    pub(super) fn is_leader(&self) -> bool {
        self.sentence.text.contains(". . .") || self.sentence.text.contains("....")
    }

    /// Whether it is a sentence rather than a heading or a list of names.
    pub(super) fn is_prose(&self) -> bool {
        let text = &self.sentence.text;
        let words = text.split(' ');
        let small = words.clone().filter(|word| word.starts_with(char::is_lowercase)).count();
        text.ends_with(['.', '!', '?']) && small * 2 >= words.count()
    }

    /// Whether it is a short line without the end of a sentence, as on a cover.
    fn is_fragment(&self) -> bool {
        let text = &self.sentence.text;
        // A row of figures says enough alone.
        let figures = text.split(' ').filter(|word| word.contains(|c: char| c.is_ascii_digit())).count();
        text.split(' ').count() <= FRAGMENT_WORDS && figures <= 1 && !text.ends_with(['.', '!', '?', ':'])
    }

    /// Whether it begins with a word for something in the sentence before.
    fn refers_back(&self) -> bool {
        let first = self.sentence.text.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        REFERRING.contains(&first.to_lowercase().as_str())
    }

    /// Whether what it is about follows it.
    fn announces(&self) -> bool {
        let text = self.sentence.text.to_lowercase();
        self.sentence.row.is_none()
            && (text.ends_with(':') || ANNOUNCEMENTS.iter().any(|phrase| text.contains(phrase)))
    }

    /// Whether it is a row whose label says that it is in percent.
    pub(super) fn is_percentage(&self) -> bool {
        let label = self.sentence.row.as_ref().and_then(|row| row.cells.first());
        label.is_some_and(|label| label.contains('%') || label.to_lowercase().contains("percent"))
    }

    /// Whether it is short and has no end of a sentence.
    /// Whether it is about a part of a year, for a row by the head or caption of its table.
    pub(super) fn is_of_part_of_year(&self) -> bool {
        match &self.sentence.row {
            None => periods::names_part_of_year(&self.sentence.text),
            Some(row) => {
                let head = format!("{} {}", row.caption, row.header.join(" "));
                // With a year beside a part of it, the table has the figures of both.
                periods::names_part_of_year(&head) && !periods::names_whole_year(&head)
            }
        }
    }

    pub(super) fn is_heading(&self) -> bool {
        let text = &self.sentence.text;
        self.sentence.row.is_none()
            && !self.sentence.is_item
            && text.split(' ').count() <= HEADING_WORDS
            && !text.ends_with(['.', '!', '?', ':', ';', ','])
            && text.contains(char::is_alphabetic)
            && !text.starts_with(char::is_lowercase)
    }

    /// Whether it is a heading that says nothing alone: in capital letters or of many words, and without a number.
    fn is_bare_heading(&self) -> bool {
        let text = &self.sentence.text;
        let is_long_or_loud = !self.is_fragment() || !text.contains(char::is_lowercase);
        self.is_heading() && is_long_or_loud && !text.contains(|c: char| c.is_ascii_digit())
    }

    fn row_fitness(&self) -> f32 {
        let Some(row) = &self.sentence.row else { return 1.0 };
        let entries: Vec<&String> = row.cells.iter().skip(1).filter(|cell| !cell.is_empty()).collect();
        let is_page = |cell: &str| {
            let cell = cell.trim_start_matches("Pages ").trim_start_matches("Page ");
            !cell.is_empty()
                && cell.len() <= 9
                && cell.chars().all(|c| c.is_ascii_digit() || " -–".contains(c))
        };
        let lists_pages = row
            .header
            .iter()
            .any(|cell| matches!(cell.to_lowercase().as_str(), "page" | "contents" | "index"))
            || (row.cells.len() <= 3
                && row.header.last().is_some_and(|cell| cell.is_empty() || cell.starts_with("Page")));
        match () {
            () if entries.is_empty() => 0.3,
            () if lists_pages && entries.last().is_some_and(|cell| is_page(cell)) => FURNITURE_FACTOR,
            () if row.header.iter().all(String::is_empty) => 0.7,
            () => 1.0,
        }
    }

    fn text_fitness(&self) -> f32 {
        let text = &self.sentence.text;
        let words = text.split(' ').count();
        if text.contains(" | ") && words <= 12 {
            return FURNITURE_FACTOR;
        }
        match words {
            0..=3 => 0.5,
            4..=6 => 0.8,
            7..=60 => 1.0,
            _ => 0.8,
        }
    }
}

/// First words of sentences that refer to the one before.
const REFERRING: [&str; 20] = [
    "he", "however", "it", "its", "she", "such", "that", "their", "these", "they", "this", "those",
    "dadurch", "dabei", "dafür", "damit", "dies", "diese", "dieser", "jedoch",
];

/// Whether a sentence refers to another place for its subject.
fn is_pointer(text: &str) -> bool {
    let text = text.to_lowercase();
    let refers = ["refer to ", "see note", "see item", "see part", "see \"", "see “", "siehe "];
    refers.iter().any(|phrase| text.contains(phrase)) && text.split(' ').count() <= 45
}

/// The years in a text.
pub(super) fn years(text: &str) -> HashSet<String> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| is_year(word)).map(str::to_owned).collect()
}

/// Returns the number of terms that the label of a row and other terms have in common, relative to all.
pub(super) fn overlap<'t>(label: &HashSet<String>, terms: impl Iterator<Item = &'t str>) -> f32 {
    let terms: HashSet<&str> = terms.collect();
    let words: HashSet<&str> = label.iter().map(String::as_str).filter(|term| !is_year(term)).collect();
    let common = words.intersection(&terms).count();
    common as f32 / words.union(&terms).count().max(1) as f32
}
