//! Finds the figures that an asked figure is calculated from, such as the two of a ratio.

use super::passage::{Passage, Unit, overlap};
use super::scope::Topic;
use crate::builtin::lexical::{Alternative, Analyzer, Lexicon, Part, Synonym, synonyms};
use docent_domain::id::DocumentId;
use std::collections::HashSet;

/// A row has a part of a calculation if this fraction of its label and the part is common to both.
const MIN_PART_FIT: f32 = 0.4;
/// Terms of a part that a label may lack.
const QUALIFIERS: [&str; 3] = ["total", "net", "paid"];
/// Terms with which a label means something else: “other income” is not the income.
const MODIFIERS: [&str; 4] = ["defer", "comprehens", "held", "purchas"];
/// Bonus for a row with the years of the question in its header, and for one of a financial statement.
const YEARS_WEIGHT: f32 = 0.3;
const STATEMENT_WEIGHT: f32 = 0.4;

/// Words of further searches for parts, before those of the missing ones: the first finds the statements of a report, which have
/// most parts, the second the one with revenue and costs, and the last has those of the parts alone, which find the second half
/// of a long statement.
const PART_SEARCHES: [&str; 3] = [
    "consolidated balance sheets statements of operations statements of cash flows total assets net income",
    "consolidated statements of income operations earnings",
    "",
];

/// Maximum number of words of a part of a ratio.
const RATIO_WORDS: usize = 4;
/// Words at which a part of a ratio ends.
const RATIO_ENDS: &str =
    "a an and as at by can does for from had has have in is its of on the to was were what which";

/// Returns the parts of the calculations in a question.
pub(super) fn asked_parts(
    question: &str,
    found: &[Synonym<'_>],
    lexicon: &Lexicon,
    analyzer: Analyzer,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for part in found.iter().filter(|synonym| synonym.is_calculation()).flat_map(Synonym::parts) {
        let words = |part: &Part| part.first().map(|alternative| alternative.words.clone());
        if parts.iter().all(|other| words(other) != words(part)) {
            parts.push(part.clone());
        }
    }
    if !parts.is_empty() {
        return parts;
    }
    let Some((above, below)) = ratio(question) else { return parts };
    let part = |words: String| match synonyms(&words, lexicon).as_slice() {
        [one] if !one.is_calculation() => one.parts()[0].clone(),
        _ => vec![Alternative { terms: analyzer.terms(&words), words }],
    };
    [above, below].map(part).into()
}

/// What a margin is a share of.
const REVENUE: &str = "revenue";

/// The two parts of “ratio of X to Y”, “X to Y ratio”, “X as a percentage of Y” or “X margin”.
fn ratio(question: &str) -> Option<(String, String)> {
    let lower = without_asides(question).to_lowercase();
    let words: Vec<&str> =
        lower.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    let ends = |word: &&&str| {
        !RATIO_ENDS.split(' ').any(|end| end == **word)
            && !word.ends_with("'s")
            && !word.ends_with("’s")
            && !word.contains(|c: char| c.is_ascii_digit())
    };
    let forwards = |from: usize| {
        let words = words.get(from..).unwrap_or_default().iter().take_while(ends).take(RATIO_WORDS);
        words.copied().collect::<Vec<_>>()
    };
    let backwards = |to: usize| {
        // “Cost of sales” is one part.
        let mut words: Vec<&str> = words[..to]
            .iter()
            .rev()
            .take_while(|word| **word == "of" || ends(word))
            .take(RATIO_WORDS)
            .copied()
            .collect();
        words.reverse();
        if words.first() == Some(&"of") { words.split_off(1) } else { words }
    };
    let find = |sought: &str| words.iter().position(|word| *word == sought);
    let share = words
        .windows(4)
        .position(|four| matches!(four, ["as", "a" | "the", "percentage" | "percent" | "share" | "", "of"]));
    let (above, below) = if let Some(at) = find("ratio") {
        let below = backwards(at);
        match (at - below.len()).checked_sub(1).filter(|to| words[*to] == "to") {
            Some(to) => (backwards(to), below),
            None if words.get(at + 1) == Some(&"of") => {
                let above = forwards(at + 2);
                let to = at + 2 + above.len();
                (above, if words.get(to) == Some(&"to") { forwards(to + 1) } else { Vec::new() })
            }
            None => return None,
        }
    } else if let Some(at) = share {
        (backwards(at), forwards(at + 4))
    } else {
        (backwards(find("margin")?), vec![REVENUE])
    };
    let phrase = |words: Vec<&str>| {
        let is_qualifier = |word: &str| matches!(word, "" | "average" | "unadjusted");
        let words: Vec<&str> = words.into_iter().filter(|word| !is_qualifier(word)).collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    phrase(above).zip(phrase(below))
}

/// A question without what is in parentheses.
fn without_asides(question: &str) -> String {
    let mut depth = 0_u32;
    let outside = question.chars().filter(|c| {
        let is_outside = depth == 0 && *c != '(';
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_outside
    });
    outside.collect()
}

/// The parts of a calculation in a document.
pub(super) struct Parts<'a> {
    pub(super) rows: Vec<(&'a Passage<'a>, usize)>,
    /// Words for the parts without a row.
    pub(super) missing: Vec<String>,
}

impl Parts<'_> {
    /// Words of a further search for rows of statements after `made` ones: the first also if a row is of another table, the next only
    /// if a part is missing.
    pub(super) fn next_search(&self, made: usize) -> Option<&'static str> {
        let is_in_statement =
            |(passage, index): &(&Passage<'_>, usize)| passage.units[*index].is_in_statement();
        let is_uncertain = made == 0 && !self.rows.iter().all(is_in_statement);
        PART_SEARCHES.get(made).copied().filter(|_| is_uncertain || !self.missing.is_empty())
    }
}

