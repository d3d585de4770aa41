//! Chooses among the units of the found passages.

use crate::evidence::{Form, Passage};
use crate::features::{Described, Features, describe};
use crate::question::Question;
use crate::weights::Weights;
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::{Analyzer, Lexicon};
use docent_text::page_reference::NamedPage;

/// Maximum number of quotes, and of passages that may help.
const PLACES: usize = 3;
/// Maximum number of further places that are named after them.
const FURTHER: usize = 3;
/// Quotes have at least this fraction of the first one's odds, and a unit with the value of the best one's words of the question.
const QUOTED: f32 = 0.5;
/// Units that have more than this fraction of their terms in common say the same.
const SAME: f32 = 0.7;
/// Maximum number of rows of a table that are shown together.
const ROWS: usize = 12;

/// A unit with the probability that it answers.
pub(crate) struct Rated<'a> {
    pub(crate) described: Described<'a>,
    pub(crate) probability: f32,
    /// Other rows of its table that are shown with it.
    pub(crate) rows: Vec<usize>,
}

/// What a search result allows to say.
pub(crate) enum Outcome<'a> {
    /// The first unit answers; others may say more, and further ones are related.
    Answer {
        quoted: Vec<Rated<'a>>,
        further: Vec<Rated<'a>>,
    },
    /// None is likely to answer, but these may help.
    MayHelp(Vec<Rated<'a>>),
    Declined,
}

/// The features of a unit, and where it is.
#[derive(Clone, Debug)]
pub struct DescribedUnit {
    /// The rank of its passage in the search, counted from 0.
    pub rank: usize,
    /// Its page, counted from 1.
    pub page: u32,
    /// Its text.
    pub text: String,
    /// What it is shown with: its heading, the head of its table, its paragraph.
    pub context: String,
    /// Its features, in the order of [`NAMES`](crate::features::NAMES).
    pub features: Features,
    /// The probability that it answers.
    pub probability: f32,
}

/// The units of these passages as the answerer sees them, in their order.
pub fn rate(question: &str, chunks: &[ScoredChunk], lexicon: &Lexicon) -> Vec<DescribedUnit> {
    let passages: Vec<Passage<'_>> = chunks.iter().map(Passage::read).collect();
    let question = Question::parse(question, analyzer_of(chunks), lexicon);
    let rated = |described: Described<'_>| DescribedUnit {
        rank: described.rank,
        page: described.unit.page,
        text: described.passage.text(described.unit),
        context: described.passage.context(described.unit),
        probability: Weights::fitted().probability(&described.features),
        features: described.features,
    };
    describe(&question, &passages).into_iter().map(rated).collect()
}

/// The analyzer for the language of these passages.
pub(crate) fn analyzer_of(chunks: &[ScoredChunk]) -> Analyzer {
    let text: String = chunks.iter().flat_map(|chunk| [&*chunk.text, "\n"]).collect();
    Analyzer::of(&text)
}

/// Chooses among the units of these passages, skipping as many of the best as were shown before.
pub(crate) fn choose<'a>(
    question: &Question<'_>,
    passages: &'a [Passage<'a>],
    skipped: usize,
) -> Outcome<'a> {
    let weights = Weights::fitted();
    // Without the value that is asked for, a word of the follow-up, or a name or year that no passage has, nothing is claimed.
    let needs_value = question.value_kind().is_some();
    let has_names = missing(passages, question, question.named.iter()).next().is_none();
    let answers = |rated: &Rated<'a>| {
        has_names
            && rated.probability >= weights.answer
            && (!needs_value || rated.described.kind() > 0.0)
            && rated.described.is_about_follow_up
    };
    let mut candidates = candidates(question, passages);
    let odds = |rated: &Rated<'_>| rated.probability / (1.0 - rated.probability);
    let Some(best) = candidates.first() else { return Outcome::Declined };
    let related = QUOTED * best.described.context();
    // A value comes before a place that says more of the subject, but not the value.
    let has_value = |rated: &Rated<'_>| rated.described.kind() == 1.0 && rated.described.context() >= related;
    candidates.sort_by_key(|rated| !(answers(rated) && (!needs_value || has_value(rated))));
    let mut chosen: Vec<Rated<'a>> = Vec::new();
    for candidate in candidates {
        let row_of = |other: &&mut Rated<'a>| is_in_table_of(&candidate, other);
        if candidate.described.unit.form == Form::Row
            && let Some(other) = chosen.iter_mut().find(row_of)
        {
            if other.rows.len() < ROWS && matches(&candidate, other) {
                other.rows.push(candidate.described.unit.own.start);
            }
            continue;
        }
        let is_known = |other: &Rated<'a>| is_on_page_of(&candidate, other) || is_same(&candidate, other);
        if chosen.len() < PLACES + FURTHER + skipped && !chosen.iter().any(is_known) {
            chosen.push(candidate);
        }
    }
    chosen.drain(..skipped.min(chosen.len()));
    let first = chosen.first().filter(|first| answers(first)).map(odds);
    let Some(first) = first else {
        chosen.retain(|rated| rated.probability >= weights.decline);
        chosen.truncate(PLACES);
        return if chosen.is_empty() { Outcome::Declined } else { Outcome::MayHelp(chosen) };
    };
    let is_quoted = |other: &&Rated<'a>| answers(other) && odds(other) >= QUOTED * first;
    let quoted = chosen.iter().take(PLACES).take_while(is_quoted).count();
    let mut further = chosen.split_off(quoted);
    // A place that only stands near the subject is not related to it.
    further.retain(|rated| rated.probability >= weights.decline && rated.described.subject() > 0.0);
    further.truncate(FURTHER);
    Outcome::Answer { quoted: chosen, further }
}

