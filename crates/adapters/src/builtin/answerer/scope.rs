//! Decides whether search results are relevant to a question.
//!
//! A search always finds something. A passage is relevant if it contains enough of the question's words, and fewer are
//! enough if the question names the document's title. If the question contains a name that no passage contains, no passage
//! is relevant, unless the name occurs elsewhere in its document.

use super::question::Intent;
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::{Analyzer, Name, Question};
use std::collections::HashSet;

/// The fraction of the question that a passage must contain.
const MIN_SHARE: f32 = 0.6;
/// The same for a document that the question names.
const MIN_SHARE_IF_NAMED: f32 = 0.2;
/// Weight of figures relative to words: years and numbers occur everywhere.
const FIGURE_WEIGHT: f32 = 0.5;
/// Weight of words that no passage contains: the search would have preferred passages with them.
const ABSENT_WEIGHT: f32 = 1.5;
/// Maximum total weight of a question: no passage contains all words of a long one.
const MAX_WEIGHT: f32 = 6.0;
/// If a passage has the minimum share, others need only this fraction of it.
const SECONDARY_SHARE: f32 = 0.5;
/// Documents that the question names less than this fraction of the best-named one are not meant.
const MIN_NAMED_RATIO: f32 = 0.6;

/// A question in relation to a passage.
pub(super) struct Topic<'a> {
    /// The question's terms without those that name the passage's document.
    pub(super) terms: Vec<&'a str>,
    /// Whether the question only names the document.
    pub(super) only_named: bool,
    /// The fraction of the question's terms that name the document.
    pub(super) named: f32,
    /// Whether a word, not only a figure, names the document.
    is_named: bool,
}

impl<'a> Topic<'a> {
    pub(super) fn of(analyzer: Analyzer, question: &'a Question, chunk: &ScoredChunk) -> Self {
        let title: HashSet<String> = analyzer.distinct_terms(&chunk.title).into_iter().collect();
        let joined = question.joined.iter().filter(|(joined, _)| title.contains(joined));
        let parts: HashSet<&String> = joined.flat_map(|(_, parts)| parts).collect();
        let names = |term: &&String| title.contains(*term) || parts.contains(*term);
        let (named, terms): (Vec<&String>, Vec<&String>) = question.terms.iter().partition(names);
        let only_named = terms.is_empty();
        Self {
            terms: if only_named { &named } else { &terms }.iter().map(|term| term.as_str()).collect(),
            only_named,
            named: named.len() as f32 / question.terms.len().max(1) as f32,
            is_named: named.iter().any(|term| term.contains(char::is_alphabetic)),
        }
    }

    /// This topic in a passage that the question names, as by its page.
    pub(super) fn chosen(self) -> Self {
        Self { is_named: true, ..self }
    }

    /// The share of the question that these terms cover, relative to the minimum share.
    fn share(&self, has: &HashSet<&str>, absent: &HashSet<&str>, intent: &Intent) -> f32 {
        let weight = |term: &&&str| match () {
            () if is_figure(term) => FIGURE_WEIGHT,
            () if absent.contains(**term) && intent.is_subject(term) => ABSENT_WEIGHT * intent.factor(term),
            () => intent.factor(term),
        };
        let all: f32 = self.terms.iter().map(|term| weight(&term)).sum();
        let found: f32 =
            self.terms.iter().filter(|term| has.contains(**term)).map(|term| weight(&term)).sum();
        let min_share = if self.is_named { MIN_SHARE_IF_NAMED } else { MIN_SHARE };
        found / (min_share * all.min(MAX_WEIGHT))
    }
}

/// The topic and the terms of a passage.
pub(super) type PassageTerms<'a> = (&'a Topic<'a>, HashSet<&'a str>);

/// Returns the question's terms that no passage contains and that name none of their documents.
fn absent<'a>(question: &'a Question, passages: &[PassageTerms<'_>]) -> HashSet<&'a str> {
    let is_present = |term: &str| {
        passages.iter().any(|(topic, terms)| terms.contains(term) || !topic.terms.contains(&term))
    };
    question.terms.iter().map(String::as_str).filter(|term| !is_present(term)).collect()
}

/// Returns the question's names that no passage contains.
pub(super) fn missing<'a>(
    names: &[&'a Name],
    question: &Question,
    passages: &[PassageTerms<'_>],
) -> Vec<&'a Name> {
    let absent = absent(question, passages);
    let is_missing = |name: &&&Name| name.terms.iter().any(|term| absent.contains(term.as_str()));
    names.iter().filter(is_missing).copied().collect()
}

/// Returns for each passage whether it is relevant.
pub(super) fn in_scope(question: &Question, passages: &[PassageTerms<'_>], intent: &Intent) -> Vec<bool> {
    let absent = absent(question, passages);
    let named = passages.iter().map(|(topic, _)| topic.named).fold(0.0, f32::max);
    let share = |(topic, has): &(&Topic<'_>, HashSet<&str>)| {
        if topic.named >= MIN_NAMED_RATIO * named { topic.share(has, &absent, intent) } else { 0.0 }
    };
    let shares: Vec<f32> = passages.iter().map(share).collect();
    let is_answered = shares.iter().any(|share| *share >= 1.0);
    shares.into_iter().map(|share| is_answered && share >= SECONDARY_SHARE).collect()
}

fn is_figure(term: &str) -> bool {
    term.contains(char::is_numeric)
}
