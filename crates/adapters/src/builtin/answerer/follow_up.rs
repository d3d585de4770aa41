//! Completes follow-up questions with the earlier ones that they refer to.

use super::question::{is_among, plain_words};
use docent_text::lexical::{abbreviations, is_german, is_year, names, query_terms};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Maximum number of earlier questions that a follow-up question includes.
const MAX_EARLIER_QUESTIONS: usize = 3;

/// Openings of follow-up questions.
const CONTINUATIONS: [&str; 12] = [
    "and",
    "or",
    "what about",
    "how about",
    "also",
    "same for",
    "the same for",
    "why is that",
    "und",
    "oder",
    "was ist mit",
    "wie ist es mit",
];
/// Pronouns that refer to an earlier question.
const PRONOUNS: [&str; 14] = [
    "it", "its", "they", "them", "their", "this", "that", "these", "those", "there", "davon", "dessen",
    "dort", "deren",
];
/// Questions with more words are not follow-ups because of a pronoun.
const MAX_FOLLOW_UP_WORDS: usize = 8;
/// Words before a name that ask for nothing more.
const BEFORE_NAMES: &str = "about among amongst at between by for from in of on to with within an auf bei für im in mit unter von vom zu";
/// Words before the name of a place.
const BEFORE_PLACES: [&str; 3] = ["in", "at", "within"];

/// Returns the last of these questions, completed by the earlier ones that it refers to.
pub(super) fn completed<'t>(asked: impl DoubleEndedIterator<Item = &'t str>) -> String {
    let mut included = Vec::new();
    for text in asked.rev().take(MAX_EARLIER_QUESTIONS + 1) {
        included.push(text);
        if !(is_follow_up(text) || query_terms(text).is_empty()) {
            break;
        }
    }
    let mut included = included.into_iter().rev();
    let first = included.next().unwrap_or_default().to_owned();
    included.fold(first, |before, follow_up| complete(&before, follow_up))
}

/// Whether a question refers to the previous one: it begins like a follow-up, or is short and contains a pronoun.
fn is_follow_up(question: &str) -> bool {
    let words = plain_words(question);
    let begins = |opening: &str| {
        let mut words = words.iter();
        opening.split(' ').all(|expected| words.next().is_some_and(|word| word == expected))
    };
    let pronoun = words.iter().any(|word| PRONOUNS.contains(&word.as_str()));
    CONTINUATIONS.iter().any(|opening| begins(opening)) || (words.len() <= MAX_FOLLOW_UP_WORDS && pronoun)
}

/// Completes a follow-up. Its names and years replace those of the question before; if it has nothing else, that is the
/// question: “What was the profit of Oriel?” and “What about Tarn?” is “What was the profit of Tarn?”.
fn complete(before: &str, follow_up: &str) -> String {
    let follow_up = &*with_quarter(before, follow_up);
    let both = format!("{before} {follow_up}");
    // Capital letters of a short question alone tell nothing.
    let mut named: HashSet<String> = [names(&both), abbreviations(&both), names(before)]
        .concat()
        .into_iter()
        .map(|name| name.word)
        .collect();
    // “And Best Buy?” consists of what is asked about.
    if !is_german(&both) {
        let rest = without_opening(follow_up).split_whitespace();
        let words = rest.map(|word| core(word).to_owned());
        named.extend(words.filter(|word| word.starts_with(char::is_uppercase)));
    }
    let mut new = details(follow_up, &named);
    // “Who is its CEO?” is about the same name.
    let refers = plain_words(follow_up).iter().any(|word| PRONOUNS.contains(&word.as_str()));
    new.retain(|detail| !refers || !matches!(detail.kind, Kind::Name | Kind::Place));
    let mut completed = before.to_owned();
    let mut is_replaced = !new.is_empty();
    for kind in [Kind::Year, Kind::Quarter, Kind::Place, Kind::Name] {
        let words: Vec<&Detail> = new.iter().filter(|detail| detail.kind == kind).collect();
        let mut old: Vec<Detail> =
            details(&completed, &named).into_iter().filter(|detail| detail.kind == kind).collect();
        // In “the CEO of Oriel”, “of Tarn” replaces the second name.
        if let [new] = words.as_slice()
            && old.len() > 1
            && kind == Kind::Name
        {
            old.retain(|old| old.before == new.before);
        }
        match (words.as_slice(), old.as_slice()) {
            ([], _) => {}
            ([new], [old]) => completed.replace_range(old.at.clone(), &follow_up[new.at.clone()]),
            _ => is_replaced = false,
        }
    }
    let has_more = || {
        let mut rest = follow_up.to_owned();
        new.iter().rev().for_each(|detail| rest.replace_range(detail.at.clone(), ""));
        let words: Vec<&str> = rest
            .split_whitespace()
            .filter(|word| !is_among(&core(word).to_lowercase(), BEFORE_NAMES))
            .collect();
        !query_terms(&words.join(" ")).is_empty()
    };
    if is_replaced && !has_more() { completed } else { format!("{completed} {follow_up}") }
}

