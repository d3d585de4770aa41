//! Writes quotes of units as Markdown, whole and with what makes them readable.

use crate::choice::Rated;
use crate::evidence::{Form, Unit};
use crate::question::Question;
use crate::words::Phrases;
use docent_text::sentences::{excerpt, without_bullet};
use docent_text::table;
use std::collections::HashSet;

/// Longer quotes of running text are cut.
const TEXT_CHARS: usize = 420;
/// The same for further quotes.
const BRIEF_CHARS: usize = 200;
/// Longer lists are cut, unless all is asked for.
const ITEMS: usize = 12;
/// Longer cells are cut.
const CELL_CHARS: usize = 200;

/// Writes a unit with its heading and its source. `is_whole` shows all items of a list.
pub(crate) fn write(rated: &Rated<'_>, question: &Question<'_>, is_whole: bool) -> String {
    let phrases = &question.words.phrases;
    let described = &rated.described;
    let (passage, unit) = (described.passage, described.unit);
    let source = source(&passage.chunk.title, unit.page, phrases);
    let heading = (!unit.heading.is_empty()).then(|| format!("**{}**", clean(&unit.heading)));
    let body = match unit.form {
        Form::Sentence => {
            let sentences = &passage.sentences[unit.shown.clone()];
            let texts: Vec<String> = sentences
                .iter()
                .enumerate()
                .map(|(at, sentence)| {
                    let is_own = unit.shown.start + at == unit.own.start;
                    let text = excerpt(&sentence.text, TEXT_CHARS, |word| weight(question, word));
                    if is_own { with_bold_value(&clean(&text), unit, question) } else { clean(&text) }
                })
                .collect();
            format!("“{}” {source}", texts.join(" "))
        }
        Form::List => {
            let introduction: Vec<String> = passage.sentences[unit.introduction()]
                .iter()
                .map(|sentence| clean(sentence.text.trim_start_matches(['#', ' '])))
                // A heading is shown above.
                .filter(|text| *text != clean(&unit.heading))
                .collect();
            let introduction = (!introduction.is_empty()).then(|| format!("“{}”", introduction.join(" ")));
            let items: Vec<&str> =
                passage.sentences[unit.own.clone()].iter().map(|item| item.text.as_str()).collect();
            let (shown, note) = shown_items(&items, question, is_whole);
            let lines: Vec<String> = shown
                .iter()
                .map(|item| format!("- {}", with_bold_value(&clean(without_bullet(item)), unit, question)))
                .collect();
            let parts = introduction.into_iter().chain([lines.join("\n")]).chain(note).chain([source]);
            parts.collect::<Vec<_>>().join("\n\n")
        }
        Form::Row => {
            let mut rows: Vec<usize> = rated.rows.iter().copied().chain([unit.own.start]).collect();
            rows.sort_unstable();
            [rows_of(rated, &rows, question), source].join("\n\n")
        }
    };
    heading.into_iter().chain([body]).collect::<Vec<_>>().join("\n\n")
}

/// Writes a unit in a line.
pub(crate) fn write_briefly(rated: &Rated<'_>, question: &Question<'_>) -> String {
    let described = &rated.described;
    let text = described.passage.text(described.unit).replace('\n', " ");
    let text = clean(&excerpt(&text, BRIEF_CHARS, |word| weight(question, word)));
    let source = source(&described.passage.chunk.title, described.unit.page, &question.words.phrases);
    format!("- “{text}” {source}")
}

/// The source of a quote. The web chat links it, and evaluations look for it.
pub(crate) fn source(title: &str, page: u32, phrases: &Phrases) -> String {
    format!("({title}, {} {page})", phrases.page)
}

/// The items of a list that are shown, and what is said if they are not all: those with words of the question come first.
fn shown_items<'i>(
    items: &[&'i str],
    question: &Question<'_>,
    is_whole: bool,
) -> (Vec<&'i str>, Option<String>) {
    if items.len() <= ITEMS || is_whole {
        return (items.to_vec(), None);
    }
    let has_term =
        |item: &str| question.analyzer.terms(item).iter().any(|term| question.terms.contains(term));
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|at| !has_term(items[*at]));
    order.truncate(ITEMS);
    order.sort_unstable();
    let note = question.words.phrases.cut.replace("{shown}", &ITEMS.to_string());
    (order.into_iter().map(|at| items[at]).collect(), Some(note.replace("{all}", &items.len().to_string())))
}

/// Rows of a table below its head, without columns in which they have nothing. Of the best row, the value below a name, year or
/// figure of the question is bold.
fn rows_of(rated: &Rated<'_>, rows: &[usize], question: &Question<'_>) -> String {
    let sentences = &rated.described.passage.sentences;
    let rows: Vec<_> = rows.iter().filter_map(|at| sentences[*at].row.as_ref()).collect();
    let Some(first) = rows.first() else { return String::new() };
    let is_filled = |column: &usize| rows.iter().any(|row| !row.cells[*column].is_empty());
    let columns: Vec<usize> = (0..first.header.len()).filter(is_filled).collect();
    let is_asked = |column: usize| {
        column > 0
            && question.analyzer.terms(&first.header[column]).iter().any(|term| question.names.contains(term))
    };
    let own = sentences[rated.described.unit.own.start].row.as_ref();
    let line = |cells: &[String]| {
        let is_best = own.is_some_and(|row| row.cells == cells);
        let shown = |column: &usize| {
            let cell = &cells[*column];
            let end = cell.char_indices().nth(CELL_CHARS).map_or(cell.len(), |(end, _)| end);
            let is_bold = is_best && end > 0 && is_asked(*column);
            if is_bold { format!("**{}**", &cell[..end]) } else { cell[..end].to_owned() }
        };
        let shown: Vec<String> = columns.iter().map(shown).collect();
        table::row(shown.iter().map(String::as_str))
    };
    // The caption ends with the heading, which stands above the quote, or is all there is of one.
    let caption = if rated.described.unit.heading.is_empty() { &*first.caption } else { "" };
    let above: Vec<&str> = [caption, &*first.section].into_iter().filter(|text| !text.is_empty()).collect();
    let mut lines = vec![line(&first.header), table::delimiter(columns.len())];
    lines.extend(rows.iter().map(|row| line(&row.cells)));
    let above = (!above.is_empty()).then(|| above.join(": "));
    above.into_iter().chain([lines.join("\n")]).collect::<Vec<_>>().join("\n\n")
}

/// A text without characters that end a quotation or make text bold.
fn clean(text: &str) -> String {
    text.replace(['“', '”', '"'], "'").replace('*', "")
}

/// A text of a unit with the value that the question asks for in bold.
fn with_bold_value(text: &str, unit: &Unit, question: &Question<'_>) -> String {
    let found = question.value_kind().and_then(|kind| question.value(kind, text, &unit.heading));
    match found {
        Some(at) if !text[at.clone()].trim().is_empty() => {
            // The number of an amount may go on before or after what was found.
            let start = text[..at.start].rfind(char::is_whitespace).map_or(0, |before| before + 1);
            let end = at.end + text[at.end..].find(char::is_whitespace).unwrap_or(text.len() - at.end);
            let end = start + text[start..end].trim_end_matches(['.', ',', ';', ':', '!', '?']).len();
            format!("{}**{}**{}", &text[..start], &text[start..end], &text[end..])
        }
        _ => text.to_owned(),
    }
}

fn weight(question: &Question<'_>, word: &str) -> f32 {
    let terms: HashSet<String> = question.analyzer.terms(word).into_iter().collect();
    f32::from(u8::from(question.terms.iter().any(|term| terms.contains(term))))
}
