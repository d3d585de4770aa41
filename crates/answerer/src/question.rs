//! What a question asks for.

use crate::words::{Kind, Words, plain};
use docent_text::lexical::{Analyzer, Lexicon, Synonym, abbreviations, is_year, names, synonyms};
use docent_text::page_reference::{NamedPage, PageReference};
use std::collections::HashSet;
use std::ops::Range;

/// Minimum number of words of a question that stay when a follow-up takes the place of the others.
const HEAD_WORDS: usize = 3;

/// A question, parsed once.
pub(crate) struct Question<'a> {
    pub(crate) words: &'static Words,
    pub(crate) analyzer: Analyzer,
    /// The terms of its subject in order, without repetitions.
    pub(crate) terms: Vec<String>,
    /// Those of them that are names, years or other figures.
    pub(crate) names: HashSet<String>,
    /// Those of them that a follow-up has itself. Empty if the question was complete.
    pub(crate) own: HashSet<String>,
    /// Its names and years as written, each with its terms.
    pub(crate) named: Vec<(String, Vec<String>)>,
    /// The other words of its subject in small letters.
    pub(crate) others: Vec<(String, Vec<String>)>,
    /// The pages that it names.
    pub(crate) pages: Vec<NamedPage>,
    pub(crate) is_negated: bool,
    /// The kinds of answers that it asks for, the most specific first.
    pub(crate) kinds: Vec<&'static Kind>,
    /// Phrases for which documents have other words.
    pub(crate) synonyms: Vec<Synonym<'a>>,
}

impl<'a> Question<'a> {
    /// Parses a question about texts that this analyzer is for.
    pub(crate) fn parse(text: &str, analyzer: Analyzer, lexicon: &'a Lexicon) -> Self {
        let words = Words::of(text);
        let PageReference { pages, rest } = PageReference::of(text);
        let spoken = plain(&rest);
        let is_content =
            |word: &&str| !words.function_words.contains(*word) && !words.negations.contains(*word);
        let mut subject = of_subject(words, &spoken);
        subject.retain(|word| !words.negations.contains(word));
        if subject.is_empty() {
            subject = spoken.split(' ').filter(is_content).map(str::to_owned).collect();
        }
        let mut terms: Vec<String> = Vec::new();
        let mut others: Vec<(String, Vec<String>)> = Vec::new();
        for word in subject {
            let of_word = analyzer.question(&word).terms;
            for term in &of_word {
                if !terms.contains(term) {
                    terms.push(term.clone());
                }
            }
            others.push((word, of_word));
        }
        let years = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| is_year(word));
        let years = years.map(|year| (year.to_owned(), vec![year.to_owned()]));
        let mut named: Vec<(String, Vec<String>)> = [names(&rest), abbreviations(&rest)]
            .concat()
            .into_iter()
            .map(|name| (name.word, name.terms))
            .chain(years)
            .collect();
        named.retain(|(_, parts)| parts.iter().any(|part| terms.contains(part)));
        let is_name = |term: &&String| {
            term.contains(char::is_numeric) || named.iter().any(|(_, parts)| parts.contains(term))
        };
        let names = terms.iter().filter(is_name).cloned().collect();
        let is_other = |(_, parts): &(String, Vec<String>)| {
            !parts.is_empty() && !named.iter().any(|(_, of_name)| parts.iter().any(|it| of_name.contains(it)))
        };
        others.retain(is_other);
        Self {
            words,
            analyzer,
            names,
            named,
            others,
            pages,
            is_negated: spoken.split(' ').any(|word| words.negations.contains(word)),
            kinds: words.kinds.iter().filter(|kind| kind.question.is_match(text)).collect(),
            synonyms: synonyms(&rest, lexicon, analyzer),
            own: HashSet::new(),
            terms,
        }
    }

    /// Parses a follow-up that was completed with the questions before it. What it says itself decides.
    pub(crate) fn parse_follow_up(
        completed: &str,
        follow_up: &str,
        analyzer: Analyzer,
        lexicon: &'a Lexicon,
    ) -> Self {
        let mut question = Self::parse(completed, analyzer, lexicon);
        let said = Self::parse(follow_up, analyzer, lexicon);
        question.own = said.terms.into_iter().filter(|term| question.terms.contains(term)).collect();
        if question.own.len() == question.terms.len() {
            question.own.clear();
        }
        if !said.kinds.is_empty() {
            question.kinds = said.kinds;
        }
        question
    }

    /// The kind of value that it asks for, if that is a part of a sentence.
    pub(crate) fn value_kind(&self) -> Option<&'static Kind> {
        self.kinds.first().copied().filter(|kind| kind.is_value)
    }

    /// Where a text below this heading has a value of a kind. Words that the heading or the question has are not what is asked for.
    pub(crate) fn value(&self, kind: &Kind, text: &str, heading: &str) -> Option<Range<usize>> {
        let known: HashSet<String> =
            self.analyzer.terms(heading).into_iter().chain(self.terms.iter().cloned()).collect();
        let is_new = |found: &str| {
            let terms = self.analyzer.terms(found);
            found.contains(char::is_numeric) || terms.is_empty() || terms.iter().any(|it| !known.contains(it))
        };
        kind.evidence.find_iter(text).map(|found| found.range()).find(|at| is_new(&text[at.clone()]))
    }

    /// Adds to the terms of a text those of the question's phrases that it has other words for.
    pub(crate) fn with_synonyms(&self, mut terms: HashSet<String>) -> HashSet<String> {
        let meant: Vec<&String> = self
            .synonyms
            .iter()
            .filter(|synonym| synonym.is_in(|term| terms.contains(term)))
            .flat_map(|synonym| &synonym.phrase)
            .collect();
        let meant: Vec<String> = meant.into_iter().cloned().collect();
        terms.extend(meant);
        terms
    }
}

