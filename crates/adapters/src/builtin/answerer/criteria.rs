//! Rates the sentences and rows of passages by how much of the question's subject they cover.
//!
//! Terms are weighted by inverse frequency in the passages; words for place, time and manner count little ([`Intent`]). Terms in the
//! document's title need not be in the sentence. Terms around a sentence count less than its own. The rank of the passage breaks
//! near ties.

use super::choice::Candidate;
use super::kinds;
use super::numbered::{is_heading_of, is_number, units_in};
use super::opposites::Opposites;
use super::passage::{Passage, Unit, overlap};
use super::question::Intent;
use super::scope::Topic;
use docent_domain::id::DocumentId;
use docent_text::lexical::{Name, Question, Synonym};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of a question's rarest terms that are considered: no text contains all words of a long question.
const MAX_TOPIC_TERMS: usize = 5;
/// Weight of terms in the previous sentence, and of those in what a sentence announces.
const NEIGHBOUR_WEIGHT: f32 = 0.5;
/// Weight of terms in the header of a table and in the context of a row.
const HEADER_WEIGHT: f32 = 0.8;
/// Bonus for two terms that are adjacent as in the question, relative to their mean weight.
const PAIR_WEIGHT: f32 = 1.0;
/// Bonus for a sentence with all names of the question.
const NAMES_WEIGHT: f32 = 0.25;
/// Bonus for a row whose label consists of the question's subject.
const LABEL_WEIGHT: f32 = 0.5;

/// The criteria for rating sentences.
pub(super) struct Criteria<'a> {
    pub(super) intent: Intent,
    /// The weight of each of the question's terms: inverse frequency among the sentences, less for circumstances.
    pub(super) weights: HashMap<&'a str, f32>,
    /// Adjacent terms of the question.
    pub(super) pairs: Vec<(&'a str, &'a str)>,
    /// The question's terms that are names.
    pub(super) names: HashSet<&'a str>,
    pub(super) synonyms: &'a [Synonym<'a>],
    /// The keys of sentences that several documents, or several pages of a document, have.
    pub(super) repeated: HashSet<String>,
    /// Abbreviations whose long form is asked for.
    pub(super) defined: Vec<Name>,
    /// What the question names by a number, such as “Unit 14”, if a passage has it.
    pub(super) numbered: Vec<Name>,
    /// What the question asks for the opposite of.
    pub(super) opposites: Opposites,
    /// Whether the question is about several reports: one row of each is quoted.
    pub(super) compares_reports: bool,
    /// Whether the question is about a year and not about a part of it.
    pub(super) asks_for_year: bool,
    /// Whether the question asks for something else than what all reports of a kind say.
    pub(super) avoids_boilerplate: bool,
}

