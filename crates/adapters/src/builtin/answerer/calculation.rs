//! Finds the figures that an asked figure is calculated from, such as the two of a ratio.

use super::passage::{Passage, Unit};
use super::relevance::overlap;
use super::scope::Topic;
use crate::builtin::lexical::{Alternative, Part, Synonym};
use docent_domain::id::DocumentId;
use std::collections::HashSet;

/// A row has a part of a calculation if this fraction of its label and the part is common to both.
const MIN_PART_FIT: f32 = 0.4;
/// Terms of a part that a label may lack.
const QUALIFIERS: [&str; 3] = ["total", "net", "paid"];
/// Terms with which a label means something else: “other income” is not the income.
const MODIFIERS: [&str; 5] = ["other", "defer", "comprehens", "held", "purchas"];
/// Bonus for a row with the years of the question in its header, and for one of a financial statement.
const YEARS_WEIGHT: f32 = 0.3;
const STATEMENT_WEIGHT: f32 = 0.4;

/// The parts of a calculation in a document.
pub(super) struct Parts<'a> {
    pub(super) rows: Vec<(&'a Passage<'a>, usize)>,
    /// Words for the parts without a row.
    pub(super) missing: Vec<String>,
}

/// Returns the parts of the calculations in a question, in the document that has most of them; `None` if it asks for no
/// calculation. Only the passages of the ranks `related` are read.
pub(super) fn parts<'a>(
    synonyms: &[Synonym<'_>],
    years: &HashSet<String>,
    related: &[usize],
    passages: &'a [Passage<'a>],
    topics: &[Topic<'_>],
) -> Option<Parts<'a>> {
    let mut parts: Vec<&Part> = Vec::new();
    for part in synonyms.iter().filter(|synonym| synonym.is_calculation()).flat_map(Synonym::parts) {
        let words = |part: &Part| part.first().map(|alternative| alternative.words.clone());
        if parts.iter().all(|other| words(other) != words(part)) {
            parts.push(part);
        }
    }
    if parts.is_empty() {
        return None;
    }
    let named = related.iter().map(|rank| topics[*rank].named).fold(0.0, f32::max);
    let mut documents: Vec<DocumentId> = Vec::new();
    for rank in related.iter().filter(|rank| topics[**rank].named >= named) {
        let document = passages[*rank].chunk.document_id;
        if !documents.contains(&document) {
            documents.push(document);
        }
    }
    let parts_in = |document: &DocumentId| {
        let ranks = related.iter().filter(|rank| passages[**rank].chunk.document_id == *document);
        let passages: Vec<&'a Passage<'a>> = ranks.map(|rank| &passages[*rank]).collect();
        let mut found = Parts { rows: Vec::new(), missing: Vec::new() };
        for part in &parts {
            match (row_with(part, &passages, years), part.first()) {
                (Some(row), _) => found.rows.push(row),
                (None, Some(alternative)) => found.missing.push(alternative.words.clone()),
                (None, None) => {}
            }
        }
        found
    };
    // The last of equals is taken: reversed, the one that ranks first.
    documents.iter().map(parts_in).rev().max_by_key(|found| found.rows.len())
}

/// Returns the row whose label fits one of the alternatives of a part best.
fn row_with<'a>(
    part: &Part,
    passages: &[&'a Passage<'a>],
    years: &HashSet<String>,
) -> Option<(&'a Passage<'a>, usize)> {
    let mut best: Option<(f32, &'a Passage<'a>, usize)> = None;
    for passage in passages {
        for (index, unit) in passage.units.iter().enumerate() {
            let fit = part.iter().map(|alternative| fit(alternative, unit)).fold(0.0, f32::max);
            if fit < MIN_PART_FIT {
                continue;
            }
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

/// How well the label of a row with figures says what is looked for; 0 if it means something else.
fn fit(Alternative { terms, .. }: &Alternative, unit: &Unit) -> f32 {
    let Some(label) = unit.label.as_ref().filter(|_| unit.has_figures()) else { return 0.0 };
    let is_whole = terms.iter().all(|term| label.contains(term) || QUALIFIERS.contains(&&**term));
    let is_modified =
        MODIFIERS.iter().any(|term| label.contains(*term) && !terms.iter().any(|own| own == term));
    if is_whole && !is_modified { overlap(label, terms.iter().map(String::as_str)) } else { 0.0 }
}
