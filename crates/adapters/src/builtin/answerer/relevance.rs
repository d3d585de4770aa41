//! Selects the sentences that answer a question best.
//!
//! From each relevant passage, the sentence that covers most of the question's terms is quoted. Terms are weighted by
//! inverse frequency in the passages. Terms in the document's title need not be in the sentence. Terms of the previous
//! sentence, often a heading, count half; those of a table's header count more for each of its rows. The rank of the passages weighs more than the coverage. If a sentence covers
//! nearly the whole question, sentences that cover little of it are left out.

use super::scope::{PassageTerms, Topic, in_scope, missing};
use super::sentences::{self, Row, Sentence};
use crate::builtin::lexical::{self, Analyzer, Lexicon, Question, Synonym};
use crate::builtin::lexical::{Name, names};
use docent_domain::chunk::page_at;
use docent_domain::id::DocumentId;
use docent_domain::retrieval::ScoredChunk;
use docent_domain::table;
use std::collections::{HashMap, HashSet};

/// A quoted sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quote {
    /// The document's title.
    pub(super) title: String,
    /// The page, counted from 1.
    pub(super) page: u32,
    /// The text, possibly shortened; a Markdown table for a row of a table.
    pub(super) text: String,
    /// Whether the text is a table.
    pub(super) is_table: bool,
}

/// Maximum number of quotes in an answer.
const MAX_QUOTES: usize = 5;
/// Maximum number of a question's rarest terms that are considered: no text contains all words of a long question.
const MAX_TOPIC_TERMS: usize = 5;
/// A sentence that covers this share of the question answers it.
const ANSWER_SHARE: f32 = 0.8;
/// If a sentence answers the question, others need this fraction of its share to be quoted.
const SECONDARY_SHARE: f32 = 0.5;
/// Bonus for the first passage's rank; the n-th passage gets the n-th part.
const RANK_WEIGHT: f32 = 1.0;
/// Sentences that have more than this fraction of terms in common are duplicates.
const MAX_SIMILARITY: f32 = 0.6;
/// Longer quotes are cut.
const QUOTE_CHARS: usize = 350;
/// Maximum number of columns of a quoted table, and of characters of its cells.
const TABLE_COLUMNS: usize = 7;
const CELL_CHARS: usize = 160;
/// Weight of terms in the previous sentence.
const HEADING_WEIGHT: f32 = 0.5;
/// Weight of terms in the header of a table and in the context of a row.
const HEADER_WEIGHT: f32 = 0.8;
/// Bonus for two terms that are adjacent as in the question, relative to their mean weight.
const PAIR_WEIGHT: f32 = 1.0;
/// Bonus for a sentence with all names of the question.
const NAMES_WEIGHT: f32 = 0.25;
/// Factor for a sentence with a figure if the question asks for an amount.
const FIGURE_FACTOR: f32 = 1.15;

/// A passage split into sentences.
struct Passage<'a> {
    chunk: &'a ScoredChunk,
    sentences: Vec<AnalysedSentence>,
}

/// A sentence with its terms.
struct AnalysedSentence {
    sentence: Sentence,
    terms: HashSet<String>,
    /// The terms in order.
    sequence: Vec<String>,
    /// For a row of a table, the terms of the header and of its context.
    above: HashSet<String>,
}

struct Candidate<'a> {
    chunk: &'a ScoredChunk,
    analysed: &'a AnalysedSentence,
    /// The share of the question that it covers, weighted by its suitability as a quote.
    share: f32,
    /// The rank of its passage, counted from 0.
    rank: usize,
}

/// The result of selecting quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// Quotes, best first; empty if the question is out of scope.
    Quotes(Vec<Quote>),
    /// Names to search for first: no passage contains them, but their documents may.
    Names(Vec<String>),
}

