//! What a question asks for, beyond its subject.

use docent_text::lexical::{Analyzer, circumstances, is_year};
use std::collections::HashSet;

/// Words that a question asks with. An introduction such as “In the second quarter of 2023,” has none.
const ASKING: &str = "are calculate can compare could describe did do does explain find give has have how identify is list \
    name show summarize tell was were what when where which who whose why would";

/// Words of a question for a reason.
const REASONS: &str = "affect affected cause caused causes contributed drive driver drivers driving drove driven factor factors impact \
    impacted influence influenced reason reasons why grund gründe ursache ursachen warum weshalb wieso";

/// Weight of these words relative to others.
const CIRCUMSTANCE_WEIGHT: f32 = 0.25;
/// Weight of words after the first question of several.
const TAIL_WEIGHT: f32 = 0.5;

/// What a question asks for.
#[derive(Debug)]
pub(super) struct Intent {
    circumstances: HashSet<String>,
    /// The terms of the question that matters most, the first of several or the follow-up; empty if there is only one.
    head: HashSet<String>,
    /// Whether it asks for an amount, such as a price or a ratio.
    pub(super) amount: bool,
    /// Whether it asks for any number or date.
    pub(super) figure: bool,
    /// Whether it asks for a person or an organisation.
    pub(super) person: bool,
    /// Whether it asks for a point in time, and for a duration.
    pub(super) time: bool,
    pub(super) duration: bool,
    /// Whether it asks for a share or a rate, which are in percent.
    pub(super) percentage: bool,
    /// Whether it asks for a reason.
    pub(super) reason: bool,
    /// Whether it asks for several things, or for one among several.
    pub(super) several: bool,
    /// The years in it.
    pub(super) years: HashSet<String>,
}

impl Intent {
    /// `follow_up` is the end of the question that was asked last, or the whole question.
    pub(super) fn of(question: &str, follow_up: &str, analyzer: Analyzer) -> Self {
        let lower = question.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '%' && c != '$').collect();
        let has = |list: &str| list.split(' ').any(|word| words.contains(&word));
        let says = |list: &[&str]| list.iter().any(|phrase| lower.contains(phrase));
        let is_completed = follow_up.len() < question.len() && question.ends_with(follow_up);
        let head = if is_completed { Some(head(follow_up).unwrap_or(follow_up)) } else { head(question) };
        let amount = has(
            "usd eur dollars million millions billion billions percent percents percentage decimal margin ratio turnover $ % \
                dollar euro millionen milliarden prozent",
        ) || says(&["how much", "rounded", "round to", "round your", "wie hoch", "wie viel "]);
        Self {
            circumstances: circumstances(&lower, analyzer),
            head: head.map(|head| analyzer.question(head).terms.into_iter().collect()).unwrap_or_default(),
            amount,
            figure: amount
                || has("amount total when rate wann anzahl")
                || says(&[
                    "how many",
                    "number of",
                    "how long",
                    "how often",
                    "wie viele",
                    "wie lange",
                    "wie oft",
                ]),
            person: has("who whose whom wer wen wem"),
            time: has("when wann") || says(&["what date", "which date", "what year", "which year"]),
            duration: says(&["how long", "wie lange"]),
            percentage: has(
                "% percent percents percentage margin proportion rate ratio share prozent anteil marge",
            ),
            // “If it is not useful, explain why” asks for a figure first.
            reason: names_reason(head.unwrap_or(question)),
            several: has(
                "which list breakdown highest lowest largest smallest most least among across each types kinds steps \
                components names segments categories welche höchste höchsten größte größten niedrigste kleinste",
            ) || says(&["what are", "what were"]),
            years: analyzer.question(question).terms.into_iter().filter(|term| is_year(term)).collect(),
        }
    }

    /// Whether a term says what the question is about.
    pub(super) fn is_subject(&self, term: &str) -> bool {
        !self.circumstances.contains(term)
    }

    /// The weight of a term relative to others.
    pub(super) fn factor(&self, term: &str) -> f32 {
        let tail = if self.head.is_empty() || self.head.contains(term) { 1.0 } else { TAIL_WEIGHT };
        if self.is_subject(term) { tail } else { tail * CIRCUMSTANCE_WEIGHT }
    }
}

/// Whether a question asks for a reason.
pub(super) fn asks_for_reason(question: &str) -> bool {
    names_reason(head(question).unwrap_or(question))
}

