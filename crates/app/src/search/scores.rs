//! Scores from 0 to 1, for clients that compare them with a threshold.

/// The score of the index that becomes one half: about that of a passage which has the rare words of a short question.
const HALF: f64 = 10.0;

/// Maps scores to the range from 0 to 1, so that their order stays.
///
/// A reranker that returns probabilities keeps them; other rerankers return logits. Scores of the index are sums of weights without
/// an upper limit.
pub(super) fn calibrate(scores: &[f64], is_reranked: bool) -> Vec<f64> {
    let is_probability = scores.iter().all(|score| (0.0..=1.0).contains(score));
    let calibrate = |score: &f64| match is_reranked {
        true if is_probability => *score,
        true => 1.0 / (1.0 + (-score).exp()),
        false => score.max(0.0) / (score.max(0.0) + HALF),
    };
    scores.iter().map(calibrate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_between_0_and_1_in_the_same_order() {
        let index = calibrate(&[1e9, 10.0, 2.5, 0.0], false);
        assert_eq!((index[1], index[2], index[3]), (0.5, 0.2, 0.0));
        let logits = calibrate(&[1000.0, 3.0, 0.0, -3.0, -1000.0], true);
        assert_eq!((logits[2], logits[0]), (0.5, 1.0));
        for scores in [index, logits] {
            assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
            assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        }
        assert_eq!(calibrate(&[0.9, 0.2], true), [0.9, 0.2], "probabilities stay");
        assert!(calibrate(&[], true).is_empty());
    }
}