/// Selects quotes from the passages found for a question. `name_results` are the results of a search for missing names,
/// if there was one.
pub(super) fn select(
    question: &str,
    chunks: &[ScoredChunk],
    name_results: Option<&[ScoredChunk]>,
    lexicon: &Lexicon,
) -> Selection {
    let texts: String = chunks.iter().flat_map(|chunk| [&*chunk.text, "\n"]).collect();
    let analyzer = Analyzer::of(&texts);
    let analysed_question = analyzer.question(question);
    let synonyms = lexical::synonyms(question, lexicon);
    let passages: Vec<Passage<'_>> =
        chunks.iter().map(|chunk| Passage::of(analyzer, chunk, &synonyms)).collect();
    let topics: Vec<Topic<'_>> =
        chunks.iter().map(|chunk| Topic::of(analyzer, &analysed_question, chunk)).collect();
    let mut passage_terms: Vec<PassageTerms<'_>> =
        topics.iter().zip(passages.iter().map(Passage::terms)).collect();
    let names = names(question);
    let missing = missing(&names, &analysed_question, &passage_terms);
    if !missing.is_empty() && !chunks.is_empty() && name_results.is_none() {
        return Selection::Names(missing.into_iter().map(|name| name.word.clone()).collect());
    }
    // A name anywhere in a document counts for all of its passages.
    let found: Vec<&ScoredChunk> = chunks.iter().chain(name_results.unwrap_or_default()).collect();
    let mut unrelated: HashSet<DocumentId> = HashSet::new();
    for name in &names {
        let documents = documents_with(name, &found, analyzer);
        for ((_, terms), chunk) in passage_terms.iter_mut().zip(chunks) {
            if documents.contains(&chunk.document_id) {
                terms.extend(name.terms.iter().map(String::as_str));
            } else if missing.contains(&name) {
                unrelated.insert(chunk.document_id);
            }
        }
    }
    let relevant = in_scope(&analysed_question, &passage_terms);
    let criteria = Criteria::of(question, &analysed_question, &names, &passages);
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (rank, (passage, topic)) in passages.iter().zip(&topics).enumerate() {
        if relevant.get(rank) == Some(&true) && !unrelated.contains(&passage.chunk.document_id) {
            candidates.extend(passage.candidates(rank, topic, &criteria));
        }
    }
    let selected = select_candidates(candidates);
    Selection::Quotes(selected.iter().map(|candidate| quote(candidate, &criteria, analyzer)).collect())
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

/// The criteria for rating sentences.
struct Criteria<'a> {
    /// The inverse frequency of each of the question's terms among the sentences.
    weights: HashMap<&'a str, f32>,
    /// Adjacent terms of the question.
    pairs: Vec<(&'a str, &'a str)>,
    /// The question's terms that are names.
    names: HashSet<&'a str>,
    /// Whether the question asks for an amount.
    asks_for_figure: bool,
}

impl<'a> Criteria<'a> {
    fn of(question: &str, asked: &'a Question, names: &'a [Name], passages: &[Passage<'_>]) -> Self {
        let sentences: Vec<_> = passages.iter().flat_map(|passage| &passage.sentences).collect();
        let weight = |term: &'a String| {
            let with = sentences.iter().filter(|sentence| sentence.terms.contains(term)).count();
            (term.as_str(), (1.0 + sentences.len() as f32 / (with as f32 + 0.5)).ln())
        };
        let pair = |(_, parts): &'a (String, Vec<String>)| match parts.as_slice() {
            [first, second] => Some((first.as_str(), second.as_str())),
            _ => None,
        };
        Self {
            weights: asked.terms.iter().map(weight).collect(),
            pairs: asked.joined.iter().filter_map(pair).collect(),
            names: names.iter().flat_map(|name| &name.terms).map(String::as_str).collect(),
            asks_for_figure: asks_for_figure(question),
        }
    }

    fn weight(&self, term: &str) -> f32 {
        self.weights.get(term).copied().unwrap_or(0.0)
    }

    /// Returns the terms that a sentence must contain: the topic without names, unless it consists only of names.
    fn subject<'t>(&self, topic: &Topic<'t>) -> Vec<&'t str> {
        let subject: Vec<&str> =
            topic.terms.iter().copied().filter(|term| !self.names.contains(term)).collect();
        if subject.is_empty() { topic.terms.clone() } else { subject }
    }

    /// Returns the share of the topic's rarest terms by weight that a sentence covers, given the terms `before` of the
    /// previous sentence, with bonuses for adjacent terms and names.
    fn share(&self, topic: &Topic<'_>, sentence: &AnalysedSentence, before: &HashSet<String>) -> f32 {
        let subject = self.subject(topic);
        let mut rarest: Vec<f32> = subject.iter().map(|term| self.weight(term)).collect();
        rarest.sort_by(|a, b| b.total_cmp(a));
        let whole: f32 = rarest.iter().take(MAX_TOPIC_TERMS).sum();
        let has = |term: &str| match () {
            () if sentence.terms.contains(term) => 1.0,
            () if sentence.above.contains(term) => HEADER_WEIGHT,
            () if before.contains(term) => HEADING_WEIGHT,
            () => 0.0,
        };
        let terms: f32 = subject.iter().map(|term| has(term) * self.weight(term)).sum();
        let names = self.names.iter().filter(|name| sentence.terms.contains(**name)).count();
        let names = NAMES_WEIGHT * names as f32 / self.names.len().max(1) as f32;
        let is_adjacent = |(first, second): &&(&str, &str)| {
            sentence.sequence.windows(2).any(|pair| pair[0] == *first && pair[1] == *second)
        };
        let pairs = self.pairs.iter().filter(is_adjacent);
        let pairs: f32 = pairs.map(|(first, second)| self.weight(first) + self.weight(second)).sum();
        let whole = whole.max(f32::MIN_POSITIVE);
        (terms / whole).min(1.0) + PAIR_WEIGHT / 2.0 * pairs / whole + names
    }
}

