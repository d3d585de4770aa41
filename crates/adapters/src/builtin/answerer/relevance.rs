//! Selects what answers a question best.
//!
//! In each relevant passage, the sentences and table rows are rated by how much of the question's subject they cover. Terms
//! are weighted by inverse frequency in the passages; words for place, time and manner count little ([`Intent`]). Terms in the
//! document's title need not be in the sentence. Terms around a sentence count less than its own. The rank of the passage
//! breaks near ties. What a sentence announces is quoted with it. A figure that is calculated from others, such as a ratio, is
//! answered with the rows of these.

use super::calculation::{Calculation, Parts, asked_figure, asked_parts, parts};
use super::choice::{Candidate, choose};
use super::kinds;
use super::mentions::{documents_with, has_adjacent, has_word, identifiers, is_about, is_capitalised_in};
use super::pages;
use super::passage::{Passage, Unit, begins_reason, overlap};
use super::periods::{self, Asked, report};
use super::question::Intent;
use super::quote::{Quote, quote_block, quote_briefly, quote_page, quote_rows};
use super::scope::{PassageTerms, Topic, in_scope, missing};
use crate::builtin::lexical::{
    self, Analyzer, Lexicon, Name, Question, Synonym, abbreviations, names, numbered,
};
use docent_domain::id::DocumentId;
use docent_domain::page_reference::PageReference;
use docent_domain::retrieval::ScoredChunk;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Maximum number of a question's rarest terms that are considered: no text contains all words of a long question.
const MAX_TOPIC_TERMS: usize = 5;
/// Weight of a word such as “because” for what is kept of a long sentence if the question asks for a reason.
const REASON_WEIGHT: f32 = 3.0;
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
/// Terms of a question for the text of a page rather than for something on it; German ones also as an English text has them.
const WHOLE_PAGE: &str = "auf aus contain content das dem der die im in inform inhalt read say show steht summar summari text von was zusammenfass";
/// Maximum number of quotes if the first has the figure that is asked for by its name.
const MAX_WITH_FIGURE: usize = 2;

/// The result of selecting quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Quotes, best first, and others that are less likely to answer the question, with the names and years of the question that
    /// the best ones lack.
    Quotes { best: Vec<Quote>, further: Vec<Quote>, absent: Vec<String> },
    /// The question is out of scope. These passages, by rank, are of documents that it may be about.
    Nothing { closest: Vec<usize> },
    /// Rows with the parts of a calculation, and words for the parts without a row.
    Parts { rows: Vec<Quote>, missing: Vec<String> },
    /// What to search for first: names that no passage contains, though their documents may, and parts of a calculation.
    Search(Vec<String>),
}

/// The passages that were found for a question.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The results of the search for the question, best first.
    pub(super) asked: &'a [ScoredChunk],
    /// The results of each further search.
    pub(super) further: &'a [Vec<ScoredChunk>],
    /// How many further searches were [`Selection::Search`].
    pub(super) retries: usize,
}

