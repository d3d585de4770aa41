//! What a question names.

use crate::builtin::lexical::Analyzer;
use std::collections::HashSet;

/// From this share of capitalised words on, capital letters tell no names: titles, German, shouting.
const TOO_MANY: f32 = 0.5;

/// The terms of the words that look like names of somebody or something: with a capital letter although no sentence
/// begins there, or with a possessive `s`. Abbreviations are none, since documents write them out.
pub(super) fn named(question: &str, analyzer: Analyzer) -> HashSet<String> {
    let words: Vec<&str> = question.split_whitespace().collect();
    let begins_capital = |word: &&str| word.trim_start_matches(is_edge).starts_with(char::is_uppercase);
    let capitals = words.iter().filter(|word| begins_capital(word)).count();
    if !analyzer.has_capitals_for_names() || capitals as f32 >= TOO_MANY * words.len() as f32 {
        return HashSet::new();
    }
    let mut begins_sentence = true;
    let mut terms = HashSet::new();
    for word in words {
        if is_name(word, begins_sentence) {
            terms.extend(analyzer.terms(word));
        }
        begins_sentence = word.ends_with(['.', '?', '!', ':', '"', '”']);
    }
    terms
}

fn is_edge(c: char) -> bool {
    !c.is_alphanumeric()
}

fn is_name(word: &str, begins_sentence: bool) -> bool {
    let word = word.trim_matches(is_edge);
    let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
    let (word, is_possessive) = (bare.unwrap_or(word), bare.is_some());
    let ends_small = word.ends_with(char::is_lowercase);
    word.starts_with(char::is_uppercase) && ends_small && (is_possessive || !begins_sentence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(question: &str) -> Vec<String> {
        let analyzer = Analyzer::of(question);
        let mut names: Vec<String> = named(question, analyzer).into_iter().collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn capital_letters_within_a_sentence_name_something() {
        assert_eq!(
            names("How tall is the tower that Oriel Reed built in Kelmsworth?"),
            ["kelmsworth", "oriel", "reed"]
        );
        assert_eq!(names("Oriel's tower, how tall is it?"), ["oriel"]);
        assert_eq!(names("Which tower is tall? Where is it?"), [""; 0]);
    }

    #[test]
    fn abbreviations_name_nothing() {
        assert_eq!(names("What is the EBITDA of the USA and of JnJ for FY2022?"), [""; 0]);
    }

    #[test]
    fn where_all_is_written_large_nothing_is_a_name() {
        assert_eq!(names("What Was The Tower Of Oriel Built For"), [""; 0]);
        assert_eq!(names("Wie hoch ist der Turm von der alten Kirche in dem Dorf?"), [""; 0]);
    }
}
