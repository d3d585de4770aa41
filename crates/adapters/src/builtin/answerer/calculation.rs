//! Finds the figures that an asked figure is calculated from, such as the two of a ratio.

use super::passage::{Passage, Unit, overlap};
use super::scope::Topic;
use super::statements::statement_pages;
use docent_domain::id::DocumentId;
use docent_text::lexical::{Alternative, Analyzer, Lexicon, Part, Synonym, is_year, synonyms};
use std::borrow::Cow;
use std::collections::HashSet;

/// A row has a part of a calculation if this fraction of its label and the part is common to both.
const MIN_PART_FIT: f32 = 0.4;
/// Terms of a part that a label may lack.
const QUALIFIERS: [&str; 3] = [TOTAL, "net", "paid"];
const TOTAL: &str = "total";
/// Terms of headings over rows that mean something else: what a company no longer does, and changes in equity. A balance sheet
/// has “liabilities and equity”.
const DISCONTINUED: &str = "discontinu";
const EQUITY: &str = "equiti";
const LIABILITIES: &str = "liabil";
/// Terms with which a label means something else: “other income” is not the income.
const MODIFIERS: [&str; 6] = ["defer", "comprehens", "gain", "held", "non", "purchas"];
/// Bonus for a row with the years of the question in its header, and for one of a financial statement.
const YEARS_WEIGHT: f32 = 0.3;
const STATEMENT_WEIGHT: f32 = 0.4;
/// The latter for a figure that is asked for by its name: other tables have it for a segment or a product.
const FIGURE_STATEMENT_WEIGHT: f32 = 0.6;
/// Bonus for a row of a table or section that is named after another part, or for one that says its change.
const CONTEXT_WEIGHT: f32 = 0.3;
/// Penalty for a row about a part of a year if the question is about a year.
const PART_OF_YEAR_WEIGHT: f32 = 0.2;
/// Factor for a label of a part of one word with another word, such as “hardware revenue”, and words that do not narrow it.
const NARROWED_FACTOR: f32 = 0.7;
const UNNARROWED: [&str; 3] = ["oper", "consolid", "sale"];

/// Words of further searches for parts, before those of the missing ones: the first finds the statements of a report, which have
/// most parts, and the second the one with revenue and costs.
const STATEMENTS: &str =
    "consolidated balance sheets statements of operations statements of cash flows total assets net income";
const INCOME_STATEMENT: &str = "consolidated statements of income operations earnings";

/// Stems of verbs with which one asks for a figure.
const MAKING: &str = "achiev earn gener had have made make";

/// Maximum number of words of a part of a ratio.
const RATIO_WORDS: usize = 4;
/// Words at which a part of a ratio ends.
const RATIO_ENDS: &str = "a an and are as at by came can comes did do does for from had has have in is its of on the to was were what which";

/// How the parts of a calculation belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    /// As a lexicon says.
    Known,
    /// One is a share of the other.
    Share,
    /// There is one, whose change is asked for.
    Growth,
    /// There is one, which is an item of a financial statement.
    Item,
    /// There is one, which could be calculated, but a row has it.
    Printed,
}

/// What a question asks to calculate, or nothing.
pub(super) struct Calculation {
    relation: Relation,
    parts: Vec<Part>,
}

impl Calculation {
    /// None.
    pub(super) const fn none() -> Self {
        Self { relation: Relation::Known, parts: Vec::new() }
    }

    /// Whether it is one figure that documents have.
    pub(super) fn is_figure(&self) -> bool {
        matches!(self.relation, Relation::Item | Relation::Printed)
    }

    /// The names of the figure in documents.
    pub(super) fn figure_names(&self) -> impl Iterator<Item = String> {
        let parts = self.parts.iter().flatten().filter(|_| self.is_figure());
        parts.map(|alternative| alternative.words.clone())
    }

    /// Whether a passage has it already.
    pub(super) fn is_printed(&self) -> bool {
        self.relation == Relation::Printed
    }