/// Selects quotes from the passages found for a question. `follow_up` is the end of it that was asked last, or all of it.
pub(super) fn select(question: &str, follow_up: &str, found: Found<'_>, lexicon: &Lexicon) -> Selection {
    let Found { asked: chunks, further: searches, retries } = found;
    let PageReference { pages, rest } = PageReference::of(question);
    let pages = pages::numbers(&pages, chunks);
    let on_pages: Vec<ScoredChunk>;
    let is_one_document = chunks.iter().all(|chunk| chunk.document_id == chunks[0].document_id);
    let (question, chunks, searches) = if pages.is_empty() {
        (question, chunks, searches)
    } else {
        on_pages = pages::chunks_of(chunks, &pages);
        (rest.as_str(), on_pages.as_slice(), &[][..])
    };
    let found: Vec<&ScoredChunk> = chunks.iter().chain(searches.iter().flatten()).collect();
    let texts: String = chunks.iter().flat_map(|chunk| [&*chunk.text, "\n"]).collect();
    let analyzer = Analyzer::of(&texts);
    let asked = analyzer.question(question);
    let intent = Intent::of(question, follow_up, analyzer);
    let synonyms = lexical::synonyms(question, lexicon, analyzer);
    let kinds = kinds::asked(&asked, analyzer);
    let mut all: Vec<Passage<'_>> =
        found.iter().map(|chunk| Passage::of(analyzer, chunk, &synonyms, &kinds)).collect();
    let mut topics: Vec<Topic<'_>> = found.iter().map(|chunk| Topic::of(analyzer, &asked, chunk)).collect();
    if !pages.is_empty() {
        all.iter_mut().for_each(|passage| passage.keep_pages(&pages));
        if is_one_document {
            topics = topics.into_iter().map(Topic::chosen).collect();
        }
        let title = chunks.first().map(|chunk| analyzer.terms(&chunk.title)).unwrap_or_default();
        if asked
            .terms
            .iter()
            .all(|term| title.contains(term) || WHOLE_PAGE.split(' ').any(|word| word == term))
        {
            let best =
                pages.iter().flat_map(|page| all.iter().find_map(|passage| quote_page(passage, *page)));
            return Selection::Quotes { best: best.collect(), further: Vec::new(), absent: Vec::new() };
        }
    }
    let all = all;
    let passages = &all[..chunks.len()];
    let mut passage_terms: Vec<PassageTerms<'_>> =
        topics.iter().zip(all.iter().map(Passage::terms)).collect();
    let names = names(question);
    let identifiers = identifiers(question, &intent, &synonyms);
    let required: Vec<&Name> = names.iter().chain(&identifiers).collect();
    let missing = missing(&required, &asked, &passage_terms[..chunks.len()]);
    let absent_parts: Vec<Name> = numbered(question, analyzer);
    let absent_parts: Vec<&Name> = absent_parts
        .iter()
        .filter(|name| !found.iter().any(|chunk| has_adjacent(chunk, name, analyzer)))
        .collect();
    let mut missing_words = missing.iter().chain(&absent_parts).map(|name| name.word.clone()).peekable();
    if missing_words.peek().is_some() && !chunks.is_empty() && retries == 0 && pages.is_empty() {
        return Selection::Search(missing_words.collect());
    }
    // A name anywhere in a document counts for all of its passages, and if any document has it, others are not meant.
    let mut unrelated: HashSet<DocumentId> = HashSet::new();
    for name in &required {
        let documents = documents_with(name, &found, analyzer);
        let is_distinctive = missing.contains(name) || (!documents.is_empty() && names.contains(name));
        for ((_, terms), chunk) in passage_terms.iter_mut().zip(&found) {
            if documents.contains(&chunk.document_id) {
                terms.extend(name.terms.iter().map(String::as_str));
            } else if is_distinctive {
                unrelated.insert(chunk.document_id);
            }
        }
    }
    let relevant = in_scope(&asked, &passage_terms, &intent);
    let in_capitals =
        abbreviations(question).into_iter().filter(|name| is_capitalised_in(&texts, &name.word));
    let names: Vec<Name> = names.iter().cloned().chain(in_capitals).collect();
    let abbreviations =
        if kinds::asks_for_definition(question) { abbreviations(question) } else { Vec::new() };
    let periods = periods::asked(question);
    let criteria = Criteria {
        defined: abbreviations,
        compares_reports: periods == Asked::Each,
        avoids_boilerplate: !kinds::is_boilerplate(question),
        ..Criteria::of(&asked, intent, &names, &synonyms, passages)
    };
    let is_related = |rank: &usize| !unrelated.contains(&all[*rank].chunk.document_id);
    let in_scope = |rank: &usize| relevant.get(*rank) == Some(&true);
    let mut related: Vec<usize> = (0..all.len()).filter(is_related).collect();
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
    let weight = |word: &str| {
        let reason = if criteria.intent.reason && begins_reason(word) { REASON_WEIGHT } else { 0.0 };
        reason + analyzer.terms(word).iter().map(|term| criteria.weight(term)).sum::<f32>()
    };
    let mut figure: Vec<Quote> = Vec::new();
    if related.iter().any(in_scope) {
        let subject: Vec<&str> =
            asked.terms.iter().map(String::as_str).filter(|term| criteria.is_narrow(term)).collect();
        let known = || {
            let passages = related.iter().map(|rank| &all[*rank]);
            let is_single = !criteria.compares_reports;
            is_single.then(|| asked_figure(&subject, &synonyms, lexicon, passages)).flatten()
        };
        let wanted = match criteria.intent.reason {
            true => Calculation::none(),
            false => known().unwrap_or_else(|| asked_parts(question, &synonyms, lexicon, analyzer)),
        };
        // What only has the form of a ratio is often in sentences.
        let is_known_calculation = synonyms.iter().any(Synonym::is_calculation);
        match parts(&wanted, &criteria.intent.years, &related, &all, &topics) {
            Some(found)
                if pages.is_empty()
                    && !wanted.is_printed()
                    && let Some(words) = found.next_search(retries, wanted.is_figure()) =>
            {
                let years = criteria.intent.years.iter().cloned();
                let names = names.iter().map(|name| name.word.clone());
                let parts =
                    std::iter::once(words.to_owned()).chain(found.missing).chain(wanted.figure_names());
                return Selection::Search(names.chain(parts).chain(years).collect());
            }
            Some(Parts { rows, missing, .. })
                if missing.is_empty()
                    || is_known_calculation && !wanted.is_figure() && rows.len() >= missing.len() =>
            {
                let (table_rows, sentences): (Vec<_>, Vec<_>) = rows
                    .into_iter()
                    .partition(|(passage, index)| passage.units[*index].sentence.row.is_some());
                let sentences =
                    sentences.into_iter().map(|(passage, index)| quote_briefly(passage, index, &weight));
                let rows = quote_rows(&table_rows, &criteria.intent.years).into_iter().chain(sentences);
                if !wanted.is_figure() {
                    return Selection::Parts { rows: rows.collect(), missing };
                }
                figure.extend(rows);
            }
            _ => {}
        }
        if retries == 0
            && pages.is_empty()
            && wanted.is_none()
            && criteria.lacks_figure(&related, &all, &topics)
        {
            let years = criteria.intent.years.iter().cloned();
            let names = names.iter().map(|name| name.word.clone());
            let subject = lexical::content_words(question)
                .filter(|word| analyzer.terms(word).iter().any(|term| criteria.is_narrow(term)));
            return Selection::Search(names.chain(subject).chain(years).collect());
        }
    }
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for rank in related.iter().copied().filter(in_scope) {
        candidates.extend(criteria.candidates(rank, &all[rank], &topics[rank]));
    }
    let years = &criteria.intent.years;
    let (best, further) = choose(candidates, periods);
    let quoted = |group: &Vec<Candidate<'_>>| match group.as_slice() {
        [one] => vec![quote_block(one.passage, one.index, one.block.clone(), years, &weight)],
        rows => quote_rows(&rows.iter().map(|row| (row.passage, row.index)).collect::<Vec<_>>(), years),
    };
    let briefly = |candidate: &Candidate<'_>| quote_briefly(candidate.passage, candidate.index, &weight);
    let is_absent = |name: &&&Name| {
        let is_in = |candidate: &Candidate<'_>| {
            candidate.has_all(&name.terms) || is_about(&candidate.passage.chunk.title, name, &found, analyzer)
        };
        !best.iter().flatten().any(is_in)
    };
    // A word that texts write in small letters, such as “market”, is no name.
    let is_word = |name: &&&Name| {
        let lower = name.word.to_lowercase();
        name.word.chars().all(char::is_alphanumeric)
            && (lower == name.word || !found.iter().any(|chunk| has_word(&chunk.text, &lower)))
    };
    let absent = required.iter().filter(is_word).filter(is_absent).map(|name| name.word.clone()).collect();
    let others = MAX_WITH_FIGURE.saturating_sub(figure.len());
    let others = if figure.is_empty() { usize::MAX } else { others };
    let best = without_repetitions(&[], figure.into_iter().chain(best.iter().take(others).flat_map(quoted)));
    if best.is_empty() {
        return Selection::Nothing { closest: related };
    }
    let further = without_repetitions(&best, further.iter().map(briefly));
    Selection::Quotes { best, further, absent }
}

