//! Describes how a unit answers a question, by numbers from 0 to 1.

use crate::evidence::{Form, Passage, Unit};
use crate::question::Question;
use crate::words::{Kind, plain};
use docent_domain::id::DocumentId;
use std::collections::{HashMap, HashSet};

/// The names of the features, in the order of [`Features`].
pub const NAMES: [&str; 8] = ["subject", "context", "document", "kind", "negation", "near", "rank", "short"];

/// The features of a unit:
///
/// - `subject`: share of the question's terms that the unit has, the rare ones among the units weighing more;
/// - `context`: share of them that it has with its heading, its table's head, its paragraph and its document's title;
/// - `document`: share of the question's names, years and figures that the found passages of its document have;
/// - `kind`: it has the kind of value that is asked for; half if none is asked for;
/// - `negation`: it negates or excludes as the question does; half if the question does not;
/// - `near`: share of the adjacent words of the question that are adjacent in it;
/// - `rank`: the inverse of the rank of its passage;
/// - `short`: the inverse of the number of the question's terms, at least two: a text easily has all of a few.
pub type Features = [f32; NAMES.len()];

/// A unit with its features.
pub(crate) struct Described<'a> {
    pub(crate) passage: &'a Passage<'a>,
    pub(crate) rank: usize,
    pub(crate) unit: &'a Unit,
    pub(crate) features: Features,
    /// The terms of its text.
    pub(crate) terms: HashSet<String>,
    /// Whether it is only words of the question and of its document's title, such as the name of a product. A sentence like “Snacks are not
    /// covered” has common words beside them.
    pub(crate) is_bare_name: bool,
    /// Whether it has a term of the follow-up itself with its context. True for a question that was complete.
    pub(crate) is_about_follow_up: bool,
}

impl Described<'_> {
    /// The feature `subject`.
    pub(crate) const fn subject(&self) -> f32 {
        self.features[0]
    }

    /// The feature `context`.
    pub(crate) const fn context(&self) -> f32 {
        self.features[1]
    }

    /// The feature `kind`.
    pub(crate) const fn kind(&self) -> f32 {
        self.features[3]
    }
}

/// The terms of a unit.
struct Terms {
    own: HashSet<String>,
    context: HashSet<String>,
    sequence: Vec<String>,
}

/// Describes the units of these passages, best passage first.
pub(crate) fn describe<'a>(question: &Question<'_>, passages: &'a [Passage<'a>]) -> Vec<Described<'a>> {
    let analyze = |text: &str| question.analyzer.terms(text);
    let known = |text: &str| question.with_synonyms(analyze(text).into_iter().collect());
    let titles: Vec<HashSet<String>> = passages.iter().map(|it| known(&it.chunk.title)).collect();
    let terms: Vec<Vec<Terms>> = passages
        .iter()
        .map(|passage| {
            let of_unit = |unit: &Unit| {
                let sequence = analyze(&passage.own_text(unit));
                let own = question.with_synonyms(sequence.iter().cloned().collect());
                let mut context = known(&passage.context(unit));
                context.extend(own.iter().cloned());
                Terms { own, context, sequence }
            };
            passage.units.iter().map(of_unit).collect()
        })
        .collect();
    let mut documents: HashMap<DocumentId, HashSet<String>> = HashMap::new();
    for (passage, title) in passages.iter().zip(&titles) {
        let of_document = documents.entry(passage.chunk.document_id).or_default();
        of_document.extend(known(&passage.chunk.text).into_iter().chain(title.iter().cloned()));
    }
    let rarity = Rarity::new(question, &terms);
    let short = 1.0 / question.terms.len().max(2) as f32;
    let mut described = Vec::new();
    for (rank, ((passage, terms), title)) in passages.iter().zip(&terms).zip(&titles).enumerate() {
        let document = &documents[&passage.chunk.document_id];
        for (unit, terms) in passage.units.iter().zip(terms) {
            let in_context = |term: &str| terms.context.contains(term) || title.contains(term);
            let features = [
                question.share(|term| rarity.of(term), |term| terms.own.contains(term)),
                question.share(|_| 1.0, in_context),
                share(question.names.iter(), |_| 1.0, |term| document.contains(term)),
                kind(question, passage, unit),
                negation(question, passage, unit),
                near(question, &terms.sequence),
                1.0 / (rank + 1) as f32,
                short,
            ];
            let is_about_follow_up =
                question.own.is_empty() || question.own.iter().any(|term| in_context(term));
            let text = passage.text(unit);
            let terms: HashSet<String> = analyze(&text).into_iter().collect();
            let is_bare_name = unit.form == Form::Sentence
                && terms.iter().all(|term| question.terms.contains(term) || title.contains(term))
                && plain(&text).split(' ').all(|word| !analyze(word).is_empty());
            described.push(Described {
                passage,
                rank,
                unit,
                features,
                terms,
                is_bare_name,
                is_about_follow_up,
            });
        }
    }
    described
}

