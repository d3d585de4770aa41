//! Where the passages found for a question mention its names.

use super::numbered::numbers;
use super::question::Intent;
use crate::builtin::lexical::{Analyzer, Name, Synonym, abbreviations, is_year};
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use std::collections::HashSet;

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

/// Whether a passage has the terms of a name next to each other.
pub(super) fn has_adjacent(chunk: &ScoredChunk, name: &Name, analyzer: Analyzer) -> bool {
    let has = |text: &str| analyzer.terms(text).windows(name.terms.len()).any(|terms| terms == name.terms);
    has(&chunk.text) || has(&chunk.title)
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

/// A document is about a name that this number of its passages have, or most of them.
const ABOUT_PASSAGES: usize = 2;

/// Whether the document with a title is about what a name names: its title has the name, or passages found in it. A year that passages have
/// says nothing of a quote without it.
pub(super) fn is_about(title: &str, name: &Name, found: &[&ScoredChunk], analyzer: Analyzer) -> bool {
    let has = |text: &str| {
        let terms = analyzer.terms(text);
        name.terms.iter().all(|term| terms.contains(term))
    };
    let passages: Vec<bool> =
        found.iter().filter(|chunk| chunk.title == title).map(|chunk| has(&chunk.text)).collect();
    let with = passages.iter().filter(|has| **has).count();
    let is_in_title = || title.to_lowercase().contains(&name.word.to_lowercase());
    is_in_title()
        || has(title)
        || !is_year(&name.word) && with >= ABOUT_PASSAGES.min(passages.len().div_ceil(2))
}
