//! What a question asks for, beyond its subject.

use crate::builtin::lexical::Analyzer;
use std::collections::HashSet;

/// Words for the place, the time or the manner of an answer. A sentence is not about a question because it has them.
const CIRCUMSTANCES: &str = "according amount amounts analysis annual appendix associated based basis beginning brief briefly business chapter chart column \
    compare compared comparison company current data define defined detail details diagram disclosed disclosure discuss discussed document documents \
    end enumerate figure filing first fiscal fourth float form format given graph guide highlight highlighted image indicate indicated information insight insights integer \
    item k key latest line list listed main major mention mentioned most month notable note notes number outline outlined page paper \
    paragraph period picture plainly please present previous primary principal presented provide provided q quarter quarterly quarters recent relevant report \
    reported reporting second section show showing shown shows significant significantly respectively slide source specific specified state stated \
    statement statements summary table tables text third timeframe title useful value values year years \
    angegeben bericht beschrieben dokument genannt jahr kapitel quartal seite tabelle";

/// Words for a change and its reasons, for which documents have many others.
const CHANGES: &str = "behind contributed contributing driver drivers evolution explanation factor factors fluctuation fluctuations focus \
    implication implications influence trend trends change changed changes decline declined decrease decreased drop dropped fall fell grew grow improve \
    improved increase increased rise rose evolve evolved fluctuate";

/// Units of amounts and how to write them, and comparisons, which documents show rather than say.
const MEASURES: &str = "average best billion billions cents common decimal decimals dollar dollars eur euro euros fewest gbp \
    highest largest least lowest million millions percent percentage place places round rounded smallest thousand thousands \
    unit units usd worst";

/// Weight of these words relative to others.
const CIRCUMSTANCE_WEIGHT: f32 = 0.25;
/// Weight of words after the first question of several.
const TAIL_WEIGHT: f32 = 0.5;

/// What a question asks for.
#[derive(Debug)]
pub(super) struct Intent {
    circumstances: HashSet<String>,
    /// The terms of the first question; empty if there is only one.
    head: HashSet<String>,
    /// Whether it asks for an amount, such as a price or a ratio.
    pub(super) amount: bool,
    /// Whether it asks for any number or date.
    pub(super) figure: bool,
    /// Whether it asks for a reason.
    pub(super) reason: bool,
    /// Whether it asks for several things, or for one among several.
    pub(super) several: bool,
    /// The years in it.
    pub(super) years: HashSet<String>,
}

impl Intent {
    pub(super) fn of(question: &str, analyzer: Analyzer) -> Self {
        let lower = question.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '%' && c != '$').collect();
        let has = |list: &str| list.split(' ').any(|word| words.contains(&word));
        let says = |list: &[&str]| list.iter().any(|phrase| lower.contains(phrase));
        let head = head(question);
        let amount = has(
            "usd eur dollars million millions billion billions percent percentage decimal margin ratio turnover $ %",
        ) || says(&["how much", "rounded", "round to", "round your"]);
        Self {
            circumstances: circumstances(analyzer),
            head: head.map(|head| analyzer.question(head).terms.into_iter().collect()).unwrap_or_default(),
            amount,
            figure: amount
                || has("amount total when rate")
                || says(&["how many", "number of", "how long", "how often"]),
            reason: has("why driver drivers drove driven factor factors reason reasons cause caused causes")
                || says(&["due to"]),
            several: has(
                "which list breakdown highest lowest largest smallest most least among across each types kinds steps \
                components names segments categories welche",
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

/// The terms of words for place, time and manner. Each word is analysed alone: a list of words has no
/// language.
fn circumstances(analyzer: Analyzer) -> HashSet<String> {
    let words = [CIRCUMSTANCES, CHANGES, MEASURES].into_iter().flat_map(str::split_whitespace);
    words.flat_map(|word| analyzer.terms(word)).collect()
}

/// Whether a term is a year.
pub(super) fn is_year(term: &str) -> bool {
    term.len() == 4
        && (term.starts_with("19") || term.starts_with("20"))
        && term.chars().all(|c| c.is_ascii_digit())
}

/// Openings of a second question after a comma.
const SECOND: [&str; 6] = [", and what", ", and how", ", and why", ", what", ", how", ", why"];
/// A first question has at least this many words.
const MIN_HEAD_WORDS: usize = 4;

/// The first question of several.
fn head(question: &str) -> Option<&str> {
    let lower = question.to_ascii_lowercase();
    let ends = SECOND.iter().filter_map(|opening| lower.find(opening)).chain(lower.find('?')).min()?;
    let (head, tail) = (question.get(..ends)?, question.get(ends..)?);
    let has_tail = tail.chars().filter(|c| c.is_alphabetic()).count() > 3;
    (has_tail && head.split_whitespace().count() >= MIN_HEAD_WORDS).then_some(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intent(question: &str) -> Intent {
        Intent::of(question, Analyzer::default())
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
    fn first_question_ends_before_the_second() {
        assert_eq!(head("How long is the warranty? If so, why?"), Some("How long is the warranty"));
        assert_eq!(head("How long is the warranty?"), None);
        assert_eq!(head("In 2018, what is the warranty?"), None);
        assert_eq!(
            head("How did the sales change, and what does it mean?"),
            Some("How did the sales change")
        );
    }

    #[test]
    fn kinds_of_answers_are_recognised() {
        let (much, many) = (intent("How much does it cost?"), intent("How many pumps are there?"));
        assert!(much.amount && much.figure && !many.amount && many.figure);
        assert!(intent("What is the margin in %?").amount && !intent("What is a pump?").figure);
        assert!(intent("Why did sales fall?").reason && !intent("Who fell?").reason);
        assert!(intent("Which pump is the largest?").several && !intent("Who makes it?").several);
    }
}