impl<'a> Passage<'a> {
    /// Splits a passage. A sentence with other words for a phrase of the question has the terms of the phrase too.
    fn of(analyzer: Analyzer, chunk: &'a ScoredChunk, synonyms: &[Synonym<'_>]) -> Self {
        let analysed = |sentence: Sentence| {
            let sequence = analyzer.terms(&sentence.text);
            let above = sentence.row.iter().flat_map(|row| {
                let header = row.header.iter().map(|cell| analyzer.terms(cell));
                header.chain([analyzer.terms(&row.context)]).flatten()
            });
            let above: HashSet<String> = above.collect();
            let mut terms: HashSet<String> = sequence.iter().cloned().collect();
            let has = |term: &str| terms.contains(term) || above.contains(term);
            let meant: Vec<&Synonym<'_>> = synonyms.iter().filter(|synonym| synonym.is_in(has)).collect();
            terms.extend(meant.into_iter().flat_map(|synonym| synonym.phrase).cloned());
            AnalysedSentence { terms, sequence, above, sentence }
        };
        Self { chunk, sentences: sentences::split(&chunk.text).into_iter().map(analysed).collect() }
    }

    /// Returns the terms of all sentences.
    fn terms<'s>(&'s self) -> HashSet<&'s str> {
        let terms = |sentence: &'s AnalysedSentence| sentence.terms.iter().chain(&sentence.above);
        self.sentences.iter().flat_map(terms).map(String::as_str).collect()
    }

    /// Returns the sentences that may answer the question.
    fn candidates(&'a self, rank: usize, topic: &Topic<'_>, criteria: &Criteria<'_>) -> Vec<Candidate<'a>> {
        let nothing = HashSet::new();
        let subject = criteria.subject(topic);
        let before = std::iter::once(&nothing).chain(self.sentences.iter().map(|sentence| &sentence.terms));
        let mut candidates = Vec::new();
        for (analysed, before) in self.sentences.iter().zip(before) {
            let text = analysed.sentence.text.as_str();
            let is_eligible = !is_leader(text) && (!topic.only_named || is_prose(text));
            if is_eligible && subject.iter().any(|term| analysed.terms.contains(*term)) {
                let fitness = match &analysed.sentence.row {
                    Some(row) => row_fitness(row, criteria.asks_for_figure),
                    None => fitness(text, criteria.asks_for_figure),
                };
                let share = criteria.share(topic, analysed, before) * fitness;
                candidates.push(Candidate { chunk: self.chunk, analysed, share, rank });
            }
        }
        candidates
    }
}

/// Rates how suitable a row of a table is as a quote.
fn row_fitness(row: &Row, wants_figure: bool) -> f32 {
    let mut entries = row.cells.iter().skip(1).filter(|cell| !cell.is_empty()).peekable();
    let is_contents = row.cells.len() == 2 && row.header.iter().all(String::is_empty);
    match () {
        () if entries.peek().is_none() => 0.3,
        // A table of contents.
        () if is_contents => 0.5,
        () if wants_figure && entries.any(|cell| cell.contains(|c: char| c.is_ascii_digit())) => {
            FIGURE_FACTOR
        }
        () => 1.0,
    }
}

/// Rates how suitable a text is as a quote.
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

/// Whether a line belongs to a table of contents.
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

