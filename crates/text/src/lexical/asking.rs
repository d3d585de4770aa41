//! Words with which people ask, and for documents and their parts: they say how and where an answer is given, and not what it is about.

use super::Analyzer;
use super::language::Language;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// The terms of these words by language. Each word is analysed alone: a list of words has no language.
static TERMS: LazyLock<HashMap<Language, HashSet<String>>> = LazyLock::new(|| {
    let mut terms: HashMap<Language, HashSet<String>> = HashMap::new();
    let mut language = Language::English;
    for line in include_str!("asking.txt").lines().filter(|line| !line.starts_with('#')) {
        match line {
            "[english]" => language = Language::English,
            "[german]" => language = Language::German,
            words => terms
                .entry(language)
                .or_default()
                .extend(words.split(' ').flat_map(|word| Analyzer { language }.terms(word))),
        }
    }
    terms
});

/// The words of a question that are part of a name with the number behind them: “Unit 14”, but not “in 2014”.
pub(super) fn numbered(question: &str) -> Vec<&str> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && !is_year(word);
    words.windows(2).filter(|pair| is_number(pair[1])).map(|pair| pair[0]).collect()
}

/// Whether a term is one of a word for asking in a language.
pub(super) fn is_for_asking(term: &str, language: Language) -> bool {
    TERMS.get(&language).is_some_and(|terms| terms.contains(term))
}

/// Whether a term is a year.
pub fn is_year(term: &str) -> bool {
    term.len() == 4
        && (term.starts_with("19") || term.starts_with("20"))
        && term.chars().all(|c| c.is_ascii_digit())
}