/// Completes a question that lacks its subject with the one before it. Its year or name takes the place of the one before.
pub(crate) fn complete(before: &str, follow_up: &str) -> String {
    let named: HashSet<String> =
        names(&format!("{before} {follow_up}")).into_iter().map(|name| name.word).collect();
    let is_year_of = |word: &str| is_year(core(word));
    let is_name = |word: &str| named.contains(core(word));
    let only = |text: &str, is_kind: &dyn Fn(&str) -> bool| {
        let mut words = text.split_whitespace().filter(|word| is_kind(word)).map(core);
        words.next().filter(|_| words.next().is_none()).map(str::to_owned)
    };
    let (mut question, mut rest) = (before.to_owned(), follow_up.to_owned());
    for is_kind in [&is_year_of as &dyn Fn(&str) -> bool, &is_name] {
        if let (Some(old), Some(new)) = (only(&question, is_kind), only(&rest, is_kind)) {
            question = question.replace(&old, &new);
            rest = rest.replace(&new, "");
        }
    }
    let words = Words::of(follow_up);
    if question == before
        && let Some(exchanged) = exchanged(words, before, follow_up)
    {
        return exchanged;
    }
    let has_more =
        plain(&rest).split(' ').any(|word| !word.is_empty() && !words.function_words.contains(word));
    if question == before || has_more { format!("{question} {}", rest.trim()) } else { question }
}

/// The question before with the end of the follow-up: “and for children?” takes the place of what follows its last “for”. `None` if both share no word, or if
/// the follow-up refers to the question before.
fn exchanged(words: &Words, before: &str, follow_up: &str) -> Option<String> {
    let rest = words.link.replace(follow_up.trim(), "");
    if words.follow_up.is_match(&plain(&rest)) {
        return None;
    }
    let shared = rest.split_whitespace().next()?;
    let spoken: Vec<&str> = before.split_whitespace().collect();
    let at = spoken.iter().rposition(|word| plain(word) == plain(shared))?;
    let head = spoken[..at].join(" ");
    let has_own = rest.split_whitespace().nth(1).is_some();
    (at >= HEAD_WORDS && has_own).then(|| format!("{head} {rest}"))
}