impl<'a> Criteria<'a> {
    /// Creates the criteria for a question from its terms, names and other words, and the passages found for it.
    pub(super) fn of(
        asked: &'a Question,
        intent: Intent,
        names: &'a [Name],
        synonyms: &'a [Synonym<'a>],
        passages: &[Passage<'_>],
    ) -> Self {
        let units: Vec<&Unit> = passages.iter().flat_map(|passage| &passage.units).collect();
        let weight = |term: &'a String| {
            let with = units.iter().filter(|unit| unit.terms.contains(term)).count();
            let rarity = (1.0 + units.len() as f32 / (with as f32 + 0.5)).ln();
            (term.as_str(), rarity * intent.factor(term))
        };
        let pair = |(_, parts): &'a (String, Vec<String>)| match parts.as_slice() {
            [first, second] => Some((first.as_str(), second.as_str())),
            _ => None,
        };
        Self {
            weights: asked.terms.iter().map(weight).collect(),
            pairs: asked.joined.iter().filter_map(pair).collect(),
            names: names.iter().flat_map(|name| &name.terms).map(String::as_str).collect(),
            synonyms,
            repeated: repeated(passages),
            defined: Vec::new(),
            numbered: Vec::new(),
            opposites: Opposites::of(""),
            compares_reports: false,
            avoids_boilerplate: true,
            asks_for_year: false,
            intent,
        }
    }

    /// The weight of a term of the question.
    pub(super) fn weight(&self, term: &str) -> f32 {
        self.weights.get(term).copied().unwrap_or(0.0)
    }

    /// Returns the terms of which a sentence must contain one: those of the topic that say what the question is about,
    /// without names and figures if others remain.
    fn subject<'t>(&self, topic: &Topic<'t>) -> Vec<&'t str> {
        let all = || topic.terms.iter().copied();
        let narrow: Vec<&str> = all().filter(|term| self.is_narrow(term)).collect();
        if !narrow.is_empty() {
            return narrow;
        }
        let wide: Vec<&str> = all().filter(|term| !self.names.contains(term)).collect();
        if wide.is_empty() { all().collect() } else { wide }
    }

    /// Whether a term says what the question is about and is neither a name nor a figure.
    pub(super) fn is_narrow(&self, term: &str) -> bool {
        self.intent.is_subject(term) && !self.names.contains(term) && !term.contains(char::is_numeric)
    }

    /// Whether the question asks for an amount, and none of these passages has a row or sentence with figures that names its whole
    /// subject, in its words or in others.
    pub(super) fn lacks_figure(&self, related: &[usize], all: &[Passage<'_>], topics: &[Topic<'_>]) -> bool {
        let others = || self.synonyms.iter().flat_map(|synonym| synonym.parts().iter().flatten());
        let names_subject = |rank: &usize| {
            let subject = self.subject(&topics[*rank]);
            all[*rank].units.iter().filter(|unit| unit.has_figures()).any(|unit| {
                subject.iter().all(|term| unit.terms.contains(*term))
                    || others().any(|other| other.terms.iter().all(|term| unit.terms.contains(term)))
            })
        };
        self.intent.amount && !self.intent.reason && !related.iter().any(names_subject)
    }

    /// Returns the sentences that may answer the question.
    pub(super) fn candidates(
        &self,
        rank: usize,
        passage: &'a Passage<'a>,
        topic: &Topic<'_>,
    ) -> Vec<Candidate<'a>> {
        let subject = self.subject(topic);
        let mut candidates = Vec::new();
        let in_numbered = units_in(passage, &self.numbered);
        for (index, unit) in passage.units.iter().enumerate() {
            let is_eligible = !unit.is_leader() && (!topic.only_named || unit.is_prose());
            let has_subject = subject.iter().any(|term| unit.terms.contains(*term))
                // The head of the table has the words, and the row the number: “error number 288”.
                || self.numbers().any(|number| unit.terms.contains(number))
                    && subject.iter().any(|term| unit.above.contains(*term));
            if !is_eligible || !has_subject {
                continue;
            }
            let block = passage.block(index, self.intent.several && !self.compares_reports);
            let share = self.share(topic, &subject, passage, index, block.clone())
                * passage.fitness(index, &block, &self.intent)
                * if self.repeated.contains(&unit.key()) { REPEATED_FACTOR } else { 1.0 }
                * if self.avoids_boilerplate && kinds::is_boilerplate(&unit.sentence.text) {
                    BOILERPLATE_FACTOR
                } else {
                    1.0
                }
                * match () {
                    () if is_heading_of(unit, &self.numbered) => NUMBERED_HEADING_FACTOR,
                    () if in_numbered[index] => 1.0,
                    () => OTHER_NUMBER_FACTOR,
                }
                * if self.opposites.are_in(&unit.sentence) { OPPOSITE_FACTOR } else { 1.0 }
                * if self.defines(unit) { DEFINITION_FACTOR } else { 1.0 }
                * if self.asks_for_year && unit.is_of_part_of_year() { PART_OF_YEAR_FACTOR } else { 1.0 };
            candidates.push(Candidate { passage, index, block, share, rank });
        }
        candidates
    }

    /// The numbers of the question that name something.
    fn numbers(&self) -> impl Iterator<Item = &'a str> {
        self.weights.keys().copied().filter(|term| is_number(term))
    }

    /// Whether a sentence has the long form of an abbreviation that is asked for.
    fn defines(&self, unit: &Unit) -> bool {
        self.defined.iter().any(|name| kinds::expands(&unit.sentence.text, &name.word))
    }

    /// Returns the share of the topic's weightiest terms that a sentence covers, with bonuses for adjacent terms, names and
    /// fitting labels.
    fn share(
        &self,
        topic: &Topic<'_>,
        subject: &[&str],
        passage: &Passage<'_>,
        index: usize,
        block: Range<usize>,
    ) -> f32 {
        let unit = &passage.units[index];
        let before = index.checked_sub(1).map(|before| &passage.units[before].terms);
        let announced: Vec<&Unit> = block.filter(|at| *at != index).map(|at| &passage.units[at]).collect();
        let has = |term: &str| match () {
            () if unit.terms.contains(term) => 1.0,
            () if unit.above.contains(term) => HEADER_WEIGHT,
            () if before.is_some_and(|before| before.contains(term)) => NEIGHBOUR_WEIGHT,
            () if announced.iter().any(|unit| unit.terms.contains(term)) => NEIGHBOUR_WEIGHT,
            () => 0.0,
        };
        let considered: Vec<&str> = topic
            .terms
            .iter()
            .copied()
            .filter(|term| !self.names.contains(term) || subject.contains(term))
            .collect();
        let mut weightiest: Vec<f32> = considered.iter().map(|term| self.weight(term)).collect();
        weightiest.sort_by(|a, b| b.total_cmp(a));
        let whole: f32 = weightiest.iter().take(MAX_TOPIC_TERMS).sum::<f32>().max(f32::MIN_POSITIVE);
        let terms: f32 = considered.iter().map(|term| has(term) * self.weight(term)).sum();
        let names = self.names.iter().filter(|name| unit.terms.contains(**name)).count();
        let names = NAMES_WEIGHT * names as f32 / self.names.len().max(1) as f32;
        let pairs = self.pairs.iter().filter(|(first, second)| unit.has_pair(first, second));
        let pairs: f32 = pairs.map(|(first, second)| self.weight(first) + self.weight(second)).sum();
        let label = unit.label.as_ref().filter(|_| !self.intent.reason);
        let label = label.map_or(0.0, |label| self.label_fit(label, subject));
        (terms / whole).min(1.0) + PAIR_WEIGHT / 2.0 * pairs / whole + names + LABEL_WEIGHT * label
    }

    /// How much the label of a row is the subject of the question, or other words for it; at most 1.
    fn label_fit(&self, label: &HashSet<String>, subject: &[&str]) -> f32 {
        let alternatives = self.synonyms.iter().filter(|synonym| !synonym.is_calculation());
        let alternatives = alternatives.flat_map(|synonym| synonym.parts().iter().flatten());
        let others = alternatives.map(|other| overlap(label, other.terms.iter().map(String::as_str)));
        others.fold(overlap(label, subject.iter().copied()), f32::max)
    }
}

