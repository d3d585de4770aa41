//! Selects what answers a question best.
//!
//! In each relevant passage, the sentences and table rows are rated by how much of the question's subject they cover. Terms
//! are weighted by inverse frequency in the passages; words for place, time and manner count little ([`Intent`]). Terms in the
//! document's title need not be in the sentence. Terms around a sentence count less than its own. The rank of the passage
//! breaks near ties. What a sentence announces is quoted with it. A figure that is calculated from others, such as a ratio, is
//! answered with the rows of these.

use super::passage::{Passage, Unit};
use super::question::{Intent, is_year};
use super::quote::{Quote, quote_block, quote_briefly, quote_rows};
use super::scope::{PassageTerms, Topic, in_scope, missing};
use crate::builtin::lexical::{
    self, Alternative, Analyzer, Lexicon, Name, Part, Question, Synonym, abbreviations, names,
};
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of quotes in an answer.
const MAX_QUOTES: usize = 3;
/// Maximum number of further quotes, from other passages.
const MAX_FURTHER: usize = 3;
/// Maximum number of a question's rarest terms that are considered: no text contains all words of a long question.
const MAX_TOPIC_TERMS: usize = 5;
/// Candidates with less than this fraction of the best one's rating are left out.
const SECONDARY_SHARE: f32 = 0.5;
/// The same for further quotes.
const FURTHER_SHARE: f32 = 0.25;
/// Bonus for the first passage's rank; the n-th passage gets the n-th part.
const RANK_WEIGHT: f32 = 0.3;
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
/// A row has a part of a calculation if this fraction of its label and the part is common to both.
const MIN_PART_FIT: f32 = 0.4;

/// The result of selecting quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Quotes, best first, and others that are less likely to answer the question. Both are empty if the question is out of scope.
    Quotes { best: Vec<Quote>, further: Vec<Quote> },
    /// Rows with the parts of a calculation.
    Parts(Vec<Quote>),
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
    let related: Vec<usize> = (0..all.len()).filter(is_related).collect();
    if related.iter().any(in_scope) {
        match criteria.parts(&related, &all, &topics) {
            Parts::All(rows) => return Selection::Parts(quote_rows(&rows, &criteria.intent.years)),
            Parts::Missing(words) if further.is_none() => {
                let years = criteria.intent.years.iter().cloned();
                let names = names.iter().map(|name| name.word.clone());
                return Selection::Search(names.chain(words).chain(years).collect());
            }
            Parts::Missing(_) | Parts::None => {}
        }
    }
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for rank in related.into_iter().filter(in_scope) {
        candidates.extend(criteria.candidates(rank, &passages[rank], &topics[rank]));
    }
    let weight = |word: &str| analyzer.terms(word).iter().map(|term| criteria.weight(term)).sum();
    let years = &criteria.intent.years;
    let (best, further) = select_candidates(candidates);
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