/// Whether a question lacks its subject.
pub(crate) fn is_follow_up(text: &str) -> bool {
    let words = Words::of(text);
    let spoken = plain(text);
    match of_subject(words, &spoken).len() {
        0 => true,
        1..=3 => words.follow_up.is_match(&spoken),
        _ => false,
    }
}

/// The words of a question that say what it is about, of its text in small letters.
fn of_subject(words: &Words, spoken: &str) -> Vec<String> {
    let text = words.extent.replace_all(spoken, " ");
    let is_of_subject = |word: &&str| {
        !word.is_empty() && !words.function_words.contains(*word) && !words.asking_words.contains(*word)
    };
    text.split(' ').filter(is_of_subject).map(str::to_owned).collect()
}

/// A word without punctuation and a possessive `s`.
fn core(word: &str) -> &str {
    let core = word.trim_matches(|c: char| !c.is_alphanumeric());
    core.strip_suffix("'s").or_else(|| core.strip_suffix("’s")).unwrap_or(core)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Vec<String>, Vec<&'static str>, bool) {
        let lexicon = Lexicon::default();
        let question = Question::parse(text, Analyzer::of(text), &lexicon);
        (question.terms, question.kinds.iter().map(|kind| kind.kind.as_str()).collect(), question.is_negated)
    }

    #[test]
    fn question_has_a_subject_and_kinds() {
        assert_eq!(
            parse("What does the pump cost?"),
            (vec!["pump".into(), "cost".into()], vec!["amount"], false)
        );
        assert_eq!(parse("who do I call about leaks").1, ["contact", "person"]);
        assert!(parse("What is NOT covered?").2 && !parse("What is covered?").2);
        assert_eq!(parse("Wie lange gilt die Garantie?").1, ["duration"]);
    }

    #[test]
    fn own_words_and_kind_of_a_follow_up_are_known() {
        let lexicon = Lexicon::default();
        let parse = |completed: &str, follow_up: &str| {
            let question = Question::parse_follow_up(completed, follow_up, Analyzer::of(completed), &lexicon);
            let mut own: Vec<String> = question.own.into_iter().collect();
            own.sort_unstable();
            (own, question.kinds.first().map(|kind| kind.kind.as_str()))
        };
        let days = "How many days of leave do I get?";
        assert_eq!(parse(&format!("{days} and for trainees?"), "and for trainees?").0, ["traine"]);
        let when = "and when must I ask my manager?";
        assert_eq!(parse(&format!("{days} {when}"), when).1, Some("date"));
        assert_eq!(parse(days, days), (Vec::new(), Some("duration")));
    }

    #[test]
    fn follow_up_takes_over_what_it_lacks() {
        for text in ["and for children?", "Why?", "what about the other one?", "und was ist mit Katzen?"] {
            assert!(is_follow_up(text), "{text}");
        }
        assert!(!is_follow_up("How long is the warranty of the pump?"));
        assert_eq!(
            complete("What was the profit of Oriel in 2018?", "And in 2020?"),
            "What was the profit of Oriel in 2020?"
        );
        assert_eq!(complete("What was the profit of Oriel?", "And Tarn?"), "What was the profit of Tarn?");
        for (before, follow_up, completed) in [
            ("How long is the leave for a wedding?", "and for moving?", "How long is the leave for moving?"),
            ("when can I be director of sales", "And director of tax?", "when can I be director of tax?"),
            (
                "Wie lange gilt die Garantie für Pumpen?",
                "und für Ventile?",
                "Wie lange gilt die Garantie für Ventile?",
            ),
            ("For which trips is it paid?", "and for trains?", "For which trips is it paid? and for trains?"),
        ] {
            assert_eq!(complete(before, follow_up), completed);
        }
        assert_eq!(
            complete("How long is the warranty of the pump?", "And of its motor?"),
            "How long is the warranty of the pump? And of its motor?"
        );
    }
}
