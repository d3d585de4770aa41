//! What questions ask for by a word that texts seldom have: an address with “@” for “email”, the long form of an
//! abbreviation for “stand for”.

use docent_text::lexical::{Analyzer, Question, is_year};

/// A kind of value.
struct Kind {
    /// Words of questions for it.
    words: &'static str,
    is_in: fn(&str) -> bool,
}

const KINDS: [Kind; 5] = [
    Kind { words: "email emails e-mail mail", is_in: has_email },
    Kind { words: "phone telephone telefon telefonnummer", is_in: has_phone_number },
    Kind { words: "website websites url homepage webseite", is_in: has_url },
    Kind { words: "date dates datum", is_in: has_date },
    Kind { words: "component components consist comprise composed bestandteile", is_in: lists_parts },
];

/// A kind of value that a question asks for.
pub(super) struct AskedKind<'a> {
    /// The terms of the question for it.
    pub(super) terms: Vec<&'a String>,
    pub(super) is_in: fn(&str) -> bool,
}

/// Returns the kinds of values that a question asks for.
pub(super) fn asked<'a>(question: &'a Question, analyzer: Analyzer) -> Vec<AskedKind<'a>> {
    let of = |kind: Kind| {
        let terms: Vec<String> = kind.words.split(' ').flat_map(|word| analyzer.terms(word)).collect();
        let terms: Vec<&String> = question.terms.iter().filter(|term| terms.contains(term)).collect();
        (!terms.is_empty()).then_some(AskedKind { terms, is_in: kind.is_in })
    };
    KINDS.into_iter().filter_map(of).collect()
}

fn has_email(text: &str) -> bool {
    text.split_whitespace().any(|word| {
        word.split_once('@')
            .is_some_and(|(name, host)| name.ends_with(|c: char| c.is_alphanumeric()) && host.contains('.'))
    })
}

/// Digits of a telephone number.
const PHONE_DIGITS: std::ops::RangeInclusive<usize> = 7..=15;

fn has_phone_number(text: &str) -> bool {
    let numbers = text.split(|c: char| !(c.is_ascii_digit() || "+-–./() ".contains(c)));
    numbers.into_iter().any(|number| {
        let groups = number.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty());
        groups.count() >= 2 && PHONE_DIGITS.contains(&number.chars().filter(char::is_ascii_digit).count())
    })
}

fn has_url(text: &str) -> bool {
    text.contains("://") || text.contains("www.")
}

const MONTHS: [&str; 18] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "januar",
    "februar",
    "märz",
    "mai",
    "juni",
    "juli",
];
/// Shorter words are no short months.
const SHORT_MONTH_CHARS: usize = 3;

/// Whether a word in small letters is a month.
pub(super) fn is_month(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphabetic());
    let is_short =
        || word.chars().count() == SHORT_MONTH_CHARS && MONTHS.iter().any(|month| month.starts_with(word));
    MONTHS.contains(&word) || matches!(word, "oktober" | "dezember") || is_short()
}

fn has_date(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower.split_whitespace().collect();
    let has_digit = |word: &str| word.contains(|c: char| c.is_ascii_digit());
    let is_numeric = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_digit());
        let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
        parts.len() == 3
            && parts
                .iter()
                .all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()))
    };
    words.iter().any(|word| is_numeric(word))
        || words.windows(2).any(|pair| {
            (is_month(pair[0]) && has_digit(pair[1])) || (has_digit(pair[0]) && is_month(pair[1]))
        })
}

/// Whether a text has a date or a year.
pub(super) fn has_time(text: &str) -> bool {
    has_date(text) || text.split(|c: char| !c.is_ascii_alphanumeric()).any(is_year)
}

/// Units of durations, as the beginnings of their names.
const DURATIONS: [&str; 14] = [
    "second", "minute", "hour", "day", "week", "month", "year", "sekunde", "stunde", "tag", "woche", "monat",
    "jahr", "quarter",
];

/// Whether a text has a duration, such as “80 minutes” or “three-year”.
pub(super) fn has_duration(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let is_count = |word: &str| {
        word.chars().all(|c| c.is_ascii_digit())
            || "one two three four five six seven eight nine ten twelve ein eine einen zwei drei vier fünf sechs"
                .split(' ')
                .any(|count| count == word)
    };
    words.windows(2).any(|pair| is_count(pair[0]) && DURATIONS.iter().any(|unit| pair[1].starts_with(unit)))
}

