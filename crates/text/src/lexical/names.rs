//! Detects names in questions.

use super::query::without_extension;
use super::{Analyzer, is_german};

/// From this fraction of capitalised words on, capital letters do not indicate names (titles, German).
const MAX_CAPITALISED: f32 = 0.5;

/// Shorter ones have too many meanings.
const MIN_ABBREVIATION: usize = 3;

/// Abbreviations that documents replace by signs or other words.
const UNITS: &str = "AUD CAD CHF CNY EUR GBP INR JPY SEK USA USD";

/// A word that looks like a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word as written.
    pub word: String,
    /// Its terms.
    pub terms: Vec<String>,
}

/// Returns the words that look like names: capitalised within a sentence, or with a possessive `s`. Abbreviations,
/// also in the plural, are excluded, because documents write them out.
pub fn names(question: &str) -> Vec<Name> {
    let mut names = capitalised(question);
    let is_plural = |word: &str| {
        word.strip_suffix('s').is_some_and(|word| !word.is_empty() && !word.contains(char::is_lowercase))
    };
    names.retain(|name| name.word.ends_with(char::is_lowercase) && !is_plural(&name.word));
    names
}

/// Returns the words of capital letters alone.
pub fn abbreviations(question: &str) -> Vec<Name> {
    let mut names = capitalised(question);
    let is_abbreviation = |word: &str| {
        word.len() >= MIN_ABBREVIATION
            && word.chars().all(char::is_uppercase)
            && !UNITS.split(' ').any(|unit| unit == word)
    };
    names.retain(|name| is_abbreviation(&name.word));
    names
}

/// Words before a number or letter that together name a part of a document or one of several things.
const NUMBERED: &str = "appendix article annex case chapter clause exhibit experiment fig figure item lesson module note part phase \
    problem question rule section step table unit wave abbildung abschnitt anhang artikel aufgabe beispiel kapitel lektion modul \
    schritt tabelle teil";

/// Returns the parts of documents that a question names by a number or letter, such as “Figure 7”, “Appendix E” and “Exhibit P-10”, with the term
/// of the first word and those of the number.
pub fn numbered(question: &str, analyzer: Analyzer) -> Vec<Name> {
    let is_label = |word: &str| NUMBERED.split_whitespace().any(|label| word.eq_ignore_ascii_case(label));
    // “unit-8” is two words, “P-10” one.
    let begins_label =
        |word: &str| word.split_once('-').is_some_and(|(label, _)| is_label(label.trim_matches(is_edge)));
    let words: Vec<&str> = question
        .split(' ')
        .flat_map(|word| word.splitn(if begins_label(word) { 2 } else { 1 }, '-'))
        .map(|word| word.trim_matches(is_edge))
        .filter(|word| !word.is_empty())
        .collect();
    let is_digits = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(|c| c.is_ascii_digit() || c == '.')
    };
    let is_letter = |word: &str| word.len() == 1 && word.chars().all(char::is_uppercase);
    let is_number = |word: &str| match word.split_once('-') {
        Some((letter, digits)) => is_letter(letter) && is_digits(digits),
        None => is_digits(word) || word.chars().all(|c| "IVX".contains(c)) || is_letter(word) && word != "I",
    };
    let name = |pair: &[&str]| {
        let terms: Vec<String> = pair.iter().flat_map(|word| analyzer.terms(word)).collect();
        let has_all = terms.len() == 1 + pair[1].split('-').count();
        (is_label(pair[0]) && is_number(pair[1]) && has_all).then(|| Name { word: pair.join(" "), terms })
    };
    words.windows(2).filter_map(name).collect()
}

