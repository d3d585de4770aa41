//! Fits the weights of the built-in answerer: logistic regression with an L2 penalty.

use anyhow::{Context, ensure};
use docent_answerer::{DescribedUnit, Features, NAMES, Weights, rate};
use docent_app::evaluation::{EvaluatedAnswer, Question, shows};
use docent_domain::id::DocumentId;
use docent_text::lexical::Lexicon;
use nalgebra::{SMatrix, SVector};
use std::fmt::Write;

/// The features and a constant.
const SIZE: usize = NAMES.len() + 1;
type Vector = SVector<f64, SIZE>;
type Matrix = SMatrix<f64, SIZE, SIZE>;

/// The weight of the penalty, in questions.
const PENALTY: f64 = 0.33;
/// The units of a question that do not answer it weigh this many times those that do.
const OTHERS: f64 = 3.0;
/// The regression converges long before.
const STEPS: usize = 50;
/// How often the weights of units are set again.
const ROUNDS: usize = 4;
/// The share of answerable questions that no unit may be called an answer to.
const UNANSWERED: f64 = 0.1;
/// The share of answerable questions for which nothing may be shown.
const NOTHING_SHOWN: f64 = 0.03;

/// The answers of a question set.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) asked: Vec<Asked>,
}

/// A question with the units that were found for it.
pub(super) struct Asked {
    is_answerable: bool,
    units: Vec<DescribedUnit>,
    /// Whether each unit is on a page that answers.
    are_right: Vec<bool>,
}

impl Asked {
    /// `gold` is the document that answers, with the question; `None` if none does.
    ///
    /// A unit is right if it has a line of the question's evidence. Without evidence, or if it is spread over units, all units
    /// of its pages are.
    pub(super) fn new(answer: &EvaluatedAnswer, gold: Option<(DocumentId, &Question)>) -> Self {
        let units = rate(&answer.question, &answer.sources, &Lexicon::builtin());
        let is_on_page = |unit: &DescribedUnit| {
            let document = answer.sources[unit.rank].document_id;
            gold.is_some_and(|(right, question)| right == document && question.pages.contains(&unit.page))
        };
        let has_evidence = |unit: &DescribedUnit| {
            let lines = gold.iter().flat_map(|(_, question)| question.evidence.lines());
            lines.into_iter().any(|line| shows(&unit.text, line) || shows(&unit.context, line))
        };
        let on_page: Vec<bool> = units.iter().map(is_on_page).collect();
        let with_evidence: Vec<bool> =
            units.iter().zip(&on_page).map(|(unit, is_on_page)| *is_on_page && has_evidence(unit)).collect();
        let are_right = if with_evidence.contains(&true) { with_evidence } else { on_page };
        Self { is_answerable: gold.is_some(), are_right, units }
    }

    /// The highest probability, and whether its unit is right.
    fn best(&self, weights: &Weights) -> (f64, bool) {
        let rated = self.units.iter().zip(&self.are_right);
        let rated = rated.map(|(unit, is_right)| (f64::from(weights.probability(&unit.features)), *is_right));
        // Of equal ones the first.
        rated.fold((0.0, false), |best, next| if next.0 > best.0 { next } else { best })
    }

    /// The features of each unit with whether it is right and its weight. None if the search did not find what is right.
    ///
    /// A page that answers has units that do not, and of those that do not answer only the likely ones matter. So units weigh
    /// as much as `weights` expect of them.
    fn samples(&self, weights: Option<&Weights>) -> Vec<(Vector, f64, f64)> {
        if self.is_answerable && !self.are_right.contains(&true) {
            return Vec::new();
        }
        let expected = |(unit, is_right): (&DescribedUnit, &bool)| {
            let probability = weights.map_or(1.0, |weights| f64::from(weights.probability(&unit.features)));
            if *is_right { probability * probability } else { probability }
        };
        let units = || self.units.iter().zip(&self.are_right);
        let sum =
            |right: bool| units().filter(|(_, is_right)| **is_right == right).map(expected).sum::<f64>();
        let (right, others) = (sum(true), sum(false));
        let sample = |(unit, is_right): (&DescribedUnit, &bool)| {
            let share = expected((unit, is_right)) / if *is_right { right } else { others / OTHERS };
            (vector(&unit.features), f64::from(u8::from(*is_right)), share)
        };
        units().map(sample).collect()
    }
}

fn vector(features: &Features) -> Vector {
    Vector::from_iterator(features.iter().map(|value| f64::from(*value)).chain([1.0]))
}

/// Fits weights to these sets. Each question has the same weight.
pub(super) fn fit(sets: &[Set]) -> anyhow::Result<Weights> {
    fit_all(&sets.iter().collect::<Vec<_>>())
}

fn fit_all(sets: &[&Set]) -> anyhow::Result<Weights> {
    let asked: Vec<&Asked> = sets.iter().flat_map(|set| &set.asked).collect();
    let mut weights: Option<Weights> = None;
    for _ in 0..ROUNDS {
        let samples: Vec<_> = asked.iter().flat_map(|asked| asked.samples(weights.as_ref())).collect();
        ensure!(
            samples.iter().any(|(_, is_right, _)| *is_right > 0.0),
            "no search found a page that answers"
        );
        weights = Some(regress(&samples)?);
    }
    let weights = weights.context("no round")?;
    // Rounded down, so that the unit at the bound stays above it.
    let bound = |allowed: f64| round(bound(sets, &weights, allowed) - 0.0005);
    Ok(Weights { answer: bound(UNANSWERED), decline: bound(NOTHING_SHOWN), ..weights })
}