/// Whether a text has a name: two words with capital letters next to each other.
pub(super) fn has_name(text: &str) -> bool {
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    words.windows(2).any(|pair| pair.iter().all(|word| word.starts_with(char::is_uppercase)))
}

fn lists_parts(text: &str) -> bool {
    let lower = text.to_lowercase();
    ["consist", "compris", "composed of", "made up of", "besteht aus", "bestehen aus"]
        .iter()
        .any(|phrase| lower.contains(phrase))
}

/// Words of a question for the long form of an abbreviation.
const DEFINING: [&str; 8] =
    ["stand for", "stands for", "abbreviat", "acronym", "short for", "mean", "steht für", "abkürzung"];

/// Whether a question asks what something stands for.
pub(super) fn asks_for_definition(question: &str) -> bool {
    let lower = question.to_lowercase();
    DEFINING.iter().any(|phrase| lower.contains(phrase))
}

/// Phrases of what all reports of a kind say of themselves: cautions, lists of exhibits and certifications.
const BOILERPLATE: [&str; 14] = [
    "forward-looking statement",
    "inline xbrl",
    "undue reliance",
    "risks and uncertainties",
    "incorporated by reference",
    "incorporated herein by reference",
    "is intended to help the reader",
    "with the sec",
    "securities exchange act of 1934",
    "we caution",
    "sarbanes-oxley act",
    "disclosure controls and procedures",
    "emerging growth company",
    "by check mark",
];

/// Whether a text says what all reports of a kind say.
pub(super) fn is_boilerplate(text: &str) -> bool {
    has_any(text, &BOILERPLATE)
}

/// Whether a text has one of these phrases, which are in lower case.
pub(super) fn has_any(text: &str, phrases: &[&str]) -> bool {
    let lower = text.to_lowercase();
    phrases.iter().any(|phrase| lower.contains(phrase))
}

/// Whether a text has words that begin with the letters of an abbreviation: “National Gas Board” for “NGB”.
pub(super) fn expands(text: &str, abbreviation: &str) -> bool {
    let letters: Vec<char> = abbreviation.to_lowercase().chars().filter(|c| c.is_alphabetic()).collect();
    let initials: Vec<char> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.starts_with(char::is_uppercase) && *word != abbreviation)
        .filter_map(|word| word.chars().next())
        .flat_map(char::to_lowercase)
        .collect();
    letters.len() >= 2 && initials.windows(letters.len()).any(|window| window == letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_recognised_in_text() {
        assert!(has_email("Write to o.reed@example.org.") && !has_email("at 5 @ home.now"));
        assert!(has_phone_number("Tel. +49 30 123456") && has_phone_number("514-312-0292"));
        assert!(!has_phone_number("In 2018 1,577 were sold") && !has_phone_number("12345678"));
        assert!(has_url("see www.example.org") && !has_url("see the page"));
        for date in ["on 3 March", "May 5, 2020", "2020-05-03", "am 3.4.2020", "Dec. 7"] {
            assert!(has_date(date), "{date}");
        }
        assert!(!has_date("version 3 of the pump") && !has_date("1.2"));
        assert!(has_time("founded in 1902") && has_time("on 3 March") && !has_time("in 93,516 places"));
        for duration in ["It takes 80 minutes.", "a three-year warranty", "zwei Stunden"] {
            assert!(has_duration(duration), "{duration}");
        }
        assert!(!has_duration("in 80 places") && !has_duration("for minutes"));
        assert!(has_name("audited by Reed Brothers LLP") && !has_name("The auditor has audited it"));
        assert!(lists_parts("Costs consist primarily of steel.") && !lists_parts("Costs fell."));
    }

    #[test]
    fn abbreviations_are_expanded_by_initials() {
        assert!(expands("The National Gas Board (NGB) is new.", "NGB"));
        assert!(expands("the Board of the Union of Towns", "BUT"));
        assert!(!expands("The NGB is new.", "NGB"));
        assert!(asks_for_definition("What does NGB stand for?") && !asks_for_definition("Who leads it?"));
    }
}
