//! Selects what answers a question best.
//!
//! In each relevant passage, the sentences and table rows are rated by how much of the question's subject they cover. Terms
//! are weighted by inverse frequency in the passages; words for place, time and manner count little ([`Intent`]). Terms in the
//! document's title need not be in the sentence. Terms around a sentence count less than its own. The rank of the passage
//! breaks near ties. What a sentence announces is quoted with it. A figure that is calculated from others, such as a ratio, is
//! answered with the rows of these.

use super::calculation::{Parts, parts};
use super::passage::{Passage, Unit, begins_reason};
use super::periods::{self, Asked, Period, report};
use super::question::{Intent, is_year};
use super::quote::{Quote, quote_block, quote_briefly, quote_rows};
use super::scope::{PassageTerms, Topic, in_scope, missing};
use crate::builtin::lexical::{self, Analyzer, Lexicon, Name, Question, Synonym, abbreviations, names};
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of quotes in an answer.
const MAX_QUOTES: usize = 3;
/// Maximum number of reports of a series that are quoted.
const MAX_REPORTS: usize = 4;
/// Maximum number of further quotes, from other passages.
const MAX_FURTHER: usize = 3;
/// Shorter sentences say too little.
const MIN_FURTHER_WORDS: usize = 4;
/// Maximum number of a question's rarest terms that are considered: no text contains all words of a long question.
const MAX_TOPIC_TERMS: usize = 5;
/// Candidates with less than this fraction of the best one's rating are left out.
const SECONDARY_SHARE: f32 = 0.5;
/// The same for further quotes.
const FURTHER_SHARE: f32 = 0.25;
/// Bonus for the first passage's rank; the n-th passage gets the n-th part.
const RANK_WEIGHT: f32 = 0.3;
/// Weight of a word such as “because” for what is kept of a long sentence if the question asks for a reason.
const REASON_WEIGHT: f32 = 3.0;
/// Sentences that have more than this fraction of terms in common are duplicates.
const MAX_SIMILARITY: f32 = 0.6;
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
/// The result of selecting quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Quotes, best first, and others that are less likely to answer the question. Both are empty if the question is out of scope.
    Quotes { best: Vec<Quote>, further: Vec<Quote> },
    /// Rows with the parts of a calculation, and words for the parts without a row.
    Parts { rows: Vec<Quote>, missing: Vec<String> },
    /// What to search for first: names that no passage contains, though their documents may, and parts of a calculation.
    Search(Vec<String>),
}

