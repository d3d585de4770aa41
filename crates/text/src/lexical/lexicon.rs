//! Words that documents use for words of a question.

use super::Analyzer;
use super::language::Language;
use super::tokens;
use std::collections::HashSet;
use std::ops::Range;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use thiserror::Error;

/// A phrase of a question as stems.
type Phrase = Vec<String>;

/// Phrases of English and German questions with the English terms that are searched for as well.
#[derive(Clone, Debug, Default)]
pub struct Lexicon {
    entries: Arc<[Entry]>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// The stems of each phrase in the languages of the questions that may have it.
    phrases: Vec<(Language, Phrase)>,
    parts: Vec<Part>,
}

/// The languages of questions that entries are for.
const LANGUAGES: [Language; 2] = [Language::English, Language::German];

/// What documents say for a phrase, or for a part of what it is calculated from: one of some alternatives.
type Part = Vec<Alternative>;

/// Words in documents.
#[derive(Clone, Debug)]
struct Alternative {
    /// Their terms.
    terms: Vec<String>,
}

impl Alternative {
    fn is_in(&self, has: impl Fn(&str) -> bool) -> bool {
        let missing = self.terms.iter().filter(|term| !has(term)).count();
        missing <= usize::from(self.terms.len() >= LONG_ALTERNATIVE)
    }
}

/// A phrase of a question and what documents say instead.
#[derive(Clone, Debug)]
pub struct Synonym<'a> {
    /// The terms of the phrase in the question.
    pub phrase: Vec<String>,
    parts: &'a [Part],
}

/// Maximum number of alternatives that are searched for; the answerer knows all of them.
const SEARCHED_ALTERNATIVES: usize = 3;
/// An alternative with at least this many terms may lack one of them.
const LONG_ALTERNATIVE: usize = 5;

impl<'a> Synonym<'a> {
    /// Whether a text with these terms has one of the alternatives; of what is calculated, those of a part.
    pub fn is_in(&self, has: impl Fn(&str) -> bool) -> bool {
        self.parts.iter().flatten().any(|alternative| alternative.is_in(&has))
    }
}

/// A line of a lexicon that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("line {line}: expected \"phrase, phrase = words; words\" or \"phrase = words + words\"")]
pub struct InvalidLexicon {
    /// Its number, counted from 1.
    pub line: usize,
}

#[expect(clippy::expect_used, reason = "the files are part of the program, and a test reads them")]
static BUILTIN: LazyLock<Lexicon> = LazyLock::new(|| {
    let general: Lexicon = include_str!("lexicon.txt").parse().expect("a valid built-in lexicon");
    let german = Lexicon::read(include_str!("german.txt"), &[Language::German]);
    general.with(german.expect("a valid German lexicon"))
});

impl Lexicon {
    /// The lexicon that is part of the program: abbreviations and terms of business reports and manuals, and German words with
    /// those of English documents.
    pub fn builtin() -> Self {
        BUILTIN.clone()
    }

