//! Words that documents use for words of a question.

use super::Analyzer;
use super::language::Language;
use super::tokens;
use std::collections::HashSet;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use thiserror::Error;

/// A phrase of a question as stems.
type Phrase = Vec<String>;

/// Phrases of questions with the terms that are searched for as well. English only.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    entries: Arc<[Entry]>,
}

#[derive(Clone, Debug)]
struct Entry {
    phrases: Vec<Phrase>,
    parts: Vec<Part>,
}

/// What documents say for a phrase, or for a part of what it is calculated from: one of some alternatives.
pub(in crate::builtin) type Part = Vec<Alternative>;

/// Words in documents.
#[derive(Clone, Debug)]
pub(in crate::builtin) struct Alternative {
    pub(in crate::builtin) words: String,
    pub(in crate::builtin) terms: Vec<String>,
}

impl Alternative {
    fn is_in(&self, has: impl Fn(&str) -> bool) -> bool {
        let missing = self.terms.iter().filter(|term| !has(term)).count();
        missing <= usize::from(self.terms.len() >= LONG_ALTERNATIVE)
    }
}

/// A phrase of a question and what documents say instead.
#[derive(Clone, Copy, Debug)]
pub(in crate::builtin) struct Synonym<'a> {
    /// The terms of the phrase.
    pub(in crate::builtin) phrase: &'a [String],
    parts: &'a [Part],
}

/// An alternative with at least this many terms may lack one of them.
const LONG_ALTERNATIVE: usize = 5;

impl<'a> Synonym<'a> {
    /// Whether a text with these terms has one of the alternatives of each part.
    pub(in crate::builtin) fn is_in(&self, has: impl Fn(&str) -> bool) -> bool {
        self.parts.iter().all(|part| part.iter().any(|alternative| alternative.is_in(&has)))
    }

    /// Whether a text with these terms has one of the alternatives of a part.
    pub(in crate::builtin) fn has_part_in(&self, has: impl Fn(&str) -> bool) -> bool {
        self.parts.iter().flatten().any(|alternative| alternative.is_in(&has))
    }

    /// Whether documents have the parts from which the phrase is calculated.
    pub(in crate::builtin) fn is_calculation(&self) -> bool {
        self.parts.len() > 1
    }

    /// Its parts; one unless it is calculated.
    pub(in crate::builtin) fn parts(&self) -> &'a [Part] {
        self.parts
    }
}

/// A line of a lexicon that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected \"phrase, phrase = words; words\" or \"phrase = words + words\"")]
pub struct InvalidLexicon {
    /// Its number, counted from 1.
    pub line: usize,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
static BUILTIN: LazyLock<Lexicon> =
    LazyLock::new(|| include_str!("lexicon.txt").parse().expect("a valid built-in lexicon"));

impl Lexicon {
    /// The lexicon that is part of the program: abbreviations and terms of business reports and manuals.
    pub fn builtin() -> Self {
        BUILTIN.clone()
    }

    /// This lexicon with the entries of another.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { entries: self.entries.iter().chain(other.entries.iter()).cloned().collect() }
    }

    /// The words of documents that have “and”, such as “research and development”.
    pub(in crate::builtin) fn words_with_and(&self) -> impl Iterator<Item = &str> {
        let alternatives = self.entries.iter().flat_map(|entry| entry.parts.iter().flatten());
        alternatives.map(|alternative| alternative.words.as_str()).filter(|words| words.contains(" and "))
    }

    /// The phrases in runs of a question's words. A phrase within a longer one does not count.
    pub(super) fn synonyms(&self, runs: &[Vec<String>]) -> Vec<Synonym<'_>> {
        let mut synonyms = Vec::new();
        for run in runs {
            let stems: Vec<String> = run.iter().map(|word| Language::English.stem(word)).collect();
            let found: Vec<(usize, Synonym<'_>)> =
                self.entries.iter().flat_map(|entry| entry.places(&stems)).collect();
            let is_longest = |(at, synonym): &&(usize, Synonym<'_>)| {
                let end = at + synonym.phrase.len();
                !found.iter().any(|(from, other)| {
                    let size = other.phrase.len();
                    size > synonym.phrase.len() && from <= at && end <= from + size
                })
            };
            synonyms.extend(found.iter().filter(is_longest).map(|(_, synonym)| *synonym));
        }
        synonyms
    }

    /// The distinct terms of all alternatives for the phrases in a question; of the parts of a calculation, the first ones only,
    /// because their other names would outweigh the question.
    pub(super) fn expansions(&self, runs: &[Vec<String>]) -> HashSet<&str> {
        let alternatives = self.synonyms(runs).into_iter().flat_map(|synonym| {
            let of_each = if synonym.is_calculation() { 1 } else { usize::MAX };
            synonym.parts.iter().flat_map(move |part| part.iter().take(of_each))
        });
        alternatives.flat_map(|alternative| &alternative.terms).map(String::as_str).collect()
    }
}