/// The rows with the parts of a calculation.
enum Parts<'a> {
    /// The question asks for no calculation.
    None,
    /// A row for each part.
    All(Vec<(&'a Passage<'a>, usize)>),
    /// Words for the parts without a row.
    Missing(Vec<String>),
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
        let label = unit.label.as_ref().map_or(0.0, |label| self.label_fit(label, subject));
        (terms / whole).min(1.0) + PAIR_WEIGHT / 2.0 * pairs / whole + names + LABEL_WEIGHT * label
    }

    /// How much the label of a row is the subject of the question, or other words for it; at most 1.
    fn label_fit(&self, label: &HashSet<String>, subject: &[&str]) -> f32 {
        let alternatives = self.synonyms.iter().filter(|synonym| !synonym.is_calculation());
        let alternatives = alternatives.flat_map(|synonym| synonym.parts().iter().flatten());
        let others = alternatives.map(|other| overlap(label, other.terms.iter().map(String::as_str)));
        others.fold(overlap(label, subject.iter().copied()), f32::max)
    }

    /// Returns the rows with the parts of a calculation in the question, all from one document.
    fn parts(&self, related: &[usize], passages: &'a [Passage<'a>], topics: &[Topic<'_>]) -> Parts<'a> {
        let calculations = self.synonyms.iter().filter(|synonym| synonym.is_calculation());
        let parts: Vec<&Part> = calculations.flat_map(Synonym::parts).collect();
        if parts.is_empty() {
            return Parts::None;
        }
        let named = related.iter().map(|rank| topics[*rank].named).fold(0.0, f32::max);
        let mut documents: Vec<DocumentId> = Vec::new();
        for rank in related.iter().filter(|rank| topics[**rank].named >= named) {
            let document = passages[*rank].chunk.document_id;
            if !documents.contains(&document) {
                documents.push(document);
            }
        }
        let rows_of = |document: &DocumentId| -> Vec<_> {
            let ranks = related.iter().filter(|rank| passages[**rank].chunk.document_id == *document);
            let passages: Vec<&'a Passage<'a>> = ranks.map(|rank| &passages[*rank]).collect();
            parts.iter().map(|part| self.row_with(part, &passages)).collect()
        };
        let found: Vec<Vec<_>> = documents.iter().map(rows_of).collect();
        if let Some(rows) = found.iter().find_map(|rows| rows.iter().copied().collect()) {
            return Parts::All(rows);
        }
        let missing = parts.iter().zip(found.first().into_iter().flatten()).filter(|(_, row)| row.is_none());
        let words = missing.filter_map(|(part, _)| part.first()).map(|alternative| alternative.words.clone());
        Parts::Missing(words.collect())
    }

    /// Returns the row whose label fits one of the alternatives of a part best.
    fn row_with(&self, part: &Part, passages: &[&'a Passage<'a>]) -> Option<(&'a Passage<'a>, usize)> {
        let mut best: Option<(f32, &'a Passage<'a>, usize)> = None;
        for passage in passages {
            for (index, unit) in passage.units.iter().enumerate() {
                let Some(label) = unit.label.as_ref().filter(|_| unit.has_figures()) else { continue };
                let fits = |Alternative { terms, .. }: &Alternative| {
                    let fit = overlap(label, terms.iter().map(String::as_str));
                    let is_whole =
                        terms.iter().all(|term| label.contains(term) || QUALIFIERS.contains(&&**term));
                    if is_whole { fit } else { 0.0 }
                };
                let fit = part.iter().map(fits).fold(0.0, f32::max);
                if fit < MIN_PART_FIT {
                    continue;
                }
                let years = &self.intent.years;
                let in_header = unit.above.iter().filter(|term| years.contains(*term)).count();
                let score = fit
                    + YEARS_WEIGHT * in_header as f32 / years.len().max(1) as f32
                    + if unit.is_in_statement() { STATEMENT_WEIGHT } else { 0.0 };
                if best.as_ref().is_none_or(|(highest, ..)| score > *highest) {
                    best = Some((score, passage, index));
                }
            }
        }
        best.map(|(_, passage, index)| (passage, index))
    }
}

/// Factor for a sentence that several documents have.
const REPEATED_FACTOR: f32 = 0.3;
/// Number of documents with the same sentence from which it says nothing about one of them.
const REPEATED_DOCUMENTS: usize = 3;
/// Terms of a part that a label may lack.
const QUALIFIERS: [&str; 3] = ["total", "net", "paid"];
/// Bonus for a row with the years of the question in its header, and for one of a financial statement.
const YEARS_WEIGHT: f32 = 0.3;
const STATEMENT_WEIGHT: f32 = 0.2;

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
fn overlap<'t>(label: &HashSet<String>, terms: impl Iterator<Item = &'t str>) -> f32 {
    let terms: HashSet<&str> = terms.collect();
    let words: HashSet<&str> = label.iter().map(String::as_str).filter(|term| !is_year(term)).collect();
    let common = words.intersection(&terms).count();
    common as f32 / words.union(&terms).count().max(1) as f32
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
            && candidate.share >= FURTHER_SHARE * best_share
            && !selected().any(is_from)
            && further.iter().all(|other| !is_from(other) && !candidate.repeats(other))
        {
            further.push(candidate);
        }
    }
    (best, further)
}