/// Selects quotes from the passages found for a question. `further` are the results of a second search, if there was one.
pub(super) fn select(
    question: &str,
    chunks: &[ScoredChunk],
    further: Option<&[ScoredChunk]>,
    lexicon: &Lexicon,
) -> Selection {
    let found: Vec<&ScoredChunk> = chunks.iter().chain(further.unwrap_or_default()).collect();
    let texts: String = chunks.iter().flat_map(|chunk| [&*chunk.text, "\n"]).collect();
    let analyzer = Analyzer::of(&texts);
    let asked = analyzer.question(question);
    let intent = Intent::of(question, analyzer);
    let synonyms = lexical::synonyms(question, lexicon);
    let all: Vec<Passage<'_>> = found.iter().map(|chunk| Passage::of(analyzer, chunk, &synonyms)).collect();
    let topics: Vec<Topic<'_>> = found.iter().map(|chunk| Topic::of(analyzer, &asked, chunk)).collect();
    let passages = &all[..chunks.len()];
    let mut passage_terms: Vec<PassageTerms<'_>> =
        topics.iter().zip(passages.iter().map(Passage::terms)).collect();
    let names = names(question);
    let identifiers = identifiers(question, &intent, &synonyms);
    let required: Vec<&Name> = names.iter().chain(&identifiers).collect();
    let missing = missing(&required, &asked, &passage_terms);
    let missing_words = missing.iter().map(|name| name.word.clone());
    if !missing.is_empty() && !chunks.is_empty() && further.is_none() {
        return Selection::Search(missing_words.collect());
    }
    // A name anywhere in a document counts for all of its passages.
    let mut unrelated: HashSet<DocumentId> = HashSet::new();
    for name in &required {
        let documents = documents_with(name, &found, analyzer);
        for ((_, terms), chunk) in passage_terms.iter_mut().zip(chunks) {
            if documents.contains(&chunk.document_id) {
                terms.extend(name.terms.iter().map(String::as_str));
            } else if missing.contains(name) {
                unrelated.insert(chunk.document_id);
            }
        }
    }
    let relevant = in_scope(&asked, &passage_terms, &intent);
    let in_capitals =
        abbreviations(question).into_iter().filter(|name| is_capitalised_in(&texts, &name.word));
    let names: Vec<Name> = names.into_iter().chain(in_capitals).collect();
    let criteria = Criteria::of(&asked, intent, &names, &synonyms, passages);
    let is_related = |rank: &usize| !unrelated.contains(&all[*rank].chunk.document_id);
    let in_scope = |rank: &usize| relevant.get(*rank) == Some(&true);
    let mut related: Vec<usize> = (0..all.len()).filter(is_related).collect();
    let periods = periods::asked(question);
    if periods == Asked::Latest {
        let reports: Vec<_> = related
            .iter()
            .filter(|rank| in_scope(rank))
            .filter_map(|rank| report(&all[*rank].chunk.title))
            .collect();
        let is_superseded = |title: &str| {
            let this = report(title);
            this.is_some_and(|(series, period)| {
                reports.iter().any(|other| other.0 == series && other.1 > period)
            })
        };
        related.retain(|rank| !is_superseded(&all[*rank].chunk.title));
    }
    if related.iter().any(in_scope) {
        let wanted: &[Synonym<'_>] = if criteria.intent.reason { &[] } else { &synonyms };
        match parts(wanted, &criteria.intent.years, &related, &all, &topics) {
            Some(Parts { missing, .. }) if !missing.is_empty() && further.is_none() => {
                let years = criteria.intent.years.iter().cloned();
                let names = names.iter().map(|name| name.word.clone());
                return Selection::Search(names.chain(missing).chain(years).collect());
            }
            Some(Parts { rows, missing }) if rows.len() >= missing.len() => {
                return Selection::Parts { rows: quote_rows(&rows, &criteria.intent.years), missing };
            }
            _ => {}
        }
    }
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for rank in related.into_iter().filter(in_scope) {
        candidates.extend(criteria.candidates(rank, &passages[rank], &topics[rank]));
    }
    let weight = |word: &str| {
        let reason = if criteria.intent.reason && begins_reason(word) { REASON_WEIGHT } else { 0.0 };
        reason + analyzer.terms(word).iter().map(|term| criteria.weight(term)).sum::<f32>()
    };
    let years = &criteria.intent.years;
    let (best, further) = match periods {
        Asked::Each => select_of_each(candidates),
        Asked::Latest | Asked::Any => select_candidates(candidates),
    };
    let quoted = |group: &Vec<Candidate<'_>>| match group.as_slice() {
        [one] => vec![quote_block(one.passage, one.index, one.block.clone(), years, &weight)],
        rows => quote_rows(&rows.iter().map(|row| (row.passage, row.index)).collect::<Vec<_>>(), years),
    };
    let briefly = |candidate: &Candidate<'_>| quote_briefly(candidate.passage, candidate.index, &weight);
    Selection::Quotes {
        best: best.iter().flat_map(quoted).collect(),
        further: further.iter().map(briefly).collect(),
    }
}

/// Returns years and abbreviations, which an answer has like names.
fn identifiers(question: &str, intent: &Intent, synonyms: &[Synonym<'_>]) -> Vec<Name> {
    let years = intent.years.iter().map(|year| Name { word: year.clone(), terms: vec![year.clone()] });
    let is_written_out = |name: &Name| {
        synonyms.iter().any(|synonym| name.terms.iter().all(|term| synonym.phrase.contains(term)))
    };
    let abbreviations = abbreviations(question).into_iter().filter(|name| !is_written_out(name));
    years.chain(abbreviations).collect()
}

/// Whether a text has a word of capital letters as a name with one.
fn is_capitalised_in(text: &str, word: &str) -> bool {
    let mut letters = word.chars();
    let capitalised: String =
        letters.next().into_iter().chain(letters.flat_map(char::to_lowercase)).collect();
    text.contains(&capitalised)
}

/// Returns the documents with a name in any of their passages.
fn documents_with(name: &Name, found: &[&ScoredChunk], analyzer: Analyzer) -> HashSet<DocumentId> {
    let has = |chunk: &&&ScoredChunk| {
        let terms: HashSet<String> =
            analyzer.terms(&chunk.title).into_iter().chain(analyzer.terms(&chunk.text)).collect();
        name.terms.iter().all(|term| terms.contains(term))
    };
    found.iter().filter(has).map(|chunk| chunk.document_id).collect()
}

/// A sentence or row that may answer the question, with what it announces.
struct Candidate<'a> {
    passage: &'a Passage<'a>,
    index: usize,
    block: Range<usize>,
    /// The share of the question that it covers, weighted by its suitability as a quote.
    share: f32,
    /// The rank of its passage, counted from 0.
    rank: usize,
}

