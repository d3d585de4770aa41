//! Where the passages found for a question mention its names.

use super::numbered::{name_part, numbers};
use super::question::Intent;
use crate::builtin::lexical::{Analyzer, Name, Synonym, abbreviations, is_year};
use docent_domain::chunk::Position;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Returns years, abbreviations and numbers of several digits, which an answer has like names.
pub(super) fn identifiers(
    question: &str,
    intent: &Intent,
    synonyms: &[Synonym<'_>],
    analyzer: Analyzer,
) -> Vec<Name> {
    let mut years: Vec<&String> = intent.years.iter().collect();
    years.sort_unstable();
    let years = years.into_iter().map(|year| Name { word: year.clone(), terms: vec![year.clone()] });
    let is_written_out = |name: &Name| {
        synonyms.iter().any(|synonym| name.terms.iter().all(|term| synonym.phrase.contains(term)))
    };
    let abbreviations = abbreviations(question).into_iter().filter(|name| !is_written_out(name));
    let numbers = numbers(question, analyzer).into_iter();
    let numbers = numbers.map(|number| Name { word: number.to_owned(), terms: vec![number.to_owned()] });
    years.chain(abbreviations).chain(numbers).collect()
}

/// Whether a text has a word of capital letters as a name with one.
pub(super) fn is_capitalised_in(text: &str, word: &str) -> bool {
    let mut letters = word.chars();
    let capitalised: String =
        letters.next().into_iter().chain(letters.flat_map(char::to_lowercase)).collect();
    text.contains(&capitalised)
}

/// Whether a text has a word, with these letters.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|other| other == word)
}

/// Whether a passage or its title names a numbered part.
pub(super) fn has_part(chunk: &ScoredChunk, part: &Name, analyzer: Analyzer) -> bool {
    [&chunk.text, &chunk.title].into_iter().any(|text| name_part(&analyzer.terms(text), part))
}

/// Returns the documents with a name in any of their passages.
pub(super) fn documents_with(name: &Name, found: &[&ScoredChunk], analyzer: Analyzer) -> HashSet<DocumentId> {
    let has = |chunk: &&&ScoredChunk| {
        let terms: HashSet<String> =
            analyzer.terms(&chunk.title).into_iter().chain(analyzer.terms(&chunk.text)).collect();
        name.terms.iter().all(|term| terms.contains(term))
    };
    found.iter().filter(has).map(|chunk| chunk.document_id).collect()
}

/// Letters of the symbol of a company on a stock exchange, such as “MSFT”.
const TICKER_LETTERS: RangeInclusive<usize> = 3..=5;

/// Whether a title has a ticker of a name: some of its letters in their order, the first one too.
fn has_ticker(title: &str, name: &str) -> bool {
    let name = name.to_uppercase();
    let is_of = |word: &str| {
        let mut letters = name.chars();
        word.chars().all(|letter| letters.any(|other| other == letter))
    };
    title.split(|c: char| !c.is_alphanumeric()).any(|word| {
        TICKER_LETTERS.contains(&word.len())
            && word.chars().all(|c| c.is_ascii_uppercase())
            && name.starts_with(&word[..1])
            && is_of(word)
    })
}

/// A document is about a name that this number of its passages have, or most of them.
const ABOUT_PASSAGES: usize = 2;
/// It is also about a name in the first bytes of its first page.
const COVER_BYTES: usize = 800;

/// Whether the document with a title is about what a name names: its title has the name, its cover, or passages found in it. A year that passages
/// have says nothing of a quote without it.
pub(super) fn is_about(title: &str, name: &Name, found: &[&ScoredChunk], analyzer: Analyzer) -> bool {
    let has = |text: &str| {
        let terms = analyzer.terms(text);
        name.terms.iter().all(|term| terms.contains(term))
    };
    let passages: Vec<bool> =
        found.iter().filter(|chunk| chunk.title == title).map(|chunk| has(&chunk.text)).collect();
    let with = passages.iter().filter(|has| **has).count();
    let is_in_title =
        || title.to_lowercase().contains(&name.word.to_lowercase()) || has_ticker(title, &name.word);
    let is_on_cover = || {
        let first = |chunk: &&&ScoredChunk| {
            chunk.title == title && chunk.span.start == (Position { page: 1, offset: 0 })
        };
        let cover = |text: &str| has(&text[..text.floor_char_boundary(COVER_BYTES)]);
        found.iter().find(first).is_some_and(|chunk| cover(&chunk.text))
    };
    is_in_title()
        || has(title)
        || !is_year(&name.word) && (with >= ABOUT_PASSAGES.min(passages.len().div_ceil(2)) || is_on_cover())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickers_are_letters_of_the_name() {
        assert!(has_ticker("2023 Q3 MSFT.pdf", "Microsoft") && has_ticker("AMZN", "Amazon"));
        assert!(!has_ticker("2023 Q3 MSFT.pdf", "Amazon") && !has_ticker("Terms", "Terms and More"));
    }
}
