//! Parts of compound words, such as “Gebühren” in “Gebührenordnung”.
//!
//! Languages that write compounds as one word have more of them than any list. A word is cut at each of its syllables, where the
//! patterns for hyphenation of its language have them, and both sides are indexed. Most of these sides are no words, and no query looks
//! for them.

use super::language::Language;
use hypher::{Lang, hyphenate};

/// Shorter words are no compounds.
const MIN_CHARS: usize = 9;
/// Shorter parts occur in too many words.
const MIN_PART: usize = 4;
/// Longer words are cut at their first syllables only.
const MAX_CUTS: usize = 8;
/// Begins the terms of parts, so that they are not mistaken for words.
const MARK: char = '~';

/// The parts with which a word may begin and end.
pub(super) fn parts(word: &str, language: Language) -> Vec<&str> {
    let pattern = match language {
        Language::German => Lang::German,
        Language::Dutch => Lang::Dutch,
        Language::Swedish => Lang::Swedish,
        _ => return Vec::new(),
    };
    if word.chars().nth(MIN_CHARS - 1).is_none() || !word.chars().all(char::is_alphabetic) {
        return Vec::new();
    }
    let is_long = |part: &&str| part.chars().nth(MIN_PART - 1).is_some();
    let mut at = 0;
    let ends = hyphenate(word, pattern).map(|syllable| {
        at += syllable.len();
        at
    });
    let sides =
        ends.map(|end| word.split_at(end)).filter(|(first, second)| is_long(first) && is_long(second));
    sides.take(MAX_CUTS).flat_map(|(first, second)| [first, second]).collect()
}

/// Whether words of a query in a language may be parts.
pub(super) fn has_compounds(language: Language) -> bool {
    matches!(language, Language::German | Language::Dutch | Language::Swedish)
}

/// The term of a part with this stem.
pub(super) fn term(stem: &str) -> String {
    format!("{MARK}{stem}")
}

/// Whether a word of a query is long enough to be a part.
pub(super) fn may_be_part(word: &str) -> bool {
    word.chars().nth(MIN_PART - 1).is_some() && word.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_have_their_parts() {
        for (word, language, part) in [
            ("gebührenordnung", Language::German, "gebühren"),
            ("gebührenordnung", Language::German, "ordnung"),
            ("arbeitszeit", Language::German, "arbeits"),
            ("sperrmüllabfuhr", Language::German, "abfuhr"),
            ("ziekenhuisopname", Language::Dutch, "ziekenhuis"),
            ("arbetsmarknad", Language::Swedish, "marknad"),
        ] {
            assert!(parts(word, language).contains(&part), "{word}: {:?}", parts(word, language));
        }
    }

    #[test]
    fn other_words_have_none() {
        assert!(parts("accounting", Language::English).is_empty());
        assert!(parts("ordnung", Language::German).is_empty());
        assert!(parts("5500000000", Language::German).is_empty());
    }
}