/// The words of the series of reports that a question compares, or whose latest it asks for.
pub(super) fn series(question: &str, chunks: &[ScoredChunk]) -> Option<String> {
    let asks = periods::asked(question) != Asked::Any && PageReference::of(question).pages.is_empty();
    let (words, _) = chunks.iter().filter(|_| asks).find_map(|chunk| report(&chunk.title))?;
    Some(words.join(" "))
}

/// The quotes that are not part of a previous one, or of one of `before`.
fn without_repetitions(before: &[Quote], quotes: impl Iterator<Item = Quote>) -> Vec<Quote> {
    let mut kept: Vec<Quote> = Vec::new();
    for quote in quotes {
        let text = quote.text.trim_matches(['…', ' ']);
        if !before.iter().chain(&kept).any(|other| other.title == quote.title && other.text.contains(text)) {
            kept.push(quote);
        }
    }
    kept
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
    /// The keys of sentences that several documents, or several pages of a document, have.
    repeated: HashSet<String>,
    /// Abbreviations whose long form is asked for.
    defined: Vec<Name>,
    /// Whether the question is about several reports: one row of each is quoted.
    compares_reports: bool,
    /// Whether the question asks for something else than what all reports of a kind say.
    avoids_boilerplate: bool,
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
            defined: Vec::new(),
            compares_reports: false,
            avoids_boilerplate: true,
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
        let narrow: Vec<&str> = all().filter(|term| self.is_narrow(term)).collect();
        if !narrow.is_empty() {
            return narrow;
        }
        let wide: Vec<&str> = all().filter(|term| !self.names.contains(term)).collect();
        if wide.is_empty() { all().collect() } else { wide }
    }

    /// Whether a term says what the question is about and is neither a name nor a figure.
    fn is_narrow(&self, term: &str) -> bool {
        self.intent.is_subject(term) && !self.names.contains(term) && !term.contains(char::is_numeric)
    }

    /// Whether the question asks for an amount, and none of these passages has a row or sentence with figures that names its whole
    /// subject, in its words or in others.
    fn lacks_figure(&self, related: &[usize], all: &[Passage<'_>], topics: &[Topic<'_>]) -> bool {
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
    fn candidates(&self, rank: usize, passage: &'a Passage<'a>, topic: &Topic<'_>) -> Vec<Candidate<'a>> {
        let subject = self.subject(topic);
        let mut candidates = Vec::new();
        for (index, unit) in passage.units.iter().enumerate() {
            let is_eligible = !unit.is_leader() && (!topic.only_named || unit.is_prose());
            if !is_eligible || !subject.iter().any(|term| unit.terms.contains(*term)) {
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
                * if self.defines(unit) { DEFINITION_FACTOR } else { 1.0 };
            candidates.push(Candidate { passage, index, block, share, rank });
        }
        candidates
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

/// Factor for a sentence with the long form of an abbreviation that is asked for.
const DEFINITION_FACTOR: f32 = 2.0;
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