impl Candidate<'_> {
    fn unit(&self) -> &Unit {
        &self.passage.units[self.index]
    }

    fn score(&self) -> f32 {
        self.share + RANK_WEIGHT / (self.rank + 1) as f32
    }

    /// Whether a reader can tell what it is about without its surroundings.
    fn says_enough(&self) -> bool {
        let sentence = &self.unit().sentence;
        sentence.row.is_some() || sentence.text.split(' ').count() >= MIN_FURTHER_WORDS
    }

    /// Whether two candidates are single rows of one table.
    fn shares_table(&self, other: &Self) -> bool {
        let is_row = |candidate: &Self| candidate.block.len() == 1;
        self.rank == other.rank && is_row(self) && is_row(other) && self.unit().is_in_table_of(other.unit())
    }

    /// Whether two candidates say the same.
    fn repeats(&self, other: &Self) -> bool {
        let overlaps = self.rank == other.rank
            && self.block.start < other.block.end
            && other.block.start < self.block.end;
        overlaps || self.unit().repeats(other.unit(), MAX_SIMILARITY)
    }
}

/// The criteria for rating sentences.
struct Criteria<'a> {
    intent: Intent,
    /// The weight of each of the question's terms: inverse frequency among the sentences, less for circumstances.
    weights: HashMap<&'a str, f32>,
    /// Adjacent terms of the question.
    pairs: Vec<(&'a str, &'a str)>,
    /// The question's terms that are names.
    names: HashSet<&'a str>,
    synonyms: &'a [Synonym<'a>],
    /// The keys of sentences that several documents have.
    repeated: HashSet<String>,
}

