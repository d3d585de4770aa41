//! How well chunks fit a query: pure functions over counts.
//!
//! ```text
//! lexical = Σ √idf(term, chunks) · saturation(frequency in the chunk, its length)
//!         + 2   · Σ √idf(term, documents) over terms of the title
//!         + 0.5 · Σ √idf(term, documents) over terms of the lead
//! hybrid  = lexical / best lexical + cosine
//! ```
//!
//! The root weakens rare terms: in collections of similar documents a rare word is more often an
//! accident of one document than what the question is about.

/// What a matching term of the title counts against one of the text.
pub(super) const TITLE_WEIGHT: f32 = 2.0;
/// What a matching term of the lead counts; it carries when titles say nothing.
pub(super) const LEAD_WEIGHT: f32 = 0.5;

/// How soon repetitions of a term stop counting.
const K1: f32 = 1.2;
/// How much long chunks are held against short ones.
const B: f32 = 0.75;

/// The root of a term's inverse document frequency: `frequency` of `total` have it.
pub(super) fn rarity(frequency: u64, total: u64) -> f32 {
    let (frequency, total) = (frequency as f64, total.max(frequency) as f64);
    (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln().sqrt() as f32
}

/// The part of BM25's denominator that depends on a chunk's length alone.
pub(super) fn length_norm(length: u32, average: f32) -> f32 {
    K1 * (1.0 - B + B * length as f32 / average.max(1.0))
}

/// BM25's term frequency, which grows with `frequency` up to `K1 + 1`.
pub(super) fn saturation(frequency: u32, length_norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (K1 + 1.0) / (frequency + length_norm)
}

/// Joins both kinds of fit; `best` is the highest lexical score of all chunks.
pub(super) fn hybrid(lexical: f32, best: f32, cosine: f32) -> f32 {
    let lexical = if best > 0.0 { lexical / best } else { 0.0 };
    lexical + cosine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_common_ones_something() {
        assert!(rarity(1, 1000) > rarity(10, 1000));
        assert!(rarity(10, 1000) > rarity(1000, 1000));
        assert!(rarity(1000, 1000) > 0.0);
        // idf of 1 in 3: ln(1 + 2.5 / 1.5) = 0.98083
        assert!((rarity(1, 3) - 0.990_368_f32).abs() < 1e-5);
    }

    #[test]
    fn repetition_counts_less_and_less() {
        let norm = length_norm(100, 100.0);
        let scores: Vec<f32> = [1, 2, 3, 1000].map(|n| saturation(n, norm)).to_vec();
        assert!(scores.is_sorted());
        assert!(scores[1] - scores[0] > scores[2] - scores[1]);
        assert!((scores[0] - 1.0).abs() < 1e-6);
        assert!(scores[3] < 2.2);
    }

    #[test]
    fn long_chunks_need_more_occurrences() {
        assert!(saturation(1, length_norm(50, 100.0)) > saturation(1, length_norm(200, 100.0)));
        assert!(length_norm(0, 0.0).is_finite());
    }

    #[test]
    fn both_kinds_of_fit_have_the_same_scale() {
        assert!((hybrid(3.0, 6.0, 0.25) - 0.75).abs() < 1e-6);
        assert!((hybrid(0.0, 0.0, 0.25) - 0.25).abs() < 1e-6);
    }
}