fn names_reason(question: &str) -> bool {
    let lower = question.to_lowercase();
    lower.contains("due to")
        || lower
            .split(|c: char| !c.is_alphanumeric())
            .any(|word| REASONS.split(' ').any(|reason| reason == word))
}

/// Openings of a second question.
const SECOND: [&str; 9] =
    [", and what", ", and how", ", and why", ", what", ", how", ", why", " and what", " and how", " and why"];
/// A first question has at least this many words.
const MIN_HEAD_WORDS: usize = 4;

/// The first question of several.
fn head(question: &str) -> Option<&str> {
    let lower = question.to_ascii_lowercase();
    let openings = SECOND.iter().flat_map(|opening| lower.match_indices(opening)).map(|(at, _)| at);
    let mut ends: Vec<usize> = openings.chain(lower.find('?')).collect();
    ends.sort_unstable();
    let asks = |head: &&str| {
        let words = || head.split_whitespace();
        words().count() >= MIN_HEAD_WORDS
            && words().any(|word| ASKING.split_whitespace().any(|asking| word.eq_ignore_ascii_case(asking)))
    };
    let head = ends.iter().filter_map(|end| question.get(..*end)).find(asks)?;
    let has_tail = question[head.len()..].chars().filter(|c| c.is_alphabetic()).count() > 3;
    has_tail.then_some(head)
}

/// Whether a text has a word among these, which are separated by spaces.
pub(super) fn is_among(word: &str, words: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Returns the words of a text in lower case, without punctuation.
pub(super) fn plain_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(question: &str) -> Intent {
        Intent::of(question, question, Analyzer::default())
    }

    #[test]
    fn circumstances_and_second_questions_weigh_less() {
        let intent = intent("What is the warranty of the pump in the 2018 report, and how might it change?");
        assert_eq!(intent.factor("warranti"), 1.0);
        assert_eq!(intent.factor("report"), CIRCUMSTANCE_WEIGHT);
        assert_eq!(intent.factor("chang"), CIRCUMSTANCE_WEIGHT * TAIL_WEIGHT);
        assert!(intent.is_subject("pump") && !intent.is_subject("report"));
        assert_eq!(intent.years, HashSet::from(["2018".to_owned()]));
    }

    #[test]
    fn follow_up_matters_most() {
        let intent = Intent::of(
            "How long is the warranty? Why did it lapse?",
            "Why did it lapse?",
            Analyzer::default(),
        );
        assert!(intent.reason);
        assert_eq!((intent.factor("laps"), intent.factor("warranti")), (1.0, TAIL_WEIGHT));
    }

    #[test]
    fn first_question_ends_before_the_second() {
        assert_eq!(head("How long is the warranty? If so, why?"), Some("How long is the warranty"));
        assert_eq!(head("How long is the warranty?"), None);
        assert_eq!(head("In 2018, what is the warranty?"), None);
        assert_eq!(head("In the second quarter of 2018, what was the warranty?"), None);
        assert_eq!(
            head("In the second quarter of 2018, how long was it and why did it change?"),
            Some("In the second quarter of 2018, how long was it")
        );
        assert_eq!(
            head("How did the sales change, and what does it mean?"),
            Some("How did the sales change")
        );
    }

    #[test]
    fn parts_of_reports_are_circumstances_unless_they_are_the_subject() {
        let place = intent("According to the income statement, what are the sales?");
        assert!(!place.is_subject("incom") && place.is_subject("sale"));
        assert!(intent("What income does the income statement show?").is_subject("incom"));
        assert!(intent("What is the topic of unit 14?").is_subject("unit"));
        assert!(!intent("How many units in 2018?").is_subject("unit"));
    }

    #[test]
    fn kinds_of_answers_are_recognised() {
        let (much, many) = (intent("How much does it cost?"), intent("How many pumps are there?"));
        assert!(much.amount && much.figure && !many.amount && many.figure);
        assert!(intent("What is the margin in %?").amount && !intent("What is a pump?").figure);
        assert!(intent("Why did sales fall?").reason && !intent("Who fell?").reason);
        assert!(!intent("How much cash is there? If that is of no use, say why.").reason);
        assert!(intent("Which pump is the largest?").several && !intent("Who makes it?").several);
    }
}
