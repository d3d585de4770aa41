//! Which sentences answer a question best.
//!
//! A sentence is worth the share of the question's terms that it has, each weighted by its rarity
//! in the passages. Terms that the document's title has name the document and need not be repeated
//! in the sentence; the sentence before, often a heading, lends its terms at half their weight.

use super::sentences::{self, Sentence};
use crate::builtin::lexical::{Analyzer, Question};
use docent_domain::{chunk::page_at, retrieval::ScoredChunk};
use std::collections::{HashMap, HashSet};

/// A sentence to be quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    /// Its document's title.
    pub(super) title: String,
    /// Its page, counted from 1.
    pub(super) page: u32,
    /// Its text, perhaps shortened.
    pub(super) text: String,
}

/// The most quotes of an answer.
const MOST: usize = 4;
/// A sentence with a smaller share of the question is no answer to it.
const ENOUGH: f32 = 0.4;
/// Further quotes must be nearly as good as the first.
const NEARLY: f32 = 0.7;
/// Quotes that share more of their terms than this say the same.
const SAME: f32 = 0.6;
/// Longer quotes are cut.
const QUOTE_CHARS: usize = 350;
/// What the terms of the sentence before count.
const HEADING_WEIGHT: f32 = 0.5;
/// What it adds that a passage's document is one that the question names.
const NAMED_WEIGHT: f32 = 0.2;
/// How much a figure in the sentence helps a question for an amount.
const FIGURE_FACTOR: f32 = 1.15;

struct Candidate<'a> {
    passage: &'a ScoredChunk,
    sentence: Sentence,
    terms: HashSet<String>,
    score: f32,
}

/// The sentences to quote, best first; none when nothing fits well enough.
pub(super) fn quotes(question: &str, passages: &[ScoredChunk]) -> Vec<Quote> {
    let analyzer = Analyzer::default();
    let asked = analyzer.question(question);
    let mut candidates: Vec<Candidate<'_>> =
        passages.iter().flat_map(|passage| candidates_of(analyzer, passage)).collect();
    let weights = weights(&asked, &candidates);
    let wants_figure = asks_for_figure(question);
    let mut before: HashSet<String> = HashSet::new();
    let mut last: Option<&ScoredChunk> = None;
    let mut named = Named::default();
    for candidate in &mut candidates {
        if last.is_none_or(|last| last.id != candidate.passage.id) {
            named = Named::of(analyzer, &asked, &candidate.passage.title);
            before.clear();
            last = Some(candidate.passage);
        }
        candidate.score = score(&asked, &weights, &named, candidate, &before, wants_figure);
        before.clone_from(&candidate.terms);
    }
    candidates.retain(|candidate| candidate.score > 0.0);
    // Stable: of equals the one from the better passage stays first.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let chosen = distinct(candidates);
    chosen.iter().map(|candidate| quote(candidate, &weights, analyzer)).collect()
}

fn candidates_of(analyzer: Analyzer, passage: &ScoredChunk) -> impl Iterator<Item = Candidate<'_>> {
    sentences::split(&passage.text).into_iter().map(move |sentence| {
        let terms = analyzer.distinct_terms(&sentence.text).into_iter().collect();
        Candidate { passage, sentence, terms, score: 0.0 }
    })
}