/// The probability that the best unit does not reach for this share of the answerable questions. Each set has the same say.
fn bound(sets: &[&Set], weights: &Weights, allowed: f64) -> f64 {
    let mut best: Vec<(f64, f64)> = Vec::new();
    for set in sets {
        let answerable: Vec<&Asked> = set.asked.iter().filter(|asked| asked.is_answerable).collect();
        let share = 1.0 / (answerable.len() * sets.len()) as f64;
        best.extend(answerable.iter().map(|asked| (asked.best(weights).0, share)));
    }
    best.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0.0;
    let is_allowed = |(_, share): &&(f64, f64)| {
        below += share;
        below > allowed
    };
    best.iter().find(is_allowed).map_or(0.0, |(probability, _)| *probability)
}

/// Rounds to three places, for people to read.
fn round(value: f64) -> f32 {
    (value * 1000.0).round() as f32 / 1000.0
}

/// Logistic regression by Newton's method.
fn regress(samples: &[(Vector, f64, f64)]) -> anyhow::Result<Weights> {
    let mut weights = Vector::zeros();
    for _ in 0..STEPS {
        let mut gradient = -PENALTY * weights;
        let mut curvature = Matrix::identity() * PENALTY;
        // The constant is not penalised, but for a unique solution.
        gradient[SIZE - 1] *= f64::EPSILON.sqrt();
        curvature[(SIZE - 1, SIZE - 1)] *= f64::EPSILON.sqrt();
        for (features, is_right, weight) in samples {
            let probability = 1.0 / (1.0 + (-weights.dot(features)).exp());
            gradient += features * (weight * (is_right - probability));
            curvature += features * features.transpose() * (weight * probability * (1.0 - probability));
        }
        let step =
            curvature.cholesky().context("the features do not determine the weights")?.solve(&gradient);
        weights += step;
        if step.norm() < f64::EPSILON.sqrt() {
            break;
        }
    }
    let features = NAMES.iter().zip(weights.iter()).map(|(name, value)| ((*name).to_owned(), round(*value)));
    Ok(Weights { features: features.collect(), bias: round(weights[SIZE - 1]), answer: 1.0, decline: 0.0 })
}

/// A table of the weights, and of each set with weights that were fitted to the others.
pub(super) fn report(sets: &[Set], weights: &Weights) -> anyhow::Result<String> {
    let mut text = String::from("\nWeights\n");
    for (name, weight) in &weights.features {
        writeln!(text, "  {name:<18}  {weight:>6.2}")?;
    }
    writeln!(text, "  {:<18}  {:>6.2}", "constant", weights.bias)?;
    writeln!(text, "  answers from {:.3}, shows nothing below {:.3}\n", weights.answer, weights.decline)?;
    writeln!(text, "{:<20}{:>12}{:>12}{:>12}", "In percent", "first right", "declines", "rightly")?;
    for set in sets {
        let others: Vec<&Set> = sets.iter().filter(|other| other.name != set.name).collect();
        writeln!(text, "{}", line(set, weights, ""))?;
        if !others.is_empty() {
            writeln!(text, "{}", line(set, &fit_all(&others)?, " by others"))?;
        }
    }
    Ok(text)
}

/// How weights do on a set: how often the best unit is right, and how often answerable and other questions are declined.
fn line(set: &Set, weights: &Weights, how: &str) -> String {
    let share = |is_answerable: bool, is: &dyn Fn((f64, bool)) -> bool| {
        let these: Vec<&Asked> =
            set.asked.iter().filter(|asked| asked.is_answerable == is_answerable).collect();
        let count = these.iter().filter(|asked| is(asked.best(weights))).count();
        match these.len() {
            0 => "-".to_owned(),
            all => format!("{:.1}", 100.0 * count as f64 / all as f64),
        }
    };
    let is_declined = |(probability, _): (f64, bool)| probability < f64::from(weights.answer);
    format!(
        "{:<20}{:>12}{:>12}{:>12}",
        format!("{}{how}", set.name),
        share(true, &|(_, is_right)| is_right),
        share(true, &is_declined),
        share(false, &is_declined)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(is_answerable: bool, units: &[(f32, bool)]) -> Asked {
        let unit = |value: f32| DescribedUnit {
            rank: 0,
            page: 1,
            text: String::new(),
            context: String::new(),
            features: [value; NAMES.len()],
            probability: 0.0,
        };
        Asked {
            is_answerable,
            units: units.iter().map(|(value, _)| unit(*value)).collect(),
            are_right: units.iter().map(|(_, is_right)| *is_right).collect(),
        }
    }

    #[test]
    fn fitted_weights_prefer_what_is_right() {
        let answerable = || asked(true, &[(0.9, true), (0.2, false)]);
        let mut all: Vec<Asked> = (0..20).map(|_| answerable()).collect();
        all.extend((0..10).map(|_| asked(false, &[(0.3, false)])));
        let set = Set { name: "a".to_owned(), asked: all };
        let weights = fit(std::slice::from_ref(&set)).unwrap();
        assert!(weights.features.values().all(|weight| *weight > 0.0), "{weights:?}");
        assert!(weights.probability(&[0.9; NAMES.len()]) > weights.probability(&[0.3; NAMES.len()]));
        let report = report(&[set], &weights).unwrap();
        assert!(report.contains("100.0         0.0       100.0"), "{report}");
    }

    #[test]
    fn nothing_right_cannot_be_fitted() {
        let set = Set { name: "a".to_owned(), asked: vec![asked(true, &[(0.9, false)])] };
        assert!(fit(&[set]).is_err());
    }
}
