//! Which sentences answer a question best.
//!
//! A passage that lacks most of what the question is about is left aside. A sentence of the others
//! is worth the share of the question's terms that it has, each weighted by its rarity
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
/// A passage with a smaller share of the question is about something else.
const PASSAGE_ENOUGH: f32 = 0.5;
/// A sentence with a smaller share of the question is no answer to it.
const ENOUGH: f32 = 0.44;
/// Shares are those of so many of the question's rarest terms at most: no text has all words of a
/// long question.
const TOPIC_TERMS: usize = 5;
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
/// When the question names one document much better than another, the other one is not meant.
const NAMED_ENOUGH: f32 = 0.6;
/// How much a figure in the sentence helps a question for an amount.
const FIGURE_FACTOR: f32 = 1.15;

/// A passage in sentences.
struct Passage<'a> {
    chunk: &'a ScoredChunk,
    sentences: Vec<(Sentence, HashSet<String>)>,
}

struct Candidate<'a> {
    chunk: &'a ScoredChunk,
    sentence: &'a Sentence,
    terms: &'a HashSet<String>,
    score: f32,
}

/// The sentences to quote, best first; none when nothing fits well enough.
pub(super) fn quotes(question: &str, chunks: &[ScoredChunk]) -> Vec<Quote> {
    let analyzer = Analyzer::default();
    let asked = analyzer.question(question);
    let passages: Vec<Passage<'_>> = chunks.iter().map(|chunk| Passage::of(analyzer, chunk)).collect();
    let weights = Weights::of(&asked, &passages);
    let wants_figure = asks_for_figure(question);
    let topics: Vec<Topic<'_>> = chunks.iter().map(|chunk| Topic::of(analyzer, &asked, chunk)).collect();
    let named = topics.iter().map(|topic| topic.named).fold(0.0, f32::max);
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (passage, topic) in passages.iter().zip(&topics) {
        let is_meant = topic.named >= NAMED_ENOUGH * named;
        if is_meant && topic.share(&weights, |term| passage.has(term)) >= PASSAGE_ENOUGH {
            candidates.extend(passage.candidates(topic, &weights, wants_figure));
        }
    }
    // Stable: of equals the one from the better passage stays first.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    let chosen = distinct(candidates);
    chosen.iter().map(|candidate| quote(candidate, &weights, analyzer)).collect()
}

/// How rare each of the question's terms is among the sentences.
struct Weights(HashMap<String, f32>);

impl Weights {
    fn of(asked: &Question, passages: &[Passage<'_>]) -> Self {
        let sentences: Vec<_> = passages.iter().flat_map(|passage| &passage.sentences).collect();
        let weight = |term: &String| {
            let with = sentences.iter().filter(|(_, terms)| terms.contains(term)).count();
            (term.clone(), (1.0 + sentences.len() as f32 / (with as f32 + 0.5)).ln())
        };
        Self(asked.terms.iter().map(weight).collect())
    }

    fn get(&self, term: &str) -> f32 {
        self.0.get(term).copied().unwrap_or(0.0)
    }
}

/// What a question asks of one document: its terms without those that the document's title has.
struct Topic<'a> {
    terms: Vec<&'a str>,
    /// The share of the question's terms that name the document.
    named: f32,
    /// Whether the question does no more than name the document.
    only_named: bool,
}

impl<'a> Topic<'a> {
    fn of(analyzer: Analyzer, asked: &'a Question, chunk: &ScoredChunk) -> Self {
        let title: HashSet<String> = analyzer.distinct_terms(&chunk.title).into_iter().collect();
        let joined = asked.joined.iter().filter(|(joined, _)| title.contains(joined));
        let parts: HashSet<&String> = joined.flat_map(|(_, parts)| parts).collect();
        let names = |term: &&String| title.contains(*term) || parts.contains(*term);
        let (named, terms): (Vec<&String>, Vec<&String>) = asked.terms.iter().partition(names);
        let only_named = terms.is_empty();
        let terms = if only_named { &named } else { &terms };
        Self {
            terms: terms.iter().map(|term| term.as_str()).collect(),
            named: named.len() as f32 / asked.terms.len().max(1) as f32,
            only_named,
        }
    }

