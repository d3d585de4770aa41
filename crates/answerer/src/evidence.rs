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
    /// What is shown: its paragraph as far as it fits, and otherwise the same.
    pub(crate) shown: Range<usize>,
    /// The heading above it; empty without one.
    pub(crate) heading: String,
    /// The sentence before a list that introduces it.
    pub(crate) introduction: Option<usize>,
    /// Its page, counted from 1.
    pub(crate) page: u32,
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

    /// The text of a unit by which it is found: of a row with the heads of its columns.
    pub(crate) fn own_text(&self, unit: &Unit) -> String {
        let introduction = unit.introduction.map(|index| self.sentences[index].text.as_str());
        let texts = self.sentences[unit.own.clone()].iter().map(|sentence| sentence.text.as_str());
        introduction.into_iter().chain(texts).collect::<Vec<_>>().join("\n")
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
        if is_leader(&sentence.text) || !sentence.text.contains(char::is_alphabetic) {
            index += 1;
            continue;
        }
        let end = end_of_block(chunk, sentences, index);
        let unit = |form, own: Range<usize>, shown, introduction| {
            let page = page_of(chunk, sentences[own.start].at);
            Unit { form, own, shown, heading: heading.clone(), introduction, page }
        };
        if sentence.row.is_some() {
            units.push(unit(Form::Row, index..index + 1, index..index + 1, None));
            index += 1;
        } else if sentence.is_item {
            let before = index.checked_sub(1).filter(|before| introduces(&sentences[*before]));
            units.push(unit(Form::List, index..end, before.unwrap_or(index)..end, before));
            index = end;
        } else {
            let items = end..end_of_lines(sentences, end);
            let announces = sentences[end - 1].text.ends_with(':')
                && (items.len() > 1 || sentences.get(end).is_some_and(|next| next.is_item));
            // What announces a list is shown with it.
            for own in index..end - usize::from(announces) {
                // A question does not answer one.
                if sentences[own].text.ends_with('?') {
                    continue;
                }
                units.push(unit(Form::Sentence, own..own + 1, around(sentences, index..end, own), None));
            }
            index = end;
            if announces && items.len() > 1 {
                let before = end - 1;
                units.push(unit(Form::List, items.clone(), before..items.end, Some(before)));
                index = items.end;
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

/// Whether a line belongs to a table of contents.
fn is_leader(text: &str) -> bool {
    text.contains(". . .") || text.contains("....")
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
        assert_eq!(passage.own_text(list), "These are excluded:\n• food\n• travel");
        assert_eq!(list.heading, "What is not covered?");
        let [row] = of(Form::Row)[..] else { panic!("{:?}", passage.units) };
        assert!(passage.context(row).contains("Prices") && passage.context(row).contains("Item"));
        let sentences = of(Form::Sentence);
        let last = sentences.last().unwrap();
        assert_eq!(last.shown.len(), 2);
        assert_eq!(passage.own_text(last), "It needs service once a year.");
    }
}
