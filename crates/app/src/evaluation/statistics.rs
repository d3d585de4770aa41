//! Means with bootstrap confidence intervals.

use serde::Serialize;

/// The number of bootstrap resamples.
pub const RESAMPLES: usize = 2000;
/// A fixed seed, so that runs are reproducible and all means of a run use the same resamples.
const SEED: u64 = 20_260_101;

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// The mean of the values with its bootstrap confidence interval. `None` without values.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    estimate_over_sets(&[values])
}

/// The mean of the means of several sets with its bootstrap confidence interval; values are resampled within their set.
/// Empty sets do not count; `None` without values.
pub fn estimate_over_sets(sets: &[&[f64]]) -> Option<Estimate> {
    let sets: Vec<&[f64]> = sets.iter().copied().filter(|set| !set.is_empty()).collect();
    if sets.is_empty() {
        return None;
    }
    let mean_of_sets = |mean_of: &mut dyn FnMut(&[f64]) -> f64| {
        sets.iter().map(|set| mean_of(set)).sum::<f64>() / sets.len() as f64
    };
    let mut random = SeededRandom(SEED);
    let mut resampled =
        |set: &[f64]| (0..set.len()).map(|_| set[random.below(set.len())]).sum::<f64>() / set.len() as f64;
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| mean_of_sets(&mut resampled)).collect();
    means.sort_unstable_by(f64::total_cmp);
    let cut = RESAMPLES / 40;
    let mean = mean_of_sets(&mut |set| set.iter().sum::<f64>() / set.len() as f64);
    Some(Estimate { mean, low: means[cut], high: means[RESAMPLES - 1 - cut] })
}

/// The SplitMix64 generator, which is sufficient for resampling.
struct SeededRandom(u64);

impl SeededRandom {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`. The bias is negligible for small bounds.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_of_many_values_is_two_standard_errors_wide_on_each_side() {
        let values: Vec<f64> = (0..100).map(|n| f64::from(u8::from(n % 2 == 0))).collect();
        let Estimate { mean, low, high } = estimate(&values).unwrap();
        assert!((mean - 0.5).abs() < 1e-12);
        // The standard error of a fair coin over 100 is 0.05.
        assert!((low - 0.402).abs() < 0.02 && (high - 0.598).abs() < 0.02, "{low} to {high}");
        assert_eq!(estimate(&values), estimate(&values), "runs are reproducible");
    }

    #[test]
    fn estimate_of_no_values_is_none_and_of_equal_values_has_no_width() {
        assert_eq!(estimate(&[]), None);
        assert_eq!(estimate(&[1.0; 9]), Some(Estimate { mean: 1.0, low: 1.0, high: 1.0 }));
    }

    #[test]
    fn sets_of_different_sizes_have_equal_weight() {
        let (small, large) = ([1.0; 3], [0.0; 300]);
        let estimate = estimate_over_sets(&[&small, &large, &[]]).unwrap();
        assert_eq!(estimate, Estimate { mean: 0.5, low: 0.5, high: 0.5 });
        assert_eq!(estimate_over_sets(&[&[], &[]]), None);
    }

    #[test]
    fn every_value_is_equally_likely() {
        let mut random = SeededRandom(SEED);
        let mut counts = [0_u32; 7];
        for _ in 0..7000 {
            counts[random.below(7)] += 1;
        }
        assert!(counts.iter().all(|n| (850..1150).contains(n)), "{counts:?}");
        // The generator's published first number for the seed 0.
        assert_eq!(SeededRandom(0).next(), 0xe220_a839_7b1d_cdaf);
    }
}