/// The units that can answer, the most probable first: those on the pages that a question names and with words of a follow-up.
fn candidates<'a>(question: &Question<'_>, passages: &'a [Passage<'a>]) -> Vec<Rated<'a>> {
    let weights = Weights::fitted();
    let pages = numbers(&question.pages, passages);
    let described = describe(question, passages);
    // What a follow-up says itself tells its answer from that of the question before.
    let has_own = described.iter().any(|unit| unit.is_about_follow_up);
    let is_candidate = |unit: &Described<'_>| {
        (pages.is_empty() || pages.contains(&unit.unit.page))
            && (unit.is_about_follow_up || !has_own)
            && !unit.is_bare_name
    };
    let mut rated: Vec<Rated<'a>> = described
        .into_iter()
        .filter(is_candidate)
        .map(|described| Rated {
            probability: weights.probability(&described.features),
            described,
            rows: Vec::new(),
        })
        .collect();
    // The stable sort keeps the order of equal units.
    rated.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    rated
}

/// Returns those of the words whose terms no passage has in its text or title.
pub(crate) fn missing<'w>(
    passages: &[Passage<'_>],
    question: &Question<'_>,
    words: impl Iterator<Item = &'w (String, Vec<String>)>,
) -> impl Iterator<Item = &'w str> {
    let texts = passages.iter().flat_map(|passage| [&*passage.chunk.text, &*passage.chunk.title]);
    let found = question.with_synonyms(texts.flat_map(|text| question.analyzer.terms(text)).collect());
    words
        .filter(move |(_, terms)| !terms.iter().any(|term| found.contains(term)))
        .map(|(word, _)| word.as_str())
}

/// The numbers of the pages that a question names, in the document that was found first.
pub(crate) fn numbers(pages: &[NamedPage], passages: &[Passage<'_>]) -> Vec<u32> {
    let last = || {
        let document = passages.first()?.chunk.document_id;
        let of_document = passages.iter().filter(|passage| passage.chunk.document_id == document);
        of_document.map(|passage| passage.chunk.span.end.page).max()
    };
    let number = |page: &NamedPage| match page {
        NamedPage::Number(number) => Some(*number),
        NamedPage::Last => last(),
    };
    pages.iter().filter_map(number).collect()
}

fn is_in_table_of(a: &Rated<'_>, b: &Rated<'_>) -> bool {
    let (Some(row), Some(other)) =
        (a.described.passage.row(a.described.unit), b.described.passage.row(b.described.unit))
    else {
        return false;
    };
    // Passages have one rank each.
    a.described.rank == b.described.rank && row.header == other.header && row.caption == other.caption
}

/// Whether a row answers as much as the best one of its table.
fn matches(row: &Rated<'_>, best: &Rated<'_>) -> bool {
    row.described.subject() >= best.described.subject()
}

/// Whether two units are on one page: the reader of the first finds the other.
fn is_on_page_of(a: &Rated<'_>, b: &Rated<'_>) -> bool {
    let page = |rated: &Rated<'_>| (rated.described.passage.chunk.document_id, rated.described.unit.page);
    // Files without pages have one page for all.
    a.described.passage.chunk.label.is_none() && page(a) == page(b)
}

fn is_same(a: &Rated<'_>, b: &Rated<'_>) -> bool {
    let (unit, other) = (a.described.unit, b.described.unit);
    let overlaps = a.described.rank == b.described.rank
        && unit.shown.start < other.shown.end
        && other.shown.start < unit.shown.end;
    let (mine, others) = (&a.described.terms, &b.described.terms);
    let common = mine.intersection(others).count() as f32;
    overlaps || common > SAME * mine.len().max(others.len()) as f32
}