    /// Whether nothing is to be calculated.
    pub(super) fn is_none(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Returns the figure that a question with this subject asks for by its name alone, such as “total revenue”: an item of financial
/// statements, or one that is calculated from them if a row of these passages has it.
pub(super) fn asked_figure<'a>(
    subject: &[&str],
    found: &[Synonym<'_>],
    lexicon: &Lexicon,
    mut passages: impl Iterator<Item = &'a Passage<'a>>,
) -> Option<Calculation> {
    let names = |synonym: &&Synonym<'_>| {
        let is_own = |term: &str| synonym.phrase.iter().any(|own| own == term);
        let is_allowed = |term: &str| {
            is_own(term) || QUALIFIERS.contains(&term) || MAKING.split(' ').any(|verb| verb == term)
        };
        subject.iter().all(|term| is_allowed(term)) && subject.iter().any(|term| is_own(term))
    };
    let synonym = found.iter().find(names)?;
    let phrase = Alternative { words: synonym.phrase.join(" "), terms: synonym.phrase.clone() };
    if synonym.is_calculation() {
        let has = |passage: &Passage<'_>| passage.units.iter().any(|unit| fit(&phrase, unit) >= MIN_PART_FIT);
        let is_printed = passages.any(has);
        return is_printed.then(|| Calculation { relation: Relation::Printed, parts: vec![vec![phrase]] });
    }
    let alternatives = synonym.parts().first()?;
    let is_item = alternatives.iter().any(|alternative| lexicon.is_part(&alternative.words));
    let part = || alternatives.iter().cloned().chain([phrase]).collect();
    is_item.then(|| Calculation { relation: Relation::Item, parts: vec![part()] })
}

/// Returns the parts of the calculations in a question.
pub(super) fn asked_parts(
    question: &str,
    found: &[Synonym<'_>],
    lexicon: &Lexicon,
    analyzer: Analyzer,
) -> Calculation {
    let mut parts: Vec<Part> = Vec::new();
    for part in found.iter().filter(|synonym| synonym.is_calculation()).flat_map(Synonym::parts) {
        let words = |part: &Part| part.first().map(|alternative| alternative.words.clone());
        if parts.iter().all(|other| words(other) != words(part)) {
            parts.push(part.clone());
        }
    }
    if !parts.is_empty() {
        return Calculation { relation: Relation::Known, parts };
    }
    let (relation, named) = match (ratio(question, lexicon), growth(question, lexicon)) {
        (Some((above, below)), _) => (Relation::Share, vec![above, below]),
        (None, Some(subject)) => (Relation::Growth, vec![subject]),
        (None, None) => return Calculation::none(),
    };
    let part = |words: String| match synonyms(&words, lexicon, analyzer).as_slice() {
        [one] if !one.is_calculation() => one.parts()[0].clone(),
        _ => vec![Alternative { terms: analyzer.terms(&words), words }],
    };
    Calculation { relation, parts: named.into_iter().map(part).collect() }
}

/// What a margin is a share of.
const REVENUE: &str = "revenue";

/// The words of a question, to find the parts of a calculation in it.
struct Words<'a>(Vec<&'a str>);

impl<'a> Words<'a> {
    /// The words of a text in small letters; a term of the lexicon with “and”, such as “depreciation and amortization”, is one.
    fn of(lower: &'a str, lexicon: &Lexicon) -> Self {
        let terms: Vec<(usize, &str)> =
            lexicon.words_with_and().flat_map(|words| lower.match_indices(words)).collect();
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(rest) = lower.get(at..).filter(|rest| !rest.is_empty()) {
            let term = terms.iter().find(|(start, _)| *start == at).map_or(0, |(_, term)| term.len());
            let end = rest[term..].find(char::is_whitespace).map_or(rest.len(), |end| term + end);
            if end > 0 {
                words.push(rest[..end].trim_matches(|c: char| !c.is_alphanumeric()));
            }
            at += if end > 0 { end } else { rest.chars().next().map_or(1, char::len_utf8) };
        }
        Self(words)
    }

    /// The place of the first of these words.
    fn find(&self, sought: &[&str]) -> Option<usize> {
        self.0.iter().position(|word| sought.contains(word))
    }

