//! What a question names, and which of the passages found for it mention that.

use super::choice::Candidate;
use super::numbered::{name_part, numbers};
use super::question::Intent;
use super::scope::PassageTerms;
use docent_domain::chunk::Position;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::{Analyzer, Name, Synonym, abbreviations, is_year, names, numbered};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// A document is about a name that this number of its passages have, or most of them.
const ABOUT_PASSAGES: usize = 2;
/// It is also about a name in the first bytes of its first page.
const COVER_BYTES: usize = 800;

/// What a question names, and the passages found for it.
pub(super) struct Mentions<'a> {
    found: &'a [&'a ScoredChunk],
    analyzer: Analyzer,
    /// The words that look like names.
    pub(super) names: Vec<Name>,
    identifiers: Vec<Name>,
    /// The numbered parts that a passage has, such as “Unit 14”.
    pub(super) parts: Vec<Name>,
    /// Those that no passage has.
    absent_parts: Vec<Name>,
}

impl<'a> Mentions<'a> {
    pub(super) fn of(
        question: &str,
        intent: &Intent,
        synonyms: &[Synonym<'_>],
        found: &'a [&'a ScoredChunk],
        analyzer: Analyzer,
    ) -> Self {
        let has = |part: &Name| found.iter().any(|chunk| has_part(chunk, part, analyzer));
        let (parts, absent_parts) = numbered(question, analyzer).into_iter().partition(has);
        let identifiers = identifiers(question, intent, synonyms, analyzer);
        Self { found, analyzer, names: names(question), identifiers, parts, absent_parts }
    }

    /// The names, years, abbreviations and numbers, which an answer must have.
    pub(super) fn required(&self) -> Vec<&Name> {
        self.names.iter().chain(&self.identifiers).collect()
    }

    /// The names, with the words of capital letters that these texts write as a name.
    pub(super) fn names_in(&self, texts: &str, question: &str) -> Vec<Name> {
        let is_name = |name: &Name| is_capitalised_in(texts, &name.word);
        self.names.iter().cloned().chain(abbreviations(question).into_iter().filter(is_name)).collect()
    }

    /// Whether the question names a numbered part that no passage has.
    pub(super) fn lacks_part(&self) -> bool {
        !self.absent_parts.is_empty()
    }

    /// Whether these terms are of such a part.
    pub(super) fn is_of_absent_part(&self, terms: &[String]) -> bool {
        self.absent_parts.iter().any(|part| terms.iter().all(|term| part.terms.contains(term)))
    }

    /// The words to search for once more: those of missing names and of absent parts.
    pub(super) fn lacking(&self, missing: &[&Name]) -> Vec<String> {
        words(missing.iter().copied().chain(&self.absent_parts))
    }

    /// Those of them that no document has.
    pub(super) fn unknown(&self, missing: &[&Name]) -> Vec<String> {
        let is_unknown =
            |name: &&Name| self.documents_with(name).is_empty() && !self.is_of_absent_part(&name.terms);
        words(missing.iter().copied().filter(is_unknown).chain(&self.absent_parts))
    }

    /// Returns the documents that are not meant, because others have a name of the question. A name anywhere in a document counts for all of its
    /// passages: it is added to their terms.
    pub(super) fn unrelated<'t>(
        &'t self,
        missing: &[&Name],
        passages: &mut [PassageTerms<'t>],
    ) -> HashSet<DocumentId> {
        let mut unrelated = HashSet::new();
        for name in self.required() {
            let documents = self.documents_with(name);
            let is_distinctive =
                missing.contains(&name) || (!documents.is_empty() && self.names.contains(name));
            for ((_, terms), chunk) in passages.iter_mut().zip(self.found) {
                if documents.contains(&chunk.document_id) {
                    terms.extend(name.terms.iter().map(String::as_str));
                } else if is_distinctive {
                    unrelated.insert(chunk.document_id);
                }
            }
        }
        unrelated
    }