/// Returns the words that look like names or abbreviations.
pub(super) fn capitalised(question: &str) -> Vec<Name> {
    let analyzer = Analyzer::of(question);
    let words: Vec<&str> = question.split_whitespace().collect();
    let begins_capital = |word: &&str| word.trim_start_matches(is_edge).starts_with(char::is_uppercase);
    // That a sentence begins with one says nothing; in German, other words than names have one too.
    let is_uncounted = words.first().is_some_and(begins_capital) && !is_german(question);
    let counted = &words[usize::from(is_uncounted)..];
    let capitals = counted.iter().filter(|word| begins_capital(word)).count();
    if !analyzer.has_capitals_for_names() || capitals as f32 >= MAX_CAPITALISED * counted.len() as f32 {
        return Vec::new();
    }
    let mut begins_sentence = true;
    let mut names = Vec::new();
    for word in words {
        if let Some(word) = name(word, begins_sentence) {
            names.push(Name { word: word.to_owned(), terms: analyzer.terms(word) });
        }
        begins_sentence = word.ends_with(['.', '?', '!', ':', '"', '”']);
    }
    names.retain(|name| !name.terms.is_empty());
    names
}

fn is_edge(c: char) -> bool {
    !c.is_alphanumeric()
}

/// Returns the name in a word without a possessive `s`.
fn name(word: &str, begins_sentence: bool) -> Option<&str> {
    let word = word.trim_matches(is_edge);
    let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
    let (word, is_possessive) = (without_extension(bare.unwrap_or(word)), bare.is_some());
    let begins = |c: char| c.is_uppercase() || c.is_ascii_digit();
    let is_name =
        word.starts_with(begins) && word.contains(char::is_uppercase) && (is_possessive || !begins_sentence);
    is_name.then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(question: &str) -> Vec<String> {
        names(question).into_iter().map(|name| name.word).collect()
    }

    #[test]
    fn capitalised_words_within_a_sentence_are_names() {
        assert_eq!(
            words("How tall is the tower that Oriel Reed built in Kelmsworth?"),
            ["Oriel", "Reed", "Kelmsworth"]
        );
        assert_eq!(words("Oriel's tower, how tall is it?"), ["Oriel"]);
        assert_eq!(words("What was Oriel's revenue?"), ["Oriel"]);
        assert_eq!(words("What does the table in Oriel.pdf show?"), ["Oriel"]);
        assert_eq!(words("Annual Report of Oriel"), [""; 0]);
        assert_eq!(words("Which tower is tall? Where is it?"), [""; 0]);
        assert_eq!(words("What do the CEOs say in these 10-Qs of Kelmsworth?"), ["Kelmsworth"]);
    }

    #[test]
    fn abbreviations_are_not_names() {
        assert_eq!(words("What is the EBITDA of the USA and of JnJ for FY2022?"), [""; 0]);
    }

    #[test]
    fn abbreviations_are_capitalised_words() {
        let words = |question| capitalised(question).into_iter().map(|name| name.word).collect::<Vec<_>>();
        assert_eq!(words("what did 3M and AMD sell in 2018 in Q3?"), ["3M", "AMD", "Q3"]);
    }

    #[test]
    fn abbreviations_have_capital_letters_alone() {
        let words = |question| abbreviations(question).into_iter().map(|name| name.word).collect::<Vec<_>>();
        assert_eq!(
            words("what did 3M, AMD and JnJ sell in the US or to NASA in Q3 in USD?"),
            ["AMD", "NASA"]
        );
    }

    #[test]
    fn labels_with_numbers_name_parts_of_documents() {
        let words = |question: &str| {
            let names = numbered(question, Analyzer::of(question)).into_iter();
            names.map(|name| format!("{}: {}", name.word, name.terms.join(" "))).collect::<Vec<_>>()
        };
        assert_eq!(
            words("What is the topic of UNIT 14, and of unit-8?"),
            ["UNIT 14: unit 14", "unit 8: unit 8"]
        );
        assert_eq!(
            words("What does Figure IV of Appendix E show?"),
            ["Figure IV: figur iv", "Appendix E: appendix e"]
        );
        assert_eq!(words("What is said of Exhibit P-10?"), ["Exhibit P-10: exhibit p 10"]);
        assert_eq!(words("Which table do I read, and how many units are 14?"), [""; 0]);
    }

    #[test]
    fn capitalised_text_contains_no_names() {
        assert_eq!(words("What Was The Tower Of Oriel Built For"), [""; 0]);
        assert_eq!(words("Wie hoch ist der Turm von der alten Kirche in dem Dorf?"), [""; 0]);
    }
}
