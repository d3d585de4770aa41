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

#[derive(Debug)]
struct Entry {
    phrases: Vec<Phrase>,
    terms: Vec<String>,
}

/// A line of a lexicon that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected \"phrase, phrase = words; words\"")]
pub struct InvalidLexicon {
    /// Its number, counted from 1.
    pub line: usize,
}

static BUILTIN: LazyLock<Lexicon> = LazyLock::new(|| include_str!("lexicon.txt").parse().unwrap_or_default());

impl Lexicon {
    /// The lexicon that is part of the program: abbreviations and terms of business reports and manuals.
    pub fn builtin() -> Self {
        BUILTIN.clone()
    }

    /// This lexicon with the entries of another.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let entries = [self.entries, other.entries];
        // Entries are shared until they are combined, which happens once at the start.
        let copy = |entry: &Entry| Entry { phrases: entry.phrases.clone(), terms: entry.terms.clone() };
        Self { entries: entries.iter().flat_map(|entries| entries.iter()).map(copy).collect() }
    }

    /// The terms for the phrases in runs of a question's words. A phrase within a longer one does not count.
    pub(super) fn expansions(&self, runs: &[Vec<String>]) -> HashSet<&str> {
        let mut terms = HashSet::new();
        for run in runs {
            let stems: Vec<String> = run.iter().map(|word| Language::English.stem(word)).collect();
            let found: Vec<(usize, usize, &Entry)> =
                self.entries.iter().flat_map(|entry| entry.places(&stems)).collect();
            let is_longest = |(start, end, _): &&(usize, usize, &Entry)| {
                let contains = |(from, to, _): &(usize, usize, &Entry)| {
                    from <= start && end <= to && to - from > end - start
                };
                !found.iter().any(contains)
            };
            for (.., entry) in found.iter().filter(is_longest) {
                terms.extend(entry.terms.iter().map(String::as_str));
            }
        }
        terms
    }
}

impl Entry {
    /// Where its phrases are.
    fn places(&self, stems: &[String]) -> impl Iterator<Item = (usize, usize, &Self)> {
        self.phrases.iter().flat_map(move |phrase| {
            let windows = stems.windows(phrase.len()).enumerate();
            windows
                .filter(move |(_, window)| *window == phrase.as_slice())
                .map(move |(at, _)| (at, at + phrase.len(), self))
        })
    }
}

impl FromStr for Lexicon {
    type Err = InvalidLexicon;

    /// Reads lines of `phrase, phrase = words; words`. The rest of a line after `#` is a comment.
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
            let terms = tokens::words(words).iter().flat_map(|word| english.terms_of_word(word)).collect();
            let entry = Entry { phrases, terms: super::distinct(terms) };
            if entry.terms.is_empty() || entry.phrases.iter().any(Vec::is_empty) {
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
        let lexicon: Lexicon = include_str!("lexicon.txt").parse().unwrap();
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