    /// The words for what the question names and these candidates lack.
    pub(super) fn absent<'c>(&self, chosen: impl Iterator<Item = &'c Candidate<'c>> + Clone) -> Vec<String> {
        let has = |candidate: &Candidate<'_>, name: &Name| {
            candidate.has_all(&name.terms) || self.is_about(&candidate.passage.chunk.title, name)
        };
        let required = self.required().into_iter().filter(|name| {
            self.is_name(name)
                && !self.is_of_absent_part(&name.terms)
                && !chosen.clone().any(|candidate| has(candidate, name))
        });
        words(required.chain(&self.absent_parts))
    }

    /// Whether a word is a name: texts write others, such as “market”, in small letters too.
    fn is_name(&self, name: &Name) -> bool {
        let lower = name.word.to_lowercase();
        name.word.chars().all(char::is_alphanumeric)
            && (lower == name.word || !self.found.iter().any(|chunk| has_word(&chunk.text, &lower)))
    }

    /// Returns the documents with a name in any of their passages.
    fn documents_with(&self, name: &Name) -> HashSet<DocumentId> {
        let has = |chunk: &&&ScoredChunk| {
            let of = |text: &str| self.analyzer.terms(text);
            let terms: HashSet<String> = of(&chunk.title).into_iter().chain(of(&chunk.text)).collect();
            name.terms.iter().all(|term| terms.contains(term))
        };
        self.found.iter().filter(has).map(|chunk| chunk.document_id).collect()
    }

    /// Whether the document with a title is about what a name names: its title has the name, its cover, or passages found in it. A year that
    /// passages have says nothing of a quote without it.
    fn is_about(&self, title: &str, name: &Name) -> bool {
        let has = |text: &str| {
            let terms = self.analyzer.terms(text);
            name.terms.iter().all(|term| terms.contains(term))
        };
        let of_it = || self.found.iter().filter(|chunk| chunk.title == title);
        let is_in_passages = || {
            let with = of_it().filter(|chunk| has(&chunk.text)).count();
            with >= ABOUT_PASSAGES.min(of_it().count().div_ceil(2))
        };
        let is_on_cover = || {
            let first = |chunk: &&&ScoredChunk| chunk.span.start == (Position { page: 1, offset: 0 });
            let cover = |text: &str| has(&text[..text.floor_char_boundary(COVER_BYTES)]);
            of_it().find(first).is_some_and(|chunk| cover(&chunk.text))
        };
        title.to_lowercase().contains(&name.word.to_lowercase())
            || has_ticker(title, &name.word)
            || has(title)
            || !is_year(&name.word) && (is_in_passages() || is_on_cover())
    }
}

fn words<'n>(names: impl Iterator<Item = &'n Name>) -> Vec<String> {
    names.map(|name| name.word.clone()).collect()
}

/// Returns years, abbreviations and numbers of several digits, which an answer has like names.
fn identifiers(question: &str, intent: &Intent, synonyms: &[Synonym<'_>], analyzer: Analyzer) -> Vec<Name> {
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
fn is_capitalised_in(text: &str, word: &str) -> bool {
    let mut letters = word.chars();
    let capitalised: String =
        letters.next().into_iter().chain(letters.flat_map(char::to_lowercase)).collect();
    text.contains(&capitalised)
}

/// Whether a text has a word, with these letters.
fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|other| other == word)
}

/// Whether a passage or its title names a numbered part.
fn has_part(chunk: &ScoredChunk, part: &Name, analyzer: Analyzer) -> bool {
    [&chunk.text, &chunk.title].into_iter().any(|text| name_part(&analyzer.terms(text), part))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickers_are_letters_of_the_name() {
        assert!(has_ticker("2023 Q3 MSFT.pdf", "Microsoft") && has_ticker("AMZN", "Amazon"));
        assert!(!has_ticker("2023 Q3 MSFT.pdf", "Amazon") && !has_ticker("Terms", "Terms and More"));
    }
}
