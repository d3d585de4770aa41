//! Words of a question that say where, when and how its answer is given, and not what it is about.

use super::Analyzer;
use super::language::Language;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words for the place, the time or the manner of an answer. A sentence is not about a question because it has them.
const CIRCUMSTANCES: &str = "abbreviation abbreviations acronym according align amount amounts analysis annual appendix associated based basis beginning brief briefly business called caption chapter chart column combine \
    compare compared comparison company correlate correlation current data dd define defined detail details diagram disclosed disclosure discuss discussed document documents \
    end enumerate examine figure filing final first fiscal fourth float form format given graph guide highlight highlighted image indicate indicated information insight insights int integer \
    item k key kind kinds last latest line list listed main major mean meaning means mention mentioned mm most month name named notable note noted notes number outline outlined page paper \
    paragraph period picture plainly please potential potentially present previous primary principal presented provide provided q qs quarter quarterly quarters recent relevant report \
    reported reporting second section show showing shown shows significant significantly respectively slide source specific specified spend spent stand stands state stated \
    statement statements summary table tables text third timeframe title topic topics type types understand useful value values year years yyyy \
    angegeben bericht beschrieben dokument genannt jahr kapitel quartal seite tabelle";

/// Words for a change and its reasons, for which documents have many others.
const CHANGES: &str = "behind contributed contributing driven driver drivers drove evolution explanation factor factors fluctuation fluctuations focus \
    implication implications influence trend trends change changed changes decline declined decrease decreased drop dropped fall fell grew grow improve \
    improved increase increased rise rose evolve evolved fluctuate";

/// Units of amounts and how to write them, and comparisons, which documents show rather than say.
const MEASURES: &str = "average best billion billions cents common decimal decimals dollar dollars eur euro euros fewest gbp \
    highest largest least lowest million millions percent percentage place places ratio round rounded smallest thousand thousands \
    unit units usd worst";

/// Parts of reports. Their words are circumstances unless the question has them elsewhere too: “income” in “income
/// statement” is not its subject.
const PLACES: [&str; 15] = [
    "statements of financial position",
    "statement of financial position",
    "statement of cash flows",
    "statements of cash flows",
    "statement of operations",
    "statements of operations",
    "statement of income",
    "statements of income",
    "income statement",
    "balance sheet",
    "cash flow statement",
    "p&l statement",
    "financial statement",
    "management's discussion and analysis",
    "management's discussion",
];

/// Circumstances that are part of what these words name.
const COMPOUNDS: [(&str, [&str; 4]); 1] = [("current", ["asset", "assets", "liabilities", "ratio"])];

/// Circumstances that are part of a name with the number behind them: “Unit 14”.
const NUMBERED: &str = "appendix article chapter figure item note section step table unit";

/// The terms of [`CIRCUMSTANCES`], [`CHANGES`] and [`MEASURES`] by language. Each word is analysed alone: a list of words has no
/// language.
static TERMS: LazyLock<HashMap<Language, HashSet<String>>> = LazyLock::new(|| {
    let of_language = |language| {
        let words = [CIRCUMSTANCES, CHANGES, MEASURES].into_iter().flat_map(str::split_whitespace);
        (language, words.flat_map(|word| Analyzer { language }.terms(word)).collect())
    };
    Language::ALL.into_iter().map(of_language).collect()
});

/// The terms of words for place, time and manner in a question.
pub(super) struct Circumstances {
    language: Language,
    /// Terms of places in the question.
    of_places: HashSet<String>,
    /// Terms that are parts of names in it.
    of_names: HashSet<String>,
}

impl Circumstances {
    /// Reads a question in small letters.
    pub(super) fn of(question: &str, analyzer: Analyzer) -> Self {
        let straight = question.replace('’', "'");
        let rest = PLACES.iter().fold(straight.clone(), |rest, place| rest.replace(place, " "));
        let of_places = if rest == straight {
            HashSet::new()
        } else {
            let elsewhere: HashSet<String> = analyzer.terms(&rest).into_iter().collect();
            analyzer.terms(&straight).into_iter().filter(|term| !elsewhere.contains(term)).collect()
        };
        let words: Vec<&str> = question.split_whitespace().collect();
        let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit()) && !is_year(word);
        let is_of_name = |pair: &&[&str]| {
            let second = pair[1].trim_matches(|c: char| !c.is_alphanumeric());
            COMPOUNDS.iter().any(|(first, names)| *first == pair[0] && names.contains(&second))
                || NUMBERED.split(' ').any(|word| word == pair[0]) && is_number(pair[1])
        };
        let of_names = words.windows(2).filter(is_of_name).flat_map(|pair| analyzer.terms(pair[0])).collect();
        Self { language: analyzer.language, of_places, of_names }
    }

    /// Whether a term is one of them.
    pub(super) fn contains(&self, term: &str) -> bool {
        let is_listed = || TERMS.get(&self.language).is_some_and(|terms| terms.contains(term));
        !self.of_names.contains(term) && (self.of_places.contains(term) || is_listed())
    }
}

/// Whether a term is a year.
pub fn is_year(term: &str) -> bool {
    term.len() == 4
        && (term.starts_with("19") || term.starts_with("20"))
        && term.chars().all(|c| c.is_ascii_digit())
}