impl<'a> Criteria<'a> {
    fn of(
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
            intent,
        }
    }

    fn weight(&self, term: &str) -> f32 {
        self.weights.get(term).copied().unwrap_or(0.0)
    }

    /// Returns the terms of which a sentence must contain one: those of the topic that say what the question is about,
    /// without names and figures if others remain.
    fn subject<'t>(&self, topic: &Topic<'t>) -> Vec<&'t str> {
        let all = || topic.terms.iter().copied();
        let is_name = |term: &&str| self.names.contains(term);
        let is_figure = |term: &&str| term.contains(char::is_numeric);
        let narrow = all().filter(|term| self.intent.is_subject(term) && !is_name(term) && !is_figure(term));
        let narrow: Vec<&str> = narrow.collect();
        if !narrow.is_empty() {
            return narrow;
        }
        let wide: Vec<&str> = all().filter(|term| !is_name(term)).collect();
        if wide.is_empty() { all().collect() } else { wide }
    }

    /// Returns the sentences that may answer the question.
    fn candidates(&self, rank: usize, passage: &'a Passage<'a>, topic: &Topic<'_>) -> Vec<Candidate<'a>> {
        let subject = self.subject(topic);
        let mut candidates = Vec::new();
        for (index, unit) in passage.units.iter().enumerate() {
            let is_eligible = !unit.is_leader() && (!topic.only_named || unit.is_prose());
            if !is_eligible || !subject.iter().any(|term| unit.terms.contains(*term)) {
                continue;
            }
            let block = passage.block(index, self.intent.several);
            let share = self.share(topic, &subject, passage, index, block.clone())
                * passage.fitness(index, &block, &self.intent)
                * if self.repeated.contains(&unit.key()) { REPEATED_FACTOR } else { 1.0 };
            candidates.push(Candidate { passage, index, block, share, rank });
        }
        candidates
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

/// Factor for a sentence that several documents have.
const REPEATED_FACTOR: f32 = 0.3;
/// Number of documents with the same sentence from which it says nothing about one of them.
const REPEATED_DOCUMENTS: usize = 3;
/// Returns the keys of sentences that several documents have.
fn repeated(passages: &[Passage<'_>]) -> HashSet<String> {
    let mut documents: HashMap<String, HashSet<DocumentId>> = HashMap::new();
    for passage in passages {
        for unit in passage.units.iter().filter(|unit| unit.label.is_none()) {
            documents.entry(unit.key()).or_default().insert(passage.chunk.document_id);
        }
    }
    documents.retain(|_, documents| documents.len() >= REPEATED_DOCUMENTS);
    documents.into_keys().collect()
}

/// Returns the number of common terms relative to all.
pub(super) fn overlap<'t>(label: &HashSet<String>, terms: impl Iterator<Item = &'t str>) -> f32 {
    let terms: HashSet<&str> = terms.collect();
    let words: HashSet<&str> = label.iter().map(String::as_str).filter(|term| !is_year(term)).collect();
    let common = words.intersection(&terms).count();
    common as f32 / words.union(&terms).count().max(1) as f32
}

/// Selects the best candidate of each report in the series of the best one, in order of time; otherwise like
/// [`select_candidates`].
fn select_of_each(mut candidates: Vec<Candidate<'_>>) -> (Vec<Vec<Candidate<'_>>>, Vec<Candidate<'_>>) {
    candidates.sort_by(|a, b| b.score().total_cmp(&a.score()));
    let report_of = |candidate: &Candidate<'_>| report(&candidate.passage.chunk.title);
    let Some((series, _)) = candidates.first().and_then(report_of) else {
        return select_candidates(candidates);
    };
    let lowest = SECONDARY_SHARE * candidates.iter().map(|candidate| candidate.share).fold(0.0, f32::max);
    let mut chosen: Vec<(Period, usize)> = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let Some((_, period)) = report_of(candidate).filter(|(words, _)| *words == series) else { continue };
        // Reports repeat sentences with other figures.
        let is_new = chosen
            .iter()
            .all(|(other, at)| *other != period && candidates[*at].unit().terms != candidate.unit().terms);
        if is_new && chosen.len() < MAX_REPORTS && candidate.share >= lowest {
            chosen.push((period, at));
        }
    }
    if chosen.len() < 2 {
        return select_candidates(candidates);
    }
    chosen.sort_unstable();
    let mut candidates: Vec<Option<Candidate<'_>>> = candidates.into_iter().map(Some).collect();
    let best =
        chosen.into_iter().filter_map(|(_, at)| candidates[at].take()).map(|candidate| vec![candidate]);
    (best.collect(), Vec::new())
}

/// Selects candidates without duplicates, best first; rows of one table are grouped. Also returns the best one of each passage
/// that is left.
fn select_candidates(mut candidates: Vec<Candidate<'_>>) -> (Vec<Vec<Candidate<'_>>>, Vec<Candidate<'_>>) {
    // The stable sort keeps the order of equal candidates.
    candidates.sort_by(|a, b| b.score().total_cmp(&a.score()));
    let best_share = candidates.iter().map(|candidate| candidate.share).fold(0.0, f32::max);
    let (mut best, mut further): (Vec<Vec<Candidate<'_>>>, Vec<Candidate<'_>>) = Default::default();
    for candidate in candidates {
        let selected = || best.iter().flatten();
        let is_new = selected().all(|other| !candidate.repeats(other));
        let is_from = |other: &Candidate<'_>| other.rank == candidate.rank;
        if is_new && selected().count() < MAX_QUOTES && candidate.share >= SECONDARY_SHARE * best_share {
            match best.iter_mut().find(|group| group[0].shares_table(&candidate)) {
                Some(group) => group.push(candidate),
                None => best.push(vec![candidate]),
            }
        } else if is_new
            && further.len() < MAX_FURTHER
            && candidate.says_enough()
            && candidate.share >= FURTHER_SHARE * best_share
            && !selected().any(is_from)
            && further.iter().all(|other| !is_from(other) && !candidate.repeats(other))
        {
            further.push(candidate);
        }
    }
    (best, further)
}