    /// The weight of the terms that `has` finds, as a share of that of the rarest ones.
    fn share(&self, weights: &Weights, has: impl Fn(&str) -> f32) -> f32 {
        let mut rarest: Vec<f32> = self.terms.iter().map(|term| weights.get(term)).collect();
        rarest.sort_by(|a, b| b.total_cmp(a));
        let whole: f32 = rarest.iter().take(TOPIC_TERMS).sum();
        let found: f32 = self.terms.iter().map(|term| has(term) * weights.get(term)).sum();
        (found / whole.max(f32::MIN_POSITIVE)).min(1.0)
    }
}

impl<'a> Passage<'a> {
    fn of(analyzer: Analyzer, chunk: &'a ScoredChunk) -> Self {
        let terms = |sentence: Sentence| {
            let terms = analyzer.distinct_terms(&sentence.text).into_iter().collect();
            (sentence, terms)
        };
        Self { chunk, sentences: sentences::split(&chunk.text).into_iter().map(terms).collect() }
    }

    /// 1 when a sentence has the term, else 0.
    fn has(&self, term: &str) -> f32 {
        f32::from(u8::from(self.sentences.iter().any(|(_, terms)| terms.contains(term))))
    }

    /// The sentences that may answer the question.
    fn candidates(&'a self, topic: &Topic<'_>, weights: &Weights, wants_figure: bool) -> Vec<Candidate<'a>> {
        let nothing = HashSet::new();
        let before = std::iter::once(&nothing).chain(self.sentences.iter().map(|(_, terms)| terms));
        let mut candidates = Vec::new();
        for ((sentence, terms), before) in self.sentences.iter().zip(before) {
            let has = |term: &str| match () {
                () if terms.contains(term) => 1.0,
                () if before.contains(term) => HEADING_WEIGHT,
                () => 0.0,
            };
            let share = topic.share(weights, has);
            let own = topic.terms.iter().filter(|term| terms.contains(**term)).count();
            let text = sentence.text.as_str();
            let unfit = is_leader(text) || (topic.only_named && !is_prose(text));
            if share >= ENOUGH && own >= topic.terms.len().min(2) && !unfit {
                let score = share * fitness(text, wants_figure) + NAMED_WEIGHT * topic.named;
                candidates.push(Candidate { chunk: self.chunk, sentence, terms, score });
            }
        }
        candidates
    }
}

/// How well a text's form suits a quote.
fn fitness(text: &str, wants_figure: bool) -> f32 {
    let length = match text.split(' ').count() {
        0..=3 => 0.5,
        4..=6 => 0.8,
        7..=60 => 1.0,
        _ => 0.8,
    };
    let has_figure = text.contains(|c: char| c.is_ascii_digit());
    if wants_figure && has_figure { length * FIGURE_FACTOR } else { length }
}

/// Whether a line is one of a table of contents.
fn is_leader(text: &str) -> bool {
    text.contains(". . .") || text.contains("....")
}

/// Whether a text is a sentence rather than a heading or a list of names.
fn is_prose(text: &str) -> bool {
    let words = text.split(' ');
    let small = words.clone().filter(|word| word.starts_with(char::is_lowercase)).count();
    text.ends_with(['.', '!', '?']) && small * 2 >= words.count()
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
        if chosen.iter().all(|other| likeness(candidate.terms, other.terms) <= SAME) {
            chosen.push(candidate);
        }
    }
    chosen
}

/// The share of the shorter one's terms that both have.
fn likeness(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    a.intersection(b).count() as f32 / a.len().min(b.len()).max(1) as f32
}

fn quote(candidate: &Candidate<'_>, weights: &Weights, analyzer: Analyzer) -> Quote {
    let worth = |word: &str| analyzer.terms(word).iter().map(|term| weights.get(term)).sum();
    let Candidate { chunk, sentence, .. } = candidate;
    Quote {
        title: chunk.title.clone(),
        page: page_at(&chunk.pages, sentence.at),
        text: sentences::excerpt(&sentence.text, QUOTE_CHARS, worth).replace(['“', '”', '"'], "'"),
    }
}
