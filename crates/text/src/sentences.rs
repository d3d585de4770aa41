//! Splits text into sentences.
//!
//! Extracted text consists of lines of paragraphs, lists and tables. Lines of a paragraph are joined before they are split
//! into sentences; list items and table rows are separate sentences. A row of a [Markdown table](crate::table)
//! keeps its cells and the header above them.

use crate::table;
use std::sync::Arc;
use unicode_segmentation::UnicodeSegmentation;

/// A sentence, a list item or a table row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The byte offset of the line in which it starts.
    pub at: usize,
    /// The text on one line, with single spaces.
    pub text: String,
    /// The cells, if it is a row of a Markdown table.
    pub row: Option<Row>,
    /// Whether it is a list item.
    pub is_item: bool,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The cells of the header.
    pub header: Arc<[String]>,
    /// The cells, as many as the header has.
    pub cells: Vec<String>,
    /// The short lines before the table.
    pub caption: Arc<str>,
    /// The last row above it with a label and no entries, such as "Current assets:", unless its total is between them.
    pub section: Arc<str>,
}

/// Lines of at least this length may continue in the next line.
const FULL_LINE_CHARS: usize = 45;
/// Maximum number and length of lines that are the title of the table below them.
const CAPTION_LINES: usize = 3;
const CAPTION_CHARS: usize = 100;
/// Dots that lead from a label to its entries.
const LEADERS: [&str; 2] = ["....", ". . ."];
/// Maximum length of a row joined from cells on separate lines.
const ROW_CHARS: usize = 160;

/// Splits a text into sentences, list items and table rows.
pub fn split(text: &str) -> Vec<Sentence> {
    let mut sentences = Vec::new();
    let mut from = 0;
    for table in table::ranges(text) {
        split_text(&text[from..table.start], from, &mut sentences);
        from = table.end;
        split_table(&text[table.clone()], table.start, caption(&text[..table.start]), &mut sentences);
    }
    split_text(&text[from..], from, &mut sentences);
    sentences
}

/// Returns the short lines at the end of the text before a table.
fn caption(before: &str) -> String {
    let lines = before.lines().rev().map(plain).filter(|line| !line.is_empty());
    let is_short = |line: &String| {
        let begins = line.starts_with(|c: char| !c.is_lowercase());
        begins && line.chars().count() <= CAPTION_CHARS && !table::is_row(line)
    };
    let mut lines: Vec<String> = lines.take(CAPTION_LINES).take_while(is_short).collect();
    lines.reverse();
    lines.join(" ")
}

/// Adds the rows of a table that starts at an offset.
fn split_table(text: &str, offset: usize, caption: String, sentences: &mut Vec<Sentence>) {
    let mut header: Arc<[String]> = Arc::default();
    let caption: Arc<str> = caption.into();
    let mut section: Arc<str> = Arc::default();
    let mut at = offset;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let mut cells: Vec<String> = table::cells(line).iter().map(|cell| plain(cell)).collect();
        match index {
            0 => header = cells.into(),
            1 => {}
            _ => {
                cells.resize(header.len(), String::new());
                remove_leader(&mut cells);
                let filled = cells.iter().filter(|cell| !cell.is_empty());
                let joined = filled.clone().map(String::as_str).collect::<Vec<_>>().join(" ");
                let is_total = cells[0].to_lowercase().starts_with("total");
                if filled.count() == 1 && !cells[0].is_empty() {
                    section = joined.as_str().into();
                }
                if joined.chars().any(char::is_alphanumeric) {
                    let (caption, section) = (Arc::clone(&caption), Arc::clone(&section));
                    let row = Row { header: Arc::clone(&header), cells, caption, section };
                    sentences.push(Sentence { at: start, text: joined, row: Some(row), is_item: false });
                }
                if is_total {
                    section = Arc::default();
                }
            }
        }
    }
}

/// Removes the dots between the label of a row and its entries. What stands behind them in the label's cell moves to the
/// next cell if that is empty.
fn remove_leader(cells: &mut [String]) {
    let Some((label, rest)) = cells.split_first_mut() else { return };
    let Some(start) = LEADERS.iter().filter_map(|leader| label.find(leader)).min() else { return };
    let behind = label[start..].trim_start_matches(['.', ' ']).to_owned();
    label.truncate(start);
    label.truncate(label.trim_end().len());
    match rest.first_mut() {
        Some(next) if next.is_empty() => *next = behind,
        _ if behind.is_empty() => {}
        _ => {
            label.push(' ');
            label.push_str(&behind);
        }
    }
}

