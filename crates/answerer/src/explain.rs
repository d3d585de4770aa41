//! Explains answers: the units of passages with their features and probabilities.

use crate::choice::{DescribedUnit, rate};
use crate::features::NAMES;
use crate::weights::Weights;
use docent_domain::explanation::{Feature, RatedUnit, UnitRatings};
use docent_domain::retrieval::ScoredChunk;
use docent_text::lexical::Lexicon;

/// The units of these passages, the most probable first.
pub(crate) fn ratings(question: &str, passages: &[ScoredChunk], lexicon: &Lexicon) -> UnitRatings {
    let weights = Weights::fitted();
    let rated = |unit: DescribedUnit| RatedUnit {
        rank: unit.rank,
        page: unit.page,
        text: unit.text,
        values: unit.features.to_vec(),
        probability: unit.probability,
    };
    let mut units: Vec<RatedUnit> = rate(question, passages, lexicon).into_iter().map(rated).collect();
    // The stable sort keeps the order of equal units, as the choice does.
    units.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let feature = |name| Feature { name, weight: weights.features.get(name).copied().unwrap_or_default() };
    UnitRatings {
        features: NAMES.into_iter().map(feature).collect(),
        constant: weights.bias,
        answer: weights.answer,
        decline: weights.decline,
        units,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use docent_testkit::retrieval::found;

    #[test]
    fn probability_is_that_of_the_weighted_sum_and_the_best_unit_is_first() {
        let passages = [
            found(1, 0, "A valve closes a pipe."),
            found(2, 0, "The warranty of the pump is 24 months. A pump moves water."),
        ];
        let ratings = ratings("How long is the warranty of the pump?", &passages, &Lexicon::builtin());
        let best = &ratings.units[0];
        assert_eq!((best.rank, &*best.text), (1, "The warranty of the pump is 24 months."));
        assert!(best.probability >= ratings.answer && ratings.answer > ratings.decline);
        assert_eq!(ratings.units.len(), 3);
        assert!(ratings.units.is_sorted_by(|a, b| a.probability >= b.probability));
        for unit in &ratings.units {
            let weighted = ratings.features.iter().zip(&unit.values).map(|(it, value)| it.weight * value);
            let odds = (ratings.constant + weighted.sum::<f32>()).exp();
            assert!((unit.probability - odds / (1.0 + odds)).abs() < 1e-5, "{unit:?}");
        }
    }
}