/// The rarity of a question's terms: the rarer one is among the units, the more it says.
struct Rarity<'q>(HashMap<&'q str, f32>);

impl<'q> Rarity<'q> {
    fn new(question: &'q Question<'_>, units: &[Vec<Terms>]) -> Self {
        let count = units.iter().flatten().count() as f32;
        let frequency =
            |term: &str| units.iter().flatten().filter(|terms| terms.own.contains(term)).count() as f32;
        let rarity =
            |term: &'q String| (term.as_str(), ((count + 1.0) / (frequency(term) + 0.5)).ln().max(0.1));
        Self(question.terms.iter().map(rarity).collect())
    }

    fn of(&self, term: &str) -> f32 {
        self.0.get(term).copied().unwrap_or_default()
    }
}

impl Question<'_> {
    /// The share of its terms that a text has. What a follow-up says itself weighs as much as all that it took over.
    fn share(&self, weight: impl Fn(&str) -> f32, has: impl Fn(&str) -> bool) -> f32 {
        let of = |is_own: bool| {
            let terms = self.terms.iter().filter(|term| self.own.contains(*term) == is_own);
            share(terms, &weight, &has)
        };
        if self.own.is_empty() { of(false) } else { f32::midpoint(of(true), of(false)) }
    }
}

fn share<'t>(
    terms: impl Iterator<Item = &'t String>,
    weight: impl Fn(&str) -> f32,
    has: impl Fn(&str) -> bool,
) -> f32 {
    let (mut all, mut found) = (0.0_f32, 0.0_f32);
    for term in terms {
        all += weight(term);
        found += if has(term) { weight(term) } else { 0.0 };
    }
    if all > 0.0 { found / all } else { 1.0 }
}

/// Whether a unit has the first kind of value that the question asks for, and half of the others count. The unit of a figure that is alone in its
/// cell is elsewhere, so a row with one has every kind.
fn kind(question: &Question<'_>, passage: &Passage<'_>, unit: &Unit) -> f32 {
    let shown = passage.sentences[unit.shown.clone()].iter().map(|sentence| sentence.text.as_str());
    let text = shown.collect::<Vec<_>>().join("\n");
    let has_kind = |kind: &Kind| match question.value(kind, &text, &unit.heading) {
        // A heading such as “Contact” or “Comparison of plans” says what stands below it.
        None => !kind.is_value && kind.evidence.is_match(&unit.heading),
        Some(_) => true,
    };
    let has_figures =
        passage.row(unit).is_some_and(|row| row.cells.iter().skip(1).any(|cell| is_bare_figure(cell)));
    let has = |index: usize| question.kinds.get(index).map(|kind| has_figures || has_kind(kind));
    match (has(0), has(1)) {
        (None, _) => 0.5,
        (Some(true), _) => 1.0,
        (Some(false), Some(true)) => 0.5,
        (Some(false), _) => 0.0,
    }
}

fn is_bare_figure(cell: &str) -> bool {
    cell.contains(|c: char| c.is_ascii_digit())
        && !cell.contains(|c: char| c.is_alphabetic() || matches!(c, '$' | '€' | '£' | '%'))
}

/// Whether a unit negates or excludes as the question does, with its heading and introduction.
fn negation(question: &Question<'_>, passage: &Passage<'_>, unit: &Unit) -> f32 {
    let text = format!("{} {}", unit.heading, passage.own_text(unit)).to_lowercase();
    let negates = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .any(|word| question.words.negations.contains(word));
    match (question.is_negated, negates) {
        (true, true) => 1.0,
        (true, false) => 0.0,
        (false, _) => 0.5,
    }
}

/// The share of the adjacent terms of the question that are adjacent in a text.
fn near(question: &Question<'_>, sequence: &[String]) -> f32 {
    let pairs: Vec<(&String, &String)> = question.terms.iter().zip(question.terms.iter().skip(1)).collect();
    let found = pairs
        .iter()
        .filter(|(first, second)| sequence.windows(2).any(|pair| pair[0] == **first && pair[1] == **second));
    if pairs.is_empty() { 0.5 } else { found.count() as f32 / pairs.len() as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::found;
    use docent_text::lexical::{Analyzer, Lexicon};

    #[test]
    fn named_features_are_those_at_their_places() {
        let chunk = found(1, 0, "A pump moves water.");
        let passages = [Passage::read(&chunk)];
        let lexicon = Lexicon::default();
        let question = Question::parse("When does the pump stop?", Analyzer::of("A pump"), &lexicon);
        let [unit] = &describe(&question, &passages)[..] else { panic!("one unit") };
        let at = |name: &str| unit.features[NAMES.iter().position(|it| *it == name).unwrap()];
        let named = (unit.subject(), unit.context(), unit.kind());
        assert_eq!(named, (at("subject"), at("context"), at("kind")));
        assert!(0.0 < unit.subject() && unit.subject() < 0.5 && unit.kind() == 0.0, "{:?}", unit.features);
    }
}
