//! Turns the features of a unit into the probability that it answers.

use crate::features::{Features, NAMES};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The weights of the features, as `docent eval --fit` writes them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Weights {
    /// The weight of each feature by its name.
    pub features: BTreeMap<String, f32>,
    /// What is added to their weighted sum.
    pub bias: f32,
    /// From this probability on, a unit is an answer.
    pub answer: f32,
    /// From this probability on, units are passages that may help.
    pub decline: f32,
}

#[expect(clippy::expect_used, reason = "the file is part of the program, and a test reads it")]
static FITTED: LazyLock<Weights> =
    LazyLock::new(|| serde_json::from_str(include_str!("../data/weights.json")).expect("valid weights"));

impl Weights {
    /// The fitted weights.
    pub fn fitted() -> &'static Self {
        &FITTED
    }

    /// The probability that a unit with these features answers.
    pub fn probability(&self, features: &Features) -> f32 {
        let weight = |name: &str| self.features.get(name).copied().unwrap_or_default();
        let sum: f32 = NAMES.iter().zip(features).map(|(name, value)| weight(name) * value).sum();
        1.0 / (1.0 + (-(self.bias + sum)).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_weight_and_no_other() {
        let weights = Weights::fitted();
        let names: Vec<&str> = weights.features.keys().map(String::as_str).collect();
        let mut expected = NAMES;
        expected.sort_unstable();
        assert_eq!(names, expected);
        assert!(0.0 < weights.decline && weights.decline < weights.answer && weights.answer < 1.0);
    }
}