/// What a question may be asked of again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Year,
    Quarter,
    Place,
    Name,
}

/// Adjacent words of a kind.
struct Detail {
    kind: Kind,
    /// The bytes of the words, without a possessive `s`.
    at: Range<usize>,
    /// The word before them in lower case.
    before: String,
}

/// The names in a question, as ranges of bytes. Words of a name follow each other.
pub(super) fn names_in(question: &str) -> Vec<Range<usize>> {
    let words = [names(question), abbreviations(question)].concat().into_iter().map(|name| name.word);
    let is_name = |detail: &Detail| matches!(detail.kind, Kind::Name | Kind::Place);
    details(question, &words.collect()).into_iter().filter(is_name).map(|name| name.at).collect()
}

/// A word without punctuation and a possessive `s`.
pub(super) fn core(word: &str) -> &str {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    core.strip_suffix("'s").or_else(|| core.strip_suffix("’s")).unwrap_or(core)
}

/// Whether a word is a quarter, such as “Q3”.
fn is_quarter(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "q1" | "q2" | "q3" | "q4")
}

/// The words for a quarter after an ordinal number.
const QUARTERS: [&str; 2] = ["quarter", "quartal"];

fn is_ordinal(word: &str) -> bool {
    let word = word.to_lowercase();
    ["first", "second", "third", "fourth"].contains(&word.as_str())
        || ["erst", "zweit", "dritt", "viert"].iter().any(|stem| {
            word.strip_prefix(stem).is_some_and(|ending| matches!(ending, "e" | "en" | "es" | "er"))
        })
}

/// The bytes up to the end of the word for a quarter with which a text begins.
fn quarter_after(text: &str) -> Option<usize> {
    let word = text.trim_start();
    let end = word.find(|c: char| !c.is_alphabetic()).unwrap_or(word.len());
    let is_quarter = QUARTERS.contains(&word[..end].to_lowercase().as_str());
    is_quarter.then(|| text.len() - word.len() + end)
}

/// A follow-up with the word that it leaves out of a quarter: “And in the third?” after a question about the first quarter.
fn with_quarter<'t>(before: &str, follow_up: &'t str) -> Cow<'t, str> {
    let words = before.split(|c: char| !c.is_alphanumeric());
    let asked = words.into_iter().find(|word| QUARTERS.contains(&word.to_lowercase().as_str()));
    let end = follow_up.trim_end_matches(|c: char| !c.is_alphanumeric());
    match (asked, end.rsplit(' ').next()) {
        (Some(word), Some(last)) if is_ordinal(last) => {
            format!("{end} {word}{}", &follow_up[end.len()..]).into()
        }
        _ => follow_up.into(),
    }
}

/// A follow-up without the words that it begins with, such as “what about”; nothing if it begins otherwise.
fn without_opening(follow_up: &str) -> &str {
    let rest = |opening: &&str| {
        let (beginning, rest) = follow_up.split_at_checked(opening.len())?;
        (beginning.eq_ignore_ascii_case(opening) && rest.starts_with(' ')).then_some(rest)
    };
    CONTINUATIONS.iter().find_map(rest).unwrap_or_default()
}