    fn belongs(word: &&&str) -> bool {
        !RATIO_ENDS.split(' ').any(|end| end == **word)
            && !word.ends_with("'s")
            && !word.ends_with("’s")
            && !word.contains(|c: char| c.is_ascii_digit())
    }

    /// The words of a part from a place on.
    fn forwards(&self, from: usize) -> Vec<&'a str> {
        let words = self.0.get(from..).unwrap_or_default();
        words.iter().take_while(Self::belongs).take(RATIO_WORDS).copied().collect()
    }

    /// The place after the name of an owner, as in “Oriel's total revenue”, or the same place without one.
    fn after_name(&self, from: usize) -> usize {
        let words = self.0.get(from..).unwrap_or_default().iter().take(RATIO_WORDS);
        let is_owner = |word: &&str| word.ends_with("'s") || word.ends_with("’s");
        words.copied().position(|word| is_owner(&word)).map_or(from, |at| from + at + 1)
    }

    /// The words of a part before a place.
    fn backwards(&self, to: usize) -> Vec<&'a str> {
        // “Cost of sales” is one part.
        let words = self.0[..to].iter().rev().take_while(|word| **word == "of" || Self::belongs(word));
        let mut words: Vec<&str> = words.take(RATIO_WORDS).copied().collect();
        words.reverse();
        if words.first() == Some(&"of") { words.split_off(1) } else { words }
    }
}

/// The words of a part as a phrase; `None` if nothing remains.
fn phrase(words: Vec<&str>) -> Option<String> {
    let is_qualifier = |word: &str| matches!(word, "" | "average" | "unadjusted");
    let words: Vec<&str> = words.into_iter().filter(|word| !is_qualifier(word)).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The two parts of “ratio of X to Y”, “X to Y ratio”, “X as a percentage of Y”, “percentage of Y from X” or “X margin”.
fn ratio(question: &str, lexicon: &Lexicon) -> Option<(String, String)> {
    let lower = without_asides(question).to_lowercase();
    let words = Words::of(&lower, lexicon);
    let share = words
        .0
        .windows(4)
        .position(|four| matches!(four, ["as", "a" | "the", "percentage" | "percent" | "share" | "", "of"]));
    let (above, below) = if let Some(at) = words.find(&["ratio"]) {
        let below = words.backwards(at);
        match (at - below.len()).checked_sub(1).filter(|to| words.0[*to] == "to") {
            Some(to) => (words.backwards(to), below),
            None if words.0.get(at + 1) == Some(&"of") => {
                let above = words.forwards(at + 2);
                let to = at + 2 + above.len();
                (above, if words.0.get(to) == Some(&"to") { words.forwards(to + 1) } else { Vec::new() })
            }
            None => return None,
        }
    } else if let Some(at) = share {
        (words.backwards(at), words.forwards(at + 4))
    } else if let Some(parts) = part_of_whole(&words) {
        parts
    } else {
        (words.backwards(words.find(&["margin"])?), vec![REVENUE])
    };
    phrase(above).zip(phrase(below))
}

/// The parts X and Y of “which percentage of Y did X contribute” and “percentage of Y was from X”.
fn part_of_whole<'a>(words: &Words<'a>) -> Option<(Vec<&'a str>, Vec<&'a str>)> {
    let at = words.find(&["percentage", "percent", "share", "portion", "proportion"])?;
    let from = words.after_name(words.0.get(at + 1).filter(|word| **word == "of").map(|_| at + 2)?);
    let below = words.forwards(from);
    let mut next = from + below.len();
    let is_link = |at: usize| words.0.get(at).is_some_and(|word| LINKS.split(' ').any(|link| link == *word));
    match *words.0.get(next)? {
        "did" | "does" | "do" | "came" | "comes" => {}
        // “Which share of Oriel is sold” has no second part.
        "is" | "was" | "are" | "were" if is_link(next + 1) => {}
        _ => return None,
    }
    while is_link(next) {
        next += 1;
    }
    let mut above = words.forwards(next);
    if let Some(end) = above.iter().position(|word| VERBS.split(' ').any(|verb| verb == *word)) {
        above.truncate(end);
    }
    Some((above, below))
}