/// Adds the sentences of running text that starts at an offset.
fn split_text(text: &str, offset: usize, sentences: &mut Vec<Sentence>) {
    let mut block = Block::default();
    let mut at = offset;
    for line in text.split('\n') {
        let words = plain(line);
        // A part of a table whose header was too long to be repeated.
        let words = if table::is_row(&words) { table::cells(&words).join(" ") } else { words };
        if !block.continues_with(&words) {
            std::mem::take(&mut block).finish(sentences);
        }
        if !words.is_empty() {
            block.add(at, &words);
        }
        at += line.len() + 1;
    }
    block.finish(sentences);
}

/// Normalises spaces and removes control characters.
fn plain(line: &str) -> String {
    let readable = |c: &char| !c.is_control() || c.is_whitespace();
    let line: String = line.chars().filter(readable).collect();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines that belong together.
#[derive(Default)]
struct Block {
    text: String,
    /// The start of each line in `text` and in the passage.
    lines: Vec<(usize, usize)>,
    last_line: String,
    is_row: bool,
}

impl Block {
    fn continues_with(&self, line: &str) -> bool {
        if self.text.is_empty() || line.is_empty() || is_item(line) {
            return false;
        }
        if !line.chars().any(char::is_alphabetic) {
            // Cells with figures on separate lines after the row's name.
            return self.text.len() < ROW_CHARS && !ends_sentence(&self.text);
        }
        if self.is_row || is_row(line) {
            return false;
        }
        let begins_small = line.starts_with(char::is_lowercase);
        begins_small || self.last_line.chars().count() >= FULL_LINE_CHARS
    }

    fn add(&mut self, at: usize, line: &str) {
        let figures = !self.text.is_empty() && !line.chars().any(char::is_alphabetic);
        self.is_row = figures || (self.text.is_empty() && is_row(line));
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.lines.push((self.text.len(), at));
        self.text.push_str(line);
        line.clone_into(&mut self.last_line);
    }

    fn finish(self, sentences: &mut Vec<Sentence>) {
        let place = |at: usize| {
            let after = self.lines.partition_point(|(start, _)| *start <= at);
            self.lines.get(after.saturating_sub(1)).map_or(0, |(_, source)| *source)
        };
        if self.is_row {
            let row = Sentence { at: place(0), text: self.text.clone(), row: None, is_item: false };
            sentences.extend(row.text.chars().any(char::is_alphanumeric).then_some(row));
            return;
        }
        let mut start = 0;
        for (at, piece) in self.text.split_sentence_bound_indices() {
            let end = at + piece.len();
            let is_last = end == self.text.len();
            let is_number = number_of_next(self.text[start..end].trim()) == Some(0);
            if !is_last && (is_number || ends_with_abbreviation(&self.text[start..end])) {
                continue;
            }
            let number = number_of_next(&self.text[start..end]).filter(|_| !is_last);
            let end = number.map_or(end, |at| start + at);
            let sentence = self.text[start..end].trim();
            if sentence.chars().any(char::is_alphanumeric) {
                let is_item =
                    is_item(sentence) && (start == 0 || sentence.starts_with(|c: char| c.is_ascii_digit()));
                sentences.push(Sentence { at: place(start), text: sentence.to_owned(), row: None, is_item });
            }
            start = end;
        }
    }
}

/// Where the number of the next item begins at the end of a sentence: “Do this: 1.” or “Do that. 2.”.
fn number_of_next(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let number = text.strip_suffix('.')?;
    let before = number.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_number = (1..=2).contains(&(number.len() - before.len()));
    // “12:00.” is a time.
    let ends = |before: &str| {
        before.ends_with(' ') && ends_sentence(before.trim_end()) && !ends_with_abbreviation(before)
    };
    (is_number && (before.is_empty() || ends(before))).then_some(before.len())
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with(['.', '?', '!', ':', '。', '？', '！'])
}

const BULLETS: [&str; 13] = ["•", "-", "–", "—", "*", "▪", "◦", "●", "■", "‣", "·", "➢", "✓"];

/// The text of a list item without its bullet.
pub fn without_bullet(text: &str) -> &str {
    let bullet = BULLETS.iter().find_map(|bullet| text.strip_prefix(bullet));
    bullet.map_or(text, str::trim_start)
}

/// Whether a line starts like a list item: `•`, `- `, `(a)`, `1.`, `iv)`.
fn is_item(line: &str) -> bool {
    let first = line.split(' ').next().unwrap_or_default();
    let bullet = BULLETS.contains(&first);
    let inner = first.trim_start_matches('(').trim_end_matches([')', '.']);
    let numbered = first.ends_with([')', '.'])
        && first.chars().count() - inner.chars().count() <= 2
        && (1..=2).contains(&inner.len())
        && inner.chars().all(|c| c.is_ascii_alphanumeric())
        && line.len() > first.len();
    bullet || line.starts_with('•') || numbered
}

/// Whether a line is a row of a table: a name and at least two figures at its end.
fn is_row(line: &str) -> bool {
    let figure = |word: &&str| {
        word.chars().any(|c| c.is_ascii_digit()) && !word.chars().any(char::is_alphabetic)
            || matches!(*word, "$" | "%" | "—" | "–" | "-" | ")" | "€" | "£" | "N/A")
    };
    let figures = line.rsplit(' ').take_while(figure).count();
    figures >= 2 && !ends_sentence(line)
}

const ABBREVIATIONS: [&str; 41] = [
    "al.", "approx.", "assoc.", "ave.", "bros.", "ca.", "cf.", "co.", "corp.", "dept.", "dr.", "e.g.", "ed.",
    "eq.", "est.", "etc.", "fig.", "figs.", "i.e.", "inc.", "jr.", "ltd.", "max.", "min.", "mr.", "mrs.",
    "ms.", "no.", "nos.", "p.", "pp.", "prof.", "ref.", "rs.", "sec.", "sr.", "st.", "u.k.", "u.s.", "vol.",
    "vs.",
];

/// Whether a full stop at the end belongs to an abbreviation or an initial.
fn ends_with_abbreviation(text: &str) -> bool {
    let last = text.trim_end().rsplit([' ', '(', '[']).next().unwrap_or_default();
    let mut letters = last.chars();
    let initial = letters.next().is_some_and(char::is_uppercase) && letters.as_str() == ".";
    initial || ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

/// Returns the part of a long text with the highest total word weight, cut at word boundaries with `…`.
pub fn excerpt(text: &str, chars: usize, weight: impl Fn(&str) -> f32) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let words: Vec<&str> = text.split(' ').collect();
    let size = |word: &str| word.chars().count() + 1;
    let weights: Vec<f32> = words.iter().map(|word| weight(word)).collect();
    let (mut best, mut best_sum) = (0..0, -1.0);
    let (mut start, mut length, mut sum) = (0, 0, 0.0);
    for end in 0..words.len() {
        length += size(words[end]);
        sum += weights[end];
        while length > chars && start < end {
            length -= size(words[start]);
            sum -= weights[start];
            start += 1;
        }
        // Of equal parts, the first one is extended as long as it has the same start.
        if sum > best_sum + f32::EPSILON || (best.start == start && sum >= best_sum) {
            (best, best_sum) = (start..end + 1, sum);
        }
    }
    let before = if best.start > 0 { "… " } else { "" };
    let after = if best.end < words.len() { " …" } else { "" };
    let middle = words[best].join(" ");
    // A single long word is cut at the limit.
    let middle: String = middle.chars().take(chars).collect();
    format!("{before}{middle}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        split(text).into_iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_of_a_paragraph_span_lines() {
        let text = "The pump is a machine that moves water from one\nplace to another. It has a motor, which needs service\nonce a year.\n\nNext paragraph.";
        assert_eq!(
            texts(text),
            [
                "The pump is a machine that moves water from one place to another.",
                "It has a motor, which needs service once a year.",
                "Next paragraph."
            ]
        );
    }

    #[test]
    fn abbreviations_and_numbers_do_not_end_sentences() {
        assert_eq!(
            texts("Acme Inc. sold 3.5 million units in the U.S. Market, see Fig. 3. J. Doe agreed."),
            ["Acme Inc. sold 3.5 million units in the U.S. Market, see Fig. 3.", "J. Doe agreed."]
        );
    }

    #[test]
    fn headings_items_and_rows_are_separate() {
        let text = "Maintenance\nCheck the oil:\n• every month\n• after each repair\n(a) by hand\nNet sales 1,000 2,000\nNet income $ 10 $ (20)\nThe end.";
        assert_eq!(
            texts(text),
            [
                "Maintenance",
                "Check the oil:",
                "• every month",
                "• after each repair",
                "(a) by hand",
                "Net sales 1,000 2,000",
                "Net income $ 10 $ (20)",
                "The end."
            ]
        );
    }

    #[test]
    fn rows_of_tables_keep_header_and_context() {
        let text =
            "Before.\n\n| (in millions) | 2024 |\n|---|---|\n| Assets: | |\n| Cash | 5 |\n| | — |\nAfter.";
        let found = split(text);
        let texts: Vec<&str> = found.iter().map(|sentence| sentence.text.as_str()).collect();
        assert_eq!(texts, ["Before.", "Assets:", "Cash 5", "After."]);
        let cash = &found[2];
        assert!(text[cash.at..].starts_with("| Cash"));
        let row = cash.row.as_ref().unwrap();
        assert_eq!(*row.header, ["(in millions)".to_owned(), "2024".into()]);
        assert_eq!(
            (row.cells.join("/"), &*row.caption, &*row.section),
            ("Cash/5".into(), "Before.", "Assets:")
        );
        assert_eq!(found[3].at, text.find("After").unwrap());
    }

    #[test]
    fn dots_between_label_and_entries_are_removed() {
        let found = split(
            "| | 2024 | 2023 |\n|---|---|---|\n| Cash ........ $5 | | $4 |\n| Debt . . . . | 7 | 6 |\n| Gas.... 2 | 3 | 4 |\n",
        );
        let rows: Vec<String> =
            found.iter().map(|sentence| sentence.row.as_ref().unwrap().cells.join("/")).collect();
        assert_eq!(rows, ["Cash/$5/$4", "Debt/7/6", "Gas 2/3/4"]);
        assert_eq!(found[0].text, "Cash $5 $4");
    }

    #[test]
    fn numbered_steps_in_a_line_are_items() {
        let found = split("To mount it: 1. Open the lid. 2. Turn the key. It was built in 2. The end.");
        let texts: Vec<&str> = found.iter().map(|sentence| sentence.text.as_str()).collect();
        assert_eq!(
            texts,
            ["To mount it:", "1. Open the lid.", "2. Turn the key.", "It was built in 2.", "The end."]
        );
        assert!(found[1].is_item && found[2].is_item && !found[3].is_item);
    }

    #[test]
    fn times_are_no_numbers_of_items() {
        assert_eq!(
            texts("Open until 12:00. Closed at 20:30. Come back at 8."),
            ["Open until 12:00.", "Closed at 20:30.", "Come back at 8."]
        );
    }

    #[test]
    fn cells_on_separate_lines_join_their_row() {
        assert_eq!(
            texts("Purchases of equipment\n(1,577)\n$\n(1,373)\nProceeds\n262\n"),
            ["Purchases of equipment (1,577) $ (1,373)", "Proceeds 262"]
        );
    }

    #[test]
    fn sentence_has_the_offset_of_its_line() {
        let text = "First line of the text, long enough to go on in the\nnext one. Second sentence.\nNote";
        let found = split(text);
        assert_eq!(found[1].text, "Second sentence.");
        assert_eq!(found[1].at, text.find("next one").unwrap());
    }

    #[test]
    fn blank_text_has_no_sentences() {
        assert_eq!(texts(""), [""; 0]);
        assert_eq!(texts(" \n … \n---\n"), [""; 0]);
    }

    #[test]
    fn excerpt_keeps_weighted_words_and_cuts_at_word_boundaries() {
        let long = format!("{} pump valve {}", "before ".repeat(40).trim(), "after ".repeat(40).trim());
        let weight = |word: &str| if word == "pump" || word == "valve" { 1.0 } else { 0.0 };
        let cut = excerpt(&long, 60, weight);
        assert!(cut.contains("pump valve") && cut.starts_with("… ") && cut.ends_with(" …"), "{cut}");
        assert!(cut.chars().count() <= 64);
        assert_eq!(excerpt("short", 60, weight), "short");
        assert!(excerpt(&"x".repeat(500), 60, weight).chars().count() <= 64);
    }
}
