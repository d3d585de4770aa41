//! Chooses among the sentences and rows that may answer a question.

use super::passage::{Passage, Unit};
use super::periods::{Asked, MAX_REPORTS, Period, report};
use docent_text::sentences::Row;
use std::ops::Range;

/// Maximum number of quotes in an answer.
const MAX_QUOTES: usize = 3;
/// Maximum number of further quotes, from other passages.
const MAX_FURTHER: usize = 3;
/// Shorter sentences say too little.
const MIN_FURTHER_WORDS: usize = 4;
/// Candidates with less than this fraction of the best one's rating are left out.
const SECONDARY_SHARE: f32 = 0.5;
/// The same for those of another document than the best one.
const OTHER_SECONDARY_SHARE: f32 = 0.75;
/// The same for further quotes, and for those of another document than the best one.
const FURTHER_SHARE: f32 = 0.25;
const OTHER_FURTHER_SHARE: f32 = 0.5;
/// Bonus for the first passage's rank; the n-th passage gets the n-th part.
const RANK_WEIGHT: f32 = 0.3;
/// Sentences that have more than this fraction of terms in common are duplicates.
const MAX_SIMILARITY: f32 = 0.6;

/// A sentence or row that may answer the question, with what it announces.
pub(super) struct Candidate<'a> {
    pub(super) passage: &'a Passage<'a>,
    pub(super) index: usize,
    pub(super) block: Range<usize>,
    /// The share of the question that it covers, weighted by its suitability as a quote.
    pub(super) share: f32,
    /// The rank of its passage, counted from 0.
    pub(super) rank: usize,
}

impl Candidate<'_> {
    fn unit(&self) -> &Unit {
        &self.passage.units[self.index]
    }

    fn score(&self) -> f32 {
        self.share + RANK_WEIGHT / (self.rank + 1) as f32
    }

    /// Whether it has all of these terms, with what is quoted with it, its table and its paragraph.
    pub(super) fn has_all(&self, terms: &[String]) -> bool {
        let units = &self.passage.units;
        let quoted = units[self.block.clone()].iter().chain(&units[self.passage.paragraph(self.index)]);
        let quoted: Vec<&Unit> = quoted.collect();
        terms
            .iter()
            .all(|term| quoted.iter().any(|unit| unit.terms.contains(term) || unit.above.contains(term)))
    }

    /// Whether a reader can tell what it is about without its surroundings.
    fn says_enough(&self) -> bool {
        let sentence = &self.unit().sentence;
        let has_entries = |row: &Row| row.cells.iter().skip(1).any(|cell| !cell.is_empty());
        match &sentence.row {
            Some(row) => has_entries(row),
            // The cover of a form has blanks.
            None => sentence.text.split(' ').count() >= MIN_FURTHER_WORDS && !sentence.text.contains("___"),
        }
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

/// The chosen candidates, rows of one table together, and further ones.
type Choice<'a> = (Vec<Vec<Candidate<'a>>>, Vec<Candidate<'a>>);

/// Chooses for a question about these reports.
pub(super) fn choose(candidates: Vec<Candidate<'_>>, periods: Asked) -> Choice<'_> {
    match periods {
        Asked::Each => select_of_each(candidates),
        Asked::Latest | Asked::Any => select_candidates(candidates),
    }
}

/// Selects the best candidate of each report in the series of the best one, in order of time; otherwise like
/// [`select_candidates`].
fn select_of_each(mut candidates: Vec<Candidate<'_>>) -> Choice<'_> {
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
fn select_candidates(mut candidates: Vec<Candidate<'_>>) -> Choice<'_> {
    // The stable sort keeps the order of equal candidates.
    candidates.sort_by(|a, b| b.score().total_cmp(&a.score()));
    let best_share = candidates.iter().map(|candidate| candidate.share).fold(0.0, f32::max);
    let (mut best, mut further): Choice<'_> = Default::default();
    for candidate in candidates {
        let selected = || best.iter().flatten();
        let is_new = selected().all(|other| !candidate.repeats(other));
        let is_from = |other: &Candidate<'_>| other.rank == candidate.rank;
        let document = |candidate: &Candidate<'_>| candidate.passage.chunk.document_id;
        let is_other = selected().next().is_some_and(|first| document(first) != document(&candidate));
        let (secondary, least) = match is_other {
            true => (OTHER_SECONDARY_SHARE, OTHER_FURTHER_SHARE),
            false => (SECONDARY_SHARE, FURTHER_SHARE),
        };
        if is_new && selected().count() < MAX_QUOTES && candidate.share >= secondary * best_share {
            match best.iter_mut().find(|group| group[0].shares_table(&candidate)) {
                Some(group) => group.push(candidate),
                None => best.push(vec![candidate]),
            }
        } else if is_new
            && further.len() < MAX_FURTHER
            && candidate.says_enough()
            && candidate.share >= least * best_share
            && !selected().any(is_from)
            && further.iter().all(|other| !is_from(other) && !candidate.repeats(other))
        {
            further.push(candidate);
        }
    }
    (best, further)
}