/// Words between the whole and its part.
const LINKS: &str = "did does do is was were are came comes from for by the in its attributed attributable to generated derived earned \
    contributed made up of due accounted";
/// Words after the part of a whole.
const VERBS: &str =
    "account accounted bring contribute contributed generate generated make represent represented segment";

/// What grows in “growth rate of X”, “X growth rate” and “percentage change of X”.
fn growth(question: &str, lexicon: &Lexicon) -> Option<String> {
    let lower = without_asides(question).to_lowercase();
    let words = Words::of(&lower, lexicon);
    let is_change = |pair: &[&str]| {
        matches!(
            pair,
            ["growth", "rate"]
                | [
                    "percentage" | "percent" | "year-over-year" | "yoy",
                    "change" | "growth" | "increase" | "decrease"
                ]
        )
    };
    let at = words.0.windows(2).position(is_change)?;
    let after = || {
        let from = words.0.get(at + 2).filter(|word| matches!(**word, "of" | "in")).map(|_| at + 3)?;
        phrase(words.forwards(words.after_name(from)))
    };
    phrase(words.backwards(at)).or_else(after)
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

/// The years of a question, and whether it is about whole ones.
pub(super) struct AskedYears<'a> {
    pub(super) years: &'a HashSet<String>,
    pub(super) are_whole: bool,
}

/// The parts of a calculation in a document.
pub(super) struct Parts<'a> {
    pub(super) rows: Vec<(&'a Passage<'a>, usize)>,
    /// Words for the parts without a row.
    pub(super) missing: Vec<String>,
    /// Whether a sentence stands for the row of a part.
    is_told: bool,
    /// The pages of the document's statements.
    statements: Option<String>,
}

impl Parts<'_> {
    /// The next search for rows of statements after `made` ones; `None` if there are enough rows.
    pub(super) fn next_search(&self, made: usize) -> Option<PartSearch> {
        let is_in_statement =
            |(passage, index): &(&Passage<'_>, usize)| passage.units[*index].is_in_statement();
        let is_complete = self.missing.is_empty() && self.rows.iter().all(is_in_statement);
        match (made, &self.statements) {
            (0, _) if !is_complete => Some(PartSearch::Words(STATEMENTS)),
            (1, _) if !is_complete => Some(PartSearch::Words(INCOME_STATEMENT)),
            (2, Some(pages)) if !is_complete => Some(PartSearch::Pages(pages.clone())),
            // The words of the parts alone.
            (2, None) | (3, Some(_)) if !self.missing.is_empty() || self.is_told => {
                Some(PartSearch::Words(""))
            }
            _ => None,
        }
    }
}

/// A further search for the parts of a calculation.
pub(super) enum PartSearch {
    /// These words with those of the missing parts.
    Words(&'static str),
    /// The pages of the statements, as a question names them.
    Pages(String),
}

/// Returns the rows for the parts of a calculation, in the document that has most of them; `None` without parts. Only the passages
/// of the ranks `related` are read.
pub(super) fn parts<'a>(
    Calculation { relation, parts }: &Calculation,
    asked: &AskedYears<'_>,
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
        let statements = statement_pages(&passages);
        let mut found = Parts { rows: Vec::new(), missing: Vec::new(), is_told: false, statements };
        for (at, part) in parts.iter().enumerate() {
            let others = parts[..at].iter().chain(&parts[at + 1..]).filter(|_| *relation == Relation::Share);
            let others: Vec<&Part> = others.collect();
            match (row_with(part, *relation, &others, &passages, asked), part.first()) {
                (Some((passage, index)), _) => {
                    found.is_told |= passage.units[index].sentence.row.is_none();
                    found.rows.push((passage, index));
                }
                (None, Some(alternative)) => found.missing.push(alternative.words.clone()),
                (None, None) => {}
            }
        }
        found
    };
    // The last of equals is taken: reversed, the one that ranks first.
    documents.iter().map(parts_in).rev().max_by_key(|found| found.rows.len())
}