/// Returns the rows for the parts of a calculation, in the document that has most of them; `None` without parts. Only the passages
/// of the ranks `related` are read.
pub(super) fn parts<'a>(
    parts: &[Part],
    years: &HashSet<String>,
    related: &[usize],
    passages: &'a [Passage<'a>],
    topics: &[Topic<'_>],
) -> Option<Parts<'a>> {
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
        for part in parts {
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

/// Returns the row or sentence that fits one of the alternatives of a part best.
fn row_with<'a>(
    part: &Part,
    passages: &[&'a Passage<'a>],
    years: &HashSet<String>,
) -> Option<(&'a Passage<'a>, usize)> {
    let mut best: Option<(f32, &'a Passage<'a>, usize)> = None;
    for passage in passages {
        for (index, unit) in passage.units.iter().enumerate() {
            let fit = part
                .iter()
                .map(|alternative| fit(alternative, unit).max(fit_of_sentence(alternative, unit, years)));
            let fit = fit.fold(0.0, f32::max);
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
    // “Other” is a stop word, so it is no term.
    let is_other = unit.sentence.row.as_ref().is_some_and(|row| {
        row.cells[0].split(|c: char| !c.is_alphanumeric()).any(|word| word.eq_ignore_ascii_case("other"))
    });
    let is_modified = is_other
        || MODIFIERS.iter().any(|term| label.contains(*term) && !terms.iter().any(|own| own == term));
    if is_whole && !is_modified { overlap(label, terms.iter().map(String::as_str)) } else { 0.0 }
}

/// How well a sentence with an amount and a year of the question says what is looked for: no better than the worst row.
fn fit_of_sentence(Alternative { terms, .. }: &Alternative, unit: &Unit, years: &HashSet<String>) -> f32 {
    let is_told = unit.sentence.row.is_none()
        && unit.has_amount()
        && years.iter().any(|year| unit.terms.contains(year))
        && terms.iter().all(|term| unit.terms.contains(term))
        && terms.windows(2).all(|pair| unit.has_pair(&pair[0], &pair[1]));
    if is_told { MIN_PART_FIT } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_two_parts() {
        let parts = |question| ratio(question).map(|(above, below)| format!("{above} / {below}"));
        for (question, expected) in [
            ("What is the sales to equity ratio of Oriel in 2015?", "sales / equity"),
            (
                "What is Oriel's interest expense to average long-term debt ratio?",
                "interest expense / long-term debt",
            ),
            ("What is the ratio of bad debt to net sales in 2018?", "bad debt / net sales"),
            ("What is Oriel's FY2015 rent (R from the cash flow statement) % margin?", "rent / revenue"),
            ("What was the cost of goods sold as a % of revenue in 2018?", "cost of goods sold / revenue"),
            ("What was rent as a percentage of net sales?", "rent / net sales"),
        ] {
            assert_eq!(parts(question).as_deref(), Some(expected), "{question}");
        }
        for question in [
            "What is the margin?",
            "Which share of Oriel is sold?",
            "What is the ratio?",
            "What is the current ratio?",
            "How does one get to Oriel?",
            "ratio of",
        ] {
            assert_eq!(parts(question), None, "{question}");
        }
    }
}