/// Factor for a sentence or row about a part of a year if the question is about a year.
const PART_OF_YEAR_FACTOR: f32 = 0.7;
/// Factor for a sentence with the long form of an abbreviation that is asked for.
const DEFINITION_FACTOR: f32 = 2.0;
/// Factor for the heading of a part that the question names by a number.
const NUMBERED_HEADING_FACTOR: f32 = 1.6;
/// Factor for what is not in the part that the question names by a number.
const OTHER_NUMBER_FACTOR: f32 = 0.5;
/// Factor for the opposite of what the question asks for.
const OPPOSITE_FACTOR: f32 = 0.5;
/// Factor for what all reports of a kind say.
const BOILERPLATE_FACTOR: f32 = 0.3;
/// Factor for a sentence that several documents, or several pages of one, have.
const REPEATED_FACTOR: f32 = 0.3;
/// Number of documents with the same sentence from which it says nothing about one of them.
const REPEATED_DOCUMENTS: usize = 3;
/// The same for pages of one document: sources, headers and footers.
const REPEATED_PAGES: usize = 3;
/// Returns the keys of sentences that several documents, or several pages of one, have.
fn repeated(passages: &[Passage<'_>]) -> HashSet<String> {
    let mut places: HashMap<String, HashMap<DocumentId, HashSet<u32>>> = HashMap::new();
    for passage in passages {
        for (index, unit) in passage.units.iter().enumerate().filter(|(_, unit)| unit.label.is_none()) {
            let documents = places.entry(unit.key()).or_default();
            documents.entry(passage.chunk.document_id).or_default().insert(passage.page(index));
        }
    }
    places.retain(|_, documents| {
        documents.len() >= REPEATED_DOCUMENTS || documents.values().any(|pages| pages.len() >= REPEATED_PAGES)
    });
    places.into_keys().collect()
}