    /// This lexicon with the entries of another.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self { entries: self.entries.iter().chain(other.entries.iter()).cloned().collect() }
    }

    /// The phrases in runs of a question's words. A phrase within a longer one does not count.
    pub(super) fn synonyms(
        &self,
        runs: &[Vec<String>],
        languages: &[Language],
        analyzer: Analyzer,
    ) -> Vec<Synonym<'_>> {
        let phrase = |words: &[String]| words.iter().flat_map(|word| analyzer.terms_of_word(word)).collect();
        let of_run = |run: &'_ Vec<String>| -> Vec<Synonym<'_>> {
            let places = self.places(run, languages).into_iter();
            places.map(|(at, entry)| Synonym { phrase: phrase(&run[at]), parts: &entry.parts }).collect()
        };
        runs.iter().flat_map(of_run).collect()
    }

    /// The words of a question that are in its phrases: others say the same.
    pub(super) fn known<'r>(&self, runs: &'r [Vec<String>], languages: &[Language]) -> HashSet<&'r str> {
        let of_run = |run: &'r Vec<String>| {
            self.places(run, languages).into_iter().flat_map(|(at, _)| &run[at]).map(String::as_str)
        };
        runs.iter().flat_map(of_run).collect()
    }

    /// The distinct terms of the first alternatives for the phrases in a question, and of the first one of each part of a calculation:
    /// more would outweigh the question.
    pub(super) fn expansions(&self, runs: &[Vec<String>], languages: &[Language]) -> HashSet<&str> {
        let entries = runs.iter().flat_map(|run| self.places(run, languages)).map(|(_, entry)| entry);
        let alternatives = entries.flat_map(|entry| {
            let of_each = if entry.parts.len() > 1 { 1 } else { SEARCHED_ALTERNATIVES };
            entry.parts.iter().flat_map(move |part| part.iter().take(of_each))
        });
        alternatives.flat_map(|alternative| &alternative.terms).map(String::as_str).collect()
    }

    /// The entries with a phrase in a run of words of a question that may be in these languages, and where it is. A phrase within a longer one does not count.
    fn places(&self, run: &[String], languages: &[Language]) -> Vec<(Range<usize>, &Entry)> {
        let stems = |language: Language| (language, run.iter().map(|word| language.stem(word)).collect());
        let stems: Vec<(Language, Phrase)> =
            LANGUAGES.into_iter().filter(|language| languages.contains(language)).map(stems).collect();
        let found: Vec<(Range<usize>, &Entry)> = self
            .entries
            .iter()
            .flat_map(|entry| entry.places(&stems).into_iter().map(move |at| (at, entry)))
            .collect();
        let is_longest = |(at, _): &(Range<usize>, &Entry)| {
            !found
                .iter()
                .any(|(other, _)| other.len() > at.len() && other.start <= at.start && at.end <= other.end)
        };
        found.iter().filter(|place| is_longest(place)).cloned().collect()
    }

    /// Reads lines with phrases of questions in these languages.
    fn read(text: &str, languages: &[Language]) -> Result<Self, InvalidLexicon> {
        let english = Analyzer { language: Language::English };
        let alternative = |words: &str| {
            let parts = tokens::words(words);
            let terms = parts.iter().flat_map(|word| english.terms_of_word(word)).collect();
            Alternative { terms: super::distinct(terms) }
        };
        let part = |words: &str| words.split(';').map(alternative).collect();
        let mut entries = Vec::new();
        for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let content = content.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            let invalid = InvalidLexicon { line };
            let (phrases, words) = content.split_once('=').ok_or(invalid)?;
            let stems = |phrase: &str, language: Language| -> Phrase {
                tokens::words(phrase).iter().map(|word| language.stem(word)).collect()
            };
            let phrases: Vec<(Language, Phrase)> = phrases
                .split(',')
                .flat_map(|phrase| {
                    languages.iter().map(move |language| (*language, stems(phrase, *language)))
                })
                .collect();
            let entry = Entry { phrases, parts: words.split('+').map(part).collect() };
            let mut terms = entry.parts.iter().flatten().map(|alternative| &alternative.terms);
            if terms.any(Vec::is_empty) || entry.phrases.iter().any(|(_, phrase)| phrase.is_empty()) {
                return Err(invalid);
            }
            entries.push(entry);
        }
        Ok(Self { entries: entries.into() })
    }
}

impl Entry {
    /// Where its phrases are among the stems of a question in each language.
    fn places(&self, stems: &[(Language, Phrase)]) -> Vec<Range<usize>> {
        let mut places: Vec<Range<usize>> = Vec::new();
        for (language, phrase) in &self.phrases {
            for (_, stems) in stems.iter().filter(|(of, _)| of == language) {
                let windows = stems.windows(phrase.len()).enumerate();
                let found = windows.filter(|(_, window)| *window == phrase.as_slice());
                places.extend(found.map(|(at, _)| at..at + phrase.len()));
            }
        }
        // In a question of few words, a phrase has the same stems in both languages.
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup();
        places
    }
}

impl FromStr for Lexicon {
    type Err = InvalidLexicon;

    /// Reads lines of `phrase, phrase = words; words`, or `phrase = words + words` for what is calculated from parts. The rest of
    /// a line after `#` is a comment.
    fn from_str(text: &str) -> Result<Self, InvalidLexicon> {
        Self::read(text, &LANGUAGES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(lexicon: &Lexicon, question: &str) -> Vec<String> {
        let mut terms: Vec<String> = lexicon
            .expansions(&[tokens::words(question)], &[Language::English])
            .into_iter()
            .map(str::to_owned)
            .collect();
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
        let [ref synonym] = lexicon.synonyms(&runs, &LANGUAGES, Analyzer::default())[..] else { panic!() };
        assert_eq!(synonym.phrase, ["capex"]);
        let is_in = |text: &str| {
            let terms = Analyzer::of("").terms(text);
            synonym.is_in(|term| terms.iter().any(|other| other == term))
        };
        assert!(is_in("Capital spending was high") && is_in("Purchases of new property and equipment"));
        assert!(!is_in("Capital was high") && !is_in("Property and equipment") && !is_in("capex"));
        let lexicon: Lexicon = "seat = address of principal executive offices".parse().unwrap();
        let runs = [tokens::words("the seat")];
        let [ref synonym] = lexicon.synonyms(&runs, &LANGUAGES, Analyzer::default())[..] else { panic!() };
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