/// The rarity of each of the question's terms among the sentences.
fn weights(asked: &Question, candidates: &[Candidate<'_>]) -> HashMap<String, f32> {
    let total = candidates.len() as f32;
    let weight = |term: &String| {
        let with = candidates.iter().filter(|candidate| candidate.terms.contains(term)).count();
        (term.clone(), (1.0 + total / (with as f32 + 0.5)).ln())
    };
    asked.terms.iter().map(weight).collect()
}

/// The question's terms that a document's title has.
#[derive(Default)]
struct Named {
    terms: HashSet<String>,
}

impl Named {
    fn of(analyzer: Analyzer, asked: &Question, title: &str) -> Self {
        let title: HashSet<String> = analyzer.distinct_terms(title).into_iter().collect();
        let whole = asked.terms.iter().filter(|term| title.contains(*term)).cloned();
        let joined = asked.joined.iter().filter(|(joined, _)| title.contains(joined));
        let parts = joined.flat_map(|(_, parts)| parts.iter().cloned());
        Self { terms: whole.chain(parts).collect() }
    }
}

/// 0 when the sentence is no answer.
fn score(
    asked: &Question,
    weights: &HashMap<String, f32>,
    named: &Named,
    candidate: &Candidate<'_>,
    before: &HashSet<String>,
    wants_figure: bool,
) -> f32 {
    let weight = |term: &String| weights.get(term).copied().unwrap_or(0.0);
    let topic: Vec<&String> = asked.terms.iter().filter(|term| !named.terms.contains(*term)).collect();
    // A question that only names a document is about whatever that document says of itself.
    let topic = if topic.is_empty() { asked.terms.iter().collect() } else { topic };
    let whole: f32 = topic.iter().map(|term| weight(term)).sum();
    let own = asked.terms.iter().filter(|term| candidate.terms.contains(*term)).count();
    let share = |term: &&String| match () {
        () if candidate.terms.contains(*term) => weight(term),
        () if before.contains(*term) => HEADING_WEIGHT * weight(term),
        () => 0.0,
    };
    let coverage = topic.iter().map(share).sum::<f32>() / whole.max(f32::MIN_POSITIVE);
    if own < asked.terms.len().min(2) || coverage < ENOUGH || is_leader(&candidate.sentence.text) {
        return 0.0;
    }
    let words = candidate.sentence.text.split(' ').count();
    let length = match words {
        0..=3 => 0.5,
        4..=6 => 0.8,
        7..=60 => 1.0,
        _ => 0.8,
    };
    let has_figure = candidate.sentence.text.contains(|c: char| c.is_ascii_digit());
    let figure = if wants_figure && has_figure { FIGURE_FACTOR } else { 1.0 };
    let named_share = named.terms.len() as f32 / asked.terms.len().max(1) as f32;
    coverage * length * figure + NAMED_WEIGHT * named_share
}

/// Whether a line is one of a table of contents.
fn is_leader(text: &str) -> bool {
    text.contains(". . .") || text.contains("....")
}

fn asks_for_figure(question: &str) -> bool {
    let question = question.to_lowercase();
    [
        "how much",
        "how many",
        "amount",
        "number of",
        "what percent",
        "ratio",
        "total",
        "when",
        "how long",
        "how often",
    ]
    .iter()
    .any(|phrase| question.contains(phrase))
}

/// The best candidates, without those that say the same as a better one.
fn distinct(candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    let mut chosen: Vec<Candidate<'_>> = Vec::new();
    let enough = candidates.first().map_or(0.0, |best| best.score * NEARLY);
    for candidate in candidates {
        if chosen.len() == MOST || candidate.score < enough {
            break;
        }
        if chosen.iter().all(|other| likeness(&candidate.terms, &other.terms) <= SAME) {
            chosen.push(candidate);
        }
    }
    chosen
}

/// The share of the shorter one's terms that both have.
fn likeness(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    a.intersection(b).count() as f32 / a.len().min(b.len()).max(1) as f32
}

fn quote(candidate: &Candidate<'_>, weights: &HashMap<String, f32>, analyzer: Analyzer) -> Quote {
    let worth = |word: &str| {
        let terms = analyzer.terms(word);
        terms.iter().filter_map(|term| weights.get(term)).sum()
    };
    let Candidate { passage, sentence, .. } = candidate;
    Quote {
        title: passage.title.clone(),
        page: page_at(&passage.pages, sentence.at),
        text: sentences::excerpt(&sentence.text, QUOTE_CHARS, worth),
    }
}