/// Selects candidates without duplicates, best first: the best one of each passage, and further ones only if they answer
/// the question.
fn select_candidates(mut candidates: Vec<Candidate<'_>>) -> Vec<Candidate<'_>> {
    // The stable sort keeps the order of equal candidates.
    candidates.sort_by(|a, b| b.share.total_cmp(&a.share));
    let best = candidates.first().map_or(0.0, |best| best.share);
    let min_share = if best >= ANSWER_SHARE { best * SECONDARY_SHARE } else { 0.0 };
    let is_new = |candidate: &Candidate<'_>, selected: &[Candidate<'_>]| {
        selected
            .iter()
            .all(|other| similarity(&candidate.analysed.terms, &other.analysed.terms) <= MAX_SIMILARITY)
    };
    let (mut selected, mut further): (Vec<Candidate<'_>>, Vec<Candidate<'_>>) = Default::default();
    for candidate in candidates {
        let is_first = selected.iter().all(|other| other.rank != candidate.rank);
        if is_first && candidate.share >= min_share && is_new(&candidate, &selected) {
            selected.push(candidate);
        } else if candidate.share >= ANSWER_SHARE {
            further.push(candidate);
        }
    }
    for candidate in further {
        if selected.len() < MAX_QUOTES && is_new(&candidate, &selected) {
            selected.push(candidate);
        }
    }
    let score = |candidate: &Candidate<'_>| candidate.share + RANK_WEIGHT / (candidate.rank + 1) as f32;
    selected.sort_by(|a, b| score(b).total_cmp(&score(a)));
    selected.truncate(MAX_QUOTES);
    selected
}

/// Returns the number of common terms relative to the larger set.
fn similarity(a: &HashSet<String>, b: &HashSet<String>) -> f32 {
    a.intersection(b).count() as f32 / a.len().max(b.len()).max(1) as f32
}

fn quote(candidate: &Candidate<'_>, criteria: &Criteria<'_>, analyzer: Analyzer) -> Quote {
    let weight = |word: &str| analyzer.terms(word).iter().map(|term| criteria.weight(term)).sum();
    let Candidate { chunk, analysed: AnalysedSentence { sentence, .. }, .. } = candidate;
    let text = match &sentence.row {
        Some(row) => table_of(row, weight),
        None => sentences::excerpt(&sentence.text, QUOTE_CHARS, weight).replace(['“', '”', '"'], "'"),
    };
    Quote {
        title: chunk.title.clone(),
        page: page_at(&chunk.pages, sentence.at),
        text,
        is_table: sentence.row.is_some(),
    }
}

/// Writes a row with the header of its table. The entry below the header that fits the question best is marked, and of a
/// wide table only that column and its neighbours are shown.
fn table_of(row: &Row, weight: impl Fn(&str) -> f32) -> String {
    let weights: Vec<f32> = row.header.iter().map(|header| weight(header)).collect();
    let entries: Vec<usize> = (1..row.cells.len()).filter(|column| !row.cells[*column].is_empty()).collect();
    let best = entries.iter().copied().max_by(|a, b| weights[*a].total_cmp(&weights[*b]).then(b.cmp(a)));
    let is_best_alone =
        |best: &usize| entries.iter().all(|column| column == best || weights[*column] < weights[*best]);
    let marked = best.filter(is_best_alone);
    let first = match best {
        Some(best) if row.header.len() > TABLE_COLUMNS => {
            best.saturating_sub(TABLE_COLUMNS / 2).clamp(1, row.header.len() - TABLE_COLUMNS + 1)
        }
        _ => 1,
    };
    let shown: Vec<usize> =
        std::iter::once(0).chain(first..row.header.len().min(first + TABLE_COLUMNS - 1)).collect();
    let line = |cell: &dyn Fn(usize) -> String| {
        let cells: Vec<String> = shown.iter().map(|column| cell(*column)).collect();
        table::row(cells.iter().map(String::as_str))
    };
    let shortened = |cell: &String| sentences::excerpt(cell, CELL_CHARS, &weight);
    let header = line(&|column| shortened(&row.header[column]));
    let cells = line(&|column| {
        let cell = shortened(&row.cells[column]);
        if marked == Some(column) { format!("**{cell}**") } else { cell }
    });
    format!("{header}\n{}\n{cells}", table::delimiter(shown.len()))
}