impl Entry {
    /// Its phrases among the stems, with their positions.
    fn places(&self, stems: &[String]) -> impl Iterator<Item = (usize, Synonym<'_>)> {
        self.phrases.iter().flat_map(move |phrase| {
            let windows = stems.windows(phrase.len()).enumerate();
            windows
                .filter(move |(_, window)| *window == phrase.as_slice())
                .map(move |(at, _)| (at, Synonym { phrase, parts: &self.parts }))
        })
    }
}

impl FromStr for Lexicon {
    type Err = InvalidLexicon;

    /// Reads lines of `phrase, phrase = words; words`, or `phrase = words + words` for what is calculated from parts. The rest of
    /// a line after `#` is a comment.
    fn from_str(text: &str) -> Result<Self, InvalidLexicon> {
        let mut entries = Vec::new();
        for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let content = content.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let invalid = InvalidLexicon { line };
            let (phrases, words) = content.split_once('=').ok_or(invalid)?;
            let stems = |phrase: &str| -> Phrase {
                tokens::words(phrase).iter().map(|word| Language::English.stem(word)).collect()
            };
            let phrases: Vec<Phrase> = phrases.split(',').map(stems).collect();
            let english = Analyzer { language: Language::English };
            let alternative = |words: &str| {
                let parts = tokens::words(words);
                let terms = parts.iter().flat_map(|word| english.terms_of_word(word)).collect();
                Alternative { words: words.trim().to_owned(), terms: super::distinct(terms) }
            };
            let part = |words: &str| words.split(';').map(alternative).collect();
            let entry = Entry { phrases, parts: words.split('+').map(part).collect() };
            let mut terms = entry.parts.iter().flatten().map(|alternative| &alternative.terms);
            if terms.any(Vec::is_empty) || entry.phrases.iter().any(Vec::is_empty) {
                return Err(invalid);
            }
            entries.push(entry);
        }
        Ok(Self { entries: entries.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(lexicon: &Lexicon, question: &str) -> Vec<String> {
        let mut terms: Vec<String> =
            lexicon.expansions(&[tokens::words(question)]).into_iter().map(str::to_owned).collect();
        terms.sort();
        terms
    }

    #[test]
    fn builtin_lexicon_is_valid() {
        let lexicon = Lexicon::builtin();
        assert!(lexicon.entries.len() > 40);
        assert_eq!(
            expanded(&lexicon, "what is the capex"),
            ["capit", "equip", "expenditur", "plant", "properti", "purchas"]
        );
    }

    #[test]
    fn longest_phrase_counts_in_singular_and_plural() {
        let lexicon: Lexicon =
            "turnover = sales # income\n\nasset turnover = assets\nR&D, lab = research".parse().unwrap();
        assert_eq!(expanded(&lexicon, "asset turnovers"), ["asset"]);
        assert_eq!(expanded(&lexicon, "turnover of R&D labs"), ["research", "sale"]);
        assert_eq!(expanded(&lexicon, "nothing"), [""; 0]);
    }

    #[test]
    fn alternative_is_in_a_text_with_its_terms() {
        let lexicon: Lexicon =
            "capex = capital spending; purchases of new property, plant and equipment".parse().unwrap();
        let runs = [tokens::words("the capex of 2018")];
        let [synonym] = lexicon.synonyms(&runs)[..] else { panic!() };
        assert_eq!(synonym.phrase, ["capex"]);
        let is_in = |text: &str| {
            let terms = Analyzer::of("").terms(text);
            synonym.is_in(|term| terms.iter().any(|other| other == term))
        };
        assert!(is_in("Capital spending was high") && is_in("Purchases of new property and equipment"));
        assert!(!is_in("Capital was high") && !is_in("Property and equipment") && !is_in("capex"));
        let lexicon: Lexicon = "seat = address of principal executive offices".parse().unwrap();
        let runs = [tokens::words("the seat")];
        let [synonym] = lexicon.synonyms(&runs)[..] else { panic!() };
        let terms = Analyzer::of("").terms("(principal executive officer)");
        assert!(!synonym.is_in(|term| terms.iter().any(|other| other == term)));
    }

    #[test]
    fn lexicons_are_combined() {
        let own: Lexicon = "bq = barquentine".parse().unwrap();
        let both = Lexicon::builtin().with(own);
        assert_eq!(expanded(&both, "bq"), ["barquentin"]);
        assert!(!expanded(&both, "capex").is_empty());
    }

    #[test]
    fn invalid_line_is_reported() {
        for text in ["a = b\nno sign", "a = b\n= c", "a = b\na, = c", "a = b\na = the"] {
            assert_eq!(text.parse::<Lexicon>().unwrap_err(), InvalidLexicon { line: 2 }, "{text}");
        }
    }
}
