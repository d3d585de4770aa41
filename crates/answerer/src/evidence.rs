//! Divides passages into units, which can be shown alone.

use docent_domain::retrieval::ScoredChunk;
use docent_text::sentences::{self, Row, Sentence};
use std::ops::Range;

/// Longer lines are no headings.
const HEADING_WORDS: usize = 12;
/// Longer lines are no items of a list without marks.
const LINE_WORDS: usize = 25;
/// Maximum number of characters around a sentence that are shown with it.
const AROUND_CHARS: usize = 420;

/// The form of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A sentence; the others of its paragraph are shown with it.
    Sentence,
    /// The items of a list, with the sentence that introduces them.
    List,
    /// A row of a table.
    Row,
}

/// A part of a passage that can be shown alone.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) form: Form,
    /// Its sentences, items or row, as indexes of the passage's sentences.
    pub(crate) own: Range<usize>,
    /// What is shown: of a sentence its paragraph and of a list what introduces it, as far as they fit.
    pub(crate) shown: Range<usize>,
    /// The heading above it; empty without one.
    pub(crate) heading: String,
    /// Its page, counted from 1.
    pub(crate) page: u32,
}

impl Unit {
    /// The sentences before a list that introduce it; empty for other units.
    pub(crate) fn introduction(&self) -> Range<usize> {
        let start = if self.form == Form::List { self.shown.start } else { self.own.start };
        start..self.own.start
    }
}

/// A passage with its units.
pub(crate) struct Passage<'a> {
    pub(crate) chunk: &'a ScoredChunk,
    pub(crate) sentences: Vec<Sentence>,
    pub(crate) units: Vec<Unit>,
}

impl<'a> Passage<'a> {
    pub(crate) fn read(chunk: &'a ScoredChunk) -> Self {
        let sentences = sentences::split(&chunk.text);
        let units = units(chunk, &sentences);
        Self { chunk, sentences, units }
    }

    /// The text of a unit, of a list with what introduces it.
    pub(crate) fn text(&self, unit: &Unit) -> String {
        let sentences = unit.introduction().chain(unit.own.clone());
        sentences.map(|index| self.sentences[index].text.as_str()).collect::<Vec<_>>().join("\n")
    }

    /// The text of a unit by which it is found: of a row with the heads of its columns.
    pub(crate) fn own_text(&self, unit: &Unit) -> String {
        let head = self.row(unit).into_iter().flat_map(|row| row.header.iter()).map(String::as_str);
        head.chain([&*self.text(unit)]).collect::<Vec<_>>().join("\n")
    }

    /// The text that says what a unit is about: its heading, the head of its table, its paragraph.
    pub(crate) fn context(&self, unit: &Unit) -> String {
        let mut texts = vec![unit.heading.as_str()];
        if let Some(row) = self.row(unit) {
            texts.extend(row.header.iter().map(String::as_str).chain([&*row.caption, &*row.section]));
        }
        texts.extend(self.sentences[unit.shown.clone()].iter().map(|sentence| sentence.text.as_str()));
        texts.join("\n")
    }

    pub(crate) fn row(&self, unit: &Unit) -> Option<&Row> {
        self.sentences.get(unit.own.start)?.row.as_ref()
    }
}