fn details(text: &str, named: &HashSet<String>) -> Vec<Detail> {
    let mut details: Vec<Detail> = Vec::new();
    let mut before = "";
    let mut at = 0;
    for word in text.split_whitespace() {
        let start = at + text[at..].find(word).unwrap_or(0);
        at = start + word.len();
        let core = core(word);
        let start = start + word.find(core).unwrap_or(0);
        let end = start + core.len();
        // The second word of “first quarter”.
        if details.last().is_some_and(|detail| detail.at.end > start) {
            continue;
        }
        if let Some(length) = quarter_after(&text[end..]).filter(|_| is_ordinal(core)) {
            details.push(Detail {
                kind: Kind::Quarter,
                at: start..end + length,
                before: before.to_lowercase(),
            });
            before = word;
            continue;
        }
        let continued = details.last_mut().filter(|detail| text[detail.at.end..start].trim().is_empty());
        let kind = match &continued {
            _ if is_year(core) => Some(Kind::Year),
            _ if is_quarter(core) => Some(Kind::Quarter),
            _ if !named.contains(core) => None,
            Some(detail) => Some(detail.kind),
            None if BEFORE_PLACES.contains(&before.to_lowercase().as_str()) => Some(Kind::Place),
            None => Some(Kind::Name),
        };
        match (kind, continued) {
            (Some(kind), Some(detail)) if detail.kind == kind => detail.at.end = end,
            (Some(kind), _) => details.push(Detail { kind, at: start..end, before: before.to_lowercase() }),
            (None, _) => {}
        }
        before = word;
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(asked: &[&str]) -> String {
        completed(asked.iter().copied())
    }

    #[test]
    fn follow_up_includes_earlier_questions() {
        assert_eq!(question(&["What is the head of a pump?"]), "What is the head of a pump?");
        assert_eq!(
            question(&["Service interval for valves?", "And for pumps?"]),
            "Service interval for valves? And for pumps?"
        );
        assert_eq!(
            question(&["Who makes pumps?", "Where are they made?"]),
            "Who makes pumps? Where are they made?"
        );
        assert_eq!(question(&["a?", "b?", "and c?", "and d?"]), "b? and c? and d?");
        assert_eq!(
            question(&["Who makes pumps?", "What is the warranty of the crane model X?"]),
            "What is the warranty of the crane model X?"
        );
    }

    #[test]
    fn question_without_a_subject_refers_to_the_one_before() {
        assert_eq!(question(&["Who makes pumps?", "Why?"]), "Who makes pumps? Why?");
        assert_eq!(
            question(&["Wie schwer ist die Pumpe?", "Und das Ventil?"]),
            "Wie schwer ist die Pumpe? Und das Ventil?"
        );
    }

    #[test]
    fn names_and_years_replace_those_of_the_question_before() {
        let staff = "How many people did Oriel's plant have in 2021?";
        assert_eq!(question(&[staff, "and in 2020?"]), "How many people did Oriel's plant have in 2020?");
        assert_eq!(
            question(&[staff, "and in 2020?", "What about Tarn Works?"]),
            "How many people did Tarn Works's plant have in 2020?"
        );
        assert_eq!(
            question(&["What is the allowance in Sweden?", "And what in France?"]),
            "What is the allowance in France?"
        );
        // What else it asks for remains.
        assert_eq!(
            question(&["What was the profit of Oriel?", "And what was the debt of Tarn?"]),
            "What was the profit of Tarn? And what was the debt of Tarn?"
        );
    }

    #[test]
    fn short_follow_up_of_names_and_quarters_replaces_them() {
        let revenue = "What was Apple's revenue in Q1 2023?";
        assert_eq!(question(&[revenue, "And Best Buy?"]), "What was Best Buy's revenue in Q1 2023?");
        assert_eq!(question(&[revenue, "And in Q3 2022?"]), "What was Apple's revenue in Q3 2022?");
        let first = "What was Apple's revenue in the first quarter of 2023?";
        let third = "What was Apple's revenue in the third quarter of 2023?";
        for follow_up in ["And in the third?", "And in the third quarter?"] {
            assert_eq!(question(&[first, follow_up]), third, "{follow_up}");
        }
        assert_eq!(question(&[first, "And in Q3?"]), "What was Apple's revenue in the Q3 of 2023?");
        assert_eq!(
            question(&["Wie hoch war der Umsatz im ersten Quartal 2023?", "Und im dritten?"]),
            "Wie hoch war der Umsatz im dritten Quartal 2023?"
        );
        assert_eq!(question(&[revenue, "and in 2022?"]), "What was Apple's revenue in Q1 2022?");
        // In small letters, it has more bytes.
        assert_eq!(question(&[revenue, "And İİİİİ?"]), "What was İİİİİ's revenue in Q1 2023?");
    }

    #[test]
    fn name_after_another_preposition_replaces_the_one_before() {
        let share = "What share of Germans in 2019 likes pumps?";
        assert_eq!(question(&[share, "And in 2018?"]), "What share of Germans in 2018 likes pumps?");
        assert_eq!(question(&[share, "And among Swedes?"]), "What share of Swedes in 2019 likes pumps?");
    }

    #[test]
    fn name_is_replaced_where_it_stands() {
        let chief = "Who is the CEO of Oriel?";
        assert_eq!(question(&[chief, "And of Tarn?"]), "Who is the CEO of Tarn?");
        let stores = "How many stores did Oriel have in 2021?";
        assert_eq!(question(&[stores, "who is its CEO?"]), format!("{stores} who is its CEO?"));
    }

    #[test]
    fn details_without_a_counterpart_are_added() {
        for (before, after) in [
            ("What was the profit of Oriel?", "And in 2020?"),
            ("What was the profit of Oriel in 2018 and 2019?", "And in 2020?"),
            ("What was the profit of Oriel?", "And in France?"),
        ] {
            assert_eq!(question(&[before, after]), format!("{before} {after}"));
        }
    }
}