/// Returns the row or sentence that fits one of the alternatives of a part best. A table of another part, such as that of sales for
/// the share of sales, is preferred, and for growth a row with a percentage.
fn row_with<'a>(
    part: &Part,
    relation: Relation,
    others: &[&Part],
    passages: &[&'a Passage<'a>],
    AskedYears { years, are_whole }: &AskedYears<'_>,
) -> Option<(&'a Passage<'a>, usize)> {
    let statement_weight = match relation {
        Relation::Item | Relation::Printed => FIGURE_STATEMENT_WEIGHT,
        Relation::Known | Relation::Share | Relation::Growth => STATEMENT_WEIGHT,
    };
    let mut best: Option<(f32, &'a Passage<'a>, usize)> = None;
    let names_other = |unit: &Unit, other: &Alternative| {
        other.terms.iter().all(|term| unit.above.contains(term) || QUALIFIERS.contains(&&**term))
    };
    let is_under = |unit: &Unit| others.iter().any(|part| part.iter().any(|other| names_other(unit, other)));
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
                + if unit.is_in_statement() { statement_weight } else { 0.0 }
                + if is_under(unit) || relation == Relation::Growth && has_percentage(unit) {
                    CONTEXT_WEIGHT
                } else {
                    0.0
                }
                - if *are_whole && unit.is_of_part_of_year() { PART_OF_YEAR_WEIGHT } else { 0.0 };
            if best.as_ref().is_none_or(|(highest, ..)| score > *highest) {
                best = Some((score, passage, index));
            }
        }
    }
    best.map(|(_, passage, index)| (passage, index))
}

fn has_percentage(unit: &Unit) -> bool {
    unit.sentence.row.as_ref().is_some_and(|row| row.cells.iter().skip(1).any(|cell| cell.contains('%')))
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
        || unit.is_percentage()
        || MODIFIERS.iter().any(|term| label.contains(*term) && !terms.iter().any(|own| own == term));
    let is_narrowing = |term: &String| {
        !terms.contains(term)
            && !QUALIFIERS.contains(&&**term)
            && !UNNARROWED.contains(&&**term)
            && !is_year(term)
    };
    let is_under = |term: &str| unit.above.contains(term) && !terms.iter().any(|own| own == term);
    let is_of_other = is_under(DISCONTINUED) || is_under(EQUITY) && !unit.above.contains(LIABILITIES);
    let is_narrowed = is_of_other || terms.len() == 1 && label.iter().any(is_narrowing);
    let narrowed = if is_narrowed { NARROWED_FACTOR } else { 1.0 };
    let mut label = Cow::Borrowed(label);
    // “Total revenues” are the revenue.
    if label.contains(TOTAL) && !terms.iter().any(|term| term == TOTAL) {
        label.to_mut().remove(TOTAL);
    }
    if is_whole && !is_modified { narrowed * overlap(&label, terms.iter().map(String::as_str)) } else { 0.0 }
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
        let parts = |question| {
            ratio(question, &Lexicon::builtin()).map(|(above, below)| format!("{above} / {below}"))
        };
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
            (
                "What is Oriel's depreciation and amortization (of the cash flow statement) % margin?",
                "depreciation and amortization / revenue",
            ),
            (
                "What percentage of Oriel's total revenue did the Pumps segment contribute?",
                "pumps / total revenue",
            ),
            ("Which share of revenue was from pumps in 2018?", "pumps / revenue"),
            ("What portion of net sales came from the home trade?", "home trade / net sales"),
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
            "What percentage of fitters are women?",
        ] {
            assert_eq!(parts(question), None, "{question}");
        }
    }

    #[test]
    fn growth_is_of_one_part() {
        for (question, expected) in [
            ("What is the 2019 - 2020 total revenue growth rate of Oriel?", Some("total revenue")),
            ("What was the growth rate of Oriel's net sales in 2018?", Some("net sales")),
            ("What is the percentage change in cash from 2017?", Some("cash")),
            ("How fast did it grow?", None),
            ("What drove the growth of revenue?", None),
        ] {
            assert_eq!(growth(question, &Lexicon::builtin()).as_deref(), expected, "{question}");
        }
    }
}