fn units(chunk: &ScoredChunk, sentences: &[Sentence]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut heading = chunk.headings.lines().last().unwrap_or_default().to_owned();
    let mut index = 0;
    while index < sentences.len() {
        let sentence = &sentences[index];
        if is_heading(sentence, sentences.get(index + 1)) {
            sentence.text.trim_start_matches(['#', ' ']).clone_into(&mut heading);
            index += 1;
            continue;
        }
        // Lines of a table of contents lead to what answers, and figures alone say nothing.
        if is_leader(sentence) || !sentence.text.contains(char::is_alphabetic) {
            index += 1;
            continue;
        }
        let end = end_of_block(chunk, sentences, index);
        let unit = |form, own: Range<usize>, shown: Range<usize>| {
            let page = page_of(chunk, sentences[own.start].at);
            Unit { form, own, shown, heading: heading.clone(), page }
        };
        if sentence.row.is_some() {
            units.push(unit(Form::Row, index..index + 1, index..index + 1));
            index += 1;
        } else if sentence.is_item {
            let is_introduced = index > 0 && introduces(&sentences[index - 1]);
            units.push(unit(Form::List, index..end, index - usize::from(is_introduced)..end));
            index = end;
        } else {
            let list = announced(chunk, sentences, end);
            // What announces a list is shown with it, and the text before as far as it fits.
            let text = index..list.as_ref().map_or(end, |_| around(sentences, index..end, end - 1).start);
            for own in text.clone() {
                // A question does not answer one.
                if !sentences[own].text.ends_with('?') {
                    units.push(unit(Form::Sentence, own..own + 1, around(sentences, text.clone(), own)));
                }
            }
            index = end;
            if let Some(items) = list {
                index = items.end;
                units.push(unit(Form::List, items.clone(), text.end..items.end));
            }
        }
    }
    units
}

/// The end of the items or of the paragraph that begins here.
fn end_of_block(chunk: &ScoredChunk, sentences: &[Sentence], start: usize) -> usize {
    let first = &sentences[start];
    let continues = |index: &usize| {
        let (before, next) = (&sentences[index - 1], &sentences[*index]);
        let is_apart = chunk.text.get(before.at..next.at).is_some_and(|text| text.contains("\n\n"));
        next.row.is_none()
            && next.is_item == first.is_item
            && (if first.is_item { is_numbered(first) == is_numbered(next) } else { !is_apart })
            && !is_heading(next, sentences.get(index + 1))
    };
    (start + 1..sentences.len()).take_while(continues).last().map_or(start + 1, |last| last + 1)
}

/// The list that a paragraph with this end announces: items, or several short lines.
fn announced(chunk: &ScoredChunk, sentences: &[Sentence], end: usize) -> Option<Range<usize>> {
    let first = sentences.get(end).filter(|_| sentences[end - 1].text.ends_with(':'))?;
    let end_of_list =
        if first.is_item { end_of_block(chunk, sentences, end) } else { end_of_lines(sentences, end) };
    (first.is_item || end_of_list > end + 1).then_some(end..end_of_list)
}

/// The end of the short lines that begin here, which are a list without marks if the text before announces one.
fn end_of_lines(sentences: &[Sentence], start: usize) -> usize {
    let is_line = |index: &usize| {
        let (line, next) = (&sentences[*index], sentences.get(index + 1));
        line.row.is_none()
            && !line.is_item
            && next.is_none_or(|next| next.at > line.at)
            && line.text.split(' ').count() <= LINE_WORDS
            // The line above a table is its title.
            && next.is_none_or(|next| next.row.is_none())
    };
    (start..sentences.len()).take_while(is_line).last().map_or(start, |last| last + 1)
}

/// Whether an item has a number instead of a bullet.
fn is_numbered(item: &Sentence) -> bool {
    item.text.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit())
}

/// The sentences of a paragraph that are shown with one of them: as many after it and then before it as fit.
fn around(sentences: &[Sentence], block: Range<usize>, own: usize) -> Range<usize> {
    let chars = |index: usize| sentences[index].text.chars().count();
    let (mut shown, mut size) = (own..own + 1, chars(own));
    while shown.end < block.end && size + chars(shown.end) <= AROUND_CHARS {
        size += chars(shown.end);
        shown.end += 1;
    }
    while shown.start > block.start && size + chars(shown.start - 1) <= AROUND_CHARS {
        shown.start -= 1;
        size += chars(shown.start);
    }
    shown
}

/// Whether a sentence introduces the items after it.
fn introduces(sentence: &Sentence) -> bool {
    sentence.row.is_none() && !sentence.is_item
}

