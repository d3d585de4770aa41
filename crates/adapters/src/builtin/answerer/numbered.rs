//! Numbers that name something: a part of a document, such as “Unit 14”, or one of many things, such as “error 288”.

use super::passage::{Passage, Unit};
use docent_text::lexical::{Analyzer, Name, is_year};
use std::ops::RangeInclusive;

/// Digits of a number that names something, such as “error 288”; shorter ones count or measure.
const NUMBER_DIGITS: RangeInclusive<usize> = 3..=6;

/// Whether a word is such a number.
pub(super) fn is_number(word: &str) -> bool {
    NUMBER_DIGITS.contains(&word.len()) && word.chars().all(|c| c.is_ascii_digit()) && !is_year(word)
}

/// Words after which a number counts something.
const MEASURING: &str =
    "about almost approximately exactly least most nearly roughly circa etwa fast rund ungefähr";

/// Returns the numbers of a question that name something: they follow a word, or another one and “and”.
pub(super) fn numbers(question: &str, analyzer: Analyzer) -> Vec<&str> {
    let mut numbers = Vec::new();
    let (mut is_named, mut before) = (false, "");
    for word in question.split_whitespace() {
        let core = word.trim_matches(['.', ',', '?', '!', ':', ';', '"', '“', '”']);
        is_named = match () {
            () if is_number(core) => {
                let is_word = before.chars().all(char::is_alphabetic) && !analyzer.terms(before).is_empty();
                is_named || is_word && !MEASURING.split(' ').any(|word| word.eq_ignore_ascii_case(before))
            }
            () => is_named && matches!(core, "and" | "or" | "und" | "oder"),
        };
        if is_named && is_number(core) {
            numbers.push(core);
        }
        before = core;
    }
    numbers
}

/// Whether each sentence of a passage is in one of these numbered parts, such as “Unit 14”: it names the part, or it follows a heading that does, up
/// to the heading of another number. True for all without parts.
pub(super) fn units_in(passage: &Passage<'_>, parts: &[Name]) -> Vec<bool> {
    let mut is_in = false;
    let of = |unit: &Unit| {
        for part in parts {
            if unit.sequence.len() > 1 && unit.sequence.first() == part.terms.first() {
                is_in = unit.sequence.starts_with(&part.terms);
            }
        }
        parts.is_empty() || is_in || parts.iter().any(|part| name_part(&unit.sequence, part))
    };
    passage.units.iter().map(of).collect()
}

/// Whether it is the heading of one of these numbered parts: it begins with the part and says more.
pub(super) fn is_heading_of(unit: &Unit, parts: &[Name]) -> bool {
    let begins =
        |part: &Name| unit.sequence.len() > part.terms.len() && unit.sequence.starts_with(&part.terms);
    unit.is_heading() && parts.iter().any(begins)
}

/// Whether terms have those of a numbered part, or of its letter and number alone, as in “Exhibits P-9 and P-10”.
pub(super) fn name_part(terms: &[String], part: &Name) -> bool {
    let has = |terms_of: &[String]| terms.windows(terms_of.len()).any(|window| window == terms_of);
    let [_, number @ ..] = part.terms.as_slice() else { return false };
    has(&part.terms) || number.len() > 1 && has(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_after_words_name_something() {
        let of = |question| numbers(question, Analyzer::default());
        assert_eq!(of("What do error numbers 288 and 388 mean, and error 17?"), ["288", "388"]);
        assert!(of("Does it have at least 500 pumps?").is_empty());
        assert!(of("What is the ratio, defined as 365 * rent / sales, in 2018?").is_empty());
    }
}