/// Whether a line is a heading: short, without the end of a sentence, and alone on its line. A question above its answer is one
/// too.
pub(crate) fn is_heading(sentence: &Sentence, next: Option<&Sentence>) -> bool {
    let text = &sentence.text;
    let is_alone = next.is_none_or(|next| next.at > sentence.at);
    // The number of a heading is followed by its text, that of an item by the next item.
    let is_item = sentence.is_item && !(is_numbered(sentence) && next.is_some_and(|next| !next.is_item));
    sentence.row.is_none()
        && !is_item
        && is_alone
        && next.is_some()
        && text.split(' ').count() <= HEADING_WORDS
        && !text.ends_with(['.', '!', ':', ';', ','])
        && text.contains(char::is_alphabetic)
        && !text.starts_with(char::is_lowercase)
}

/// Whether a line belongs to a table of contents: it has dots, or is a row of a numbered heading and a page. A row that begins with
/// a quantity, such as “2 persons”, is none.
fn is_leader(sentence: &Sentence) -> bool {
    let is_heading = |cell: &str| {
        cell.split_once(' ').is_some_and(|(number, text)| {
            number.contains('.')
                && number.chars().all(|c| c.is_ascii_digit() || c == '.')
                && text.starts_with(char::is_uppercase)
        })
    };
    let is_page = |cell: &str| (1..=4).contains(&cell.len()) && cell.bytes().all(|it| it.is_ascii_digit());
    let is_entry = |cells: &[String]| matches!(cells, [text, page] if is_heading(text) && is_page(page));
    sentence.text.contains(". . .")
        || sentence.text.contains("....")
        || sentence.row.as_ref().is_some_and(|row| is_entry(&row.cells))
}

fn page_of(chunk: &ScoredChunk, at: usize) -> u32 {
    let before = chunk.pages.iter().take_while(|page| page.at as usize <= at);
    before.last().map_or(chunk.span.start.page, |page| page.page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::found;

    #[test]
    fn paragraph_that_announces_a_list_is_a_part_of_it() {
        let own = |text: &str| {
            let chunk = found(1, 0, text);
            let passage = Passage::read(&chunk);
            passage.units.iter().map(|unit| (unit.form, passage.own_text(unit))).collect::<Vec<_>>()
        };
        let text = "Some things are not covered by the plan. They include:\n• food\n• travel\n\nAsk us.";
        let list = "Some things are not covered by the plan.\nThey include:\n• food\n• travel";
        assert_eq!(own(text), [(Form::List, list.to_owned()), (Form::Sentence, "Ask us.".to_owned())]);
        let long = "The plan has rules. ".repeat(30);
        let units = own(&format!("{long}They include:\n• food\n• travel"));
        let [rest @ .., (Form::List, list)] = &units[..] else { panic!("{units:?}") };
        assert!(rest.iter().all(|(form, _)| *form == Form::Sentence) && !rest.is_empty(), "{units:?}");
        assert!(list.chars().count() < 2 * AROUND_CHARS, "{list}");
    }

    #[test]
    fn units_have_what_makes_them_readable() {
        let chunk = found(
            1,
            0,
            "What is not covered?\n\nThese are excluded:\n• food\n• travel\n\nPrices\n\n| Item | Price |\n|---|---|\n| Pump | 5 |\n\n\
             A pump moves water from one place to the other. It needs service once a year.",
        );
        let passage = Passage::read(&chunk);
        let of = |form| passage.units.iter().filter(|unit| unit.form == form).collect::<Vec<_>>();
        let [list] = of(Form::List)[..] else { panic!("{:?}", passage.units) };
        assert_eq!(passage.text(list), "These are excluded:\n• food\n• travel");
        assert_eq!(list.heading, "What is not covered?");
        let [row] = of(Form::Row)[..] else { panic!("{:?}", passage.units) };
        assert_eq!(passage.own_text(row), "Item\nPrice\nPump 5");
        assert!(passage.context(row).contains("Prices") && passage.context(row).contains("Item"));
        let sentences = of(Form::Sentence);
        let last = sentences.last().unwrap();
        assert_eq!(last.shown.len(), 2);
        assert_eq!(passage.own_text(last), "It needs service once a year.");
    }
}
