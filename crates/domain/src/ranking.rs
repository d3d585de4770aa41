//! Relevance scoring of chunks: pure functions over term counts.
//!
//! ```text
//! lexical = Σ √idf(term, chunks) · saturation(frequency in the chunk, its length)
//!         + 2   · Σ √idf(term, documents) over terms of the title that are no names
//!         + 0.6 · Σ √idf(term, chunks under it) over terms of the headings
//!         + 0.5 · Σ √idf(term, documents) over terms of the lead, which begins with the title; 3.5 for names
//! hybrid  = lexical / best lexical + 0.3 · (cosine − 200th best cosine) / (best cosine − 200th best cosine)
//! ```
//!
//! Each term counts with its weight in the query. A name counts once, in title or lead: two documents of one company are as much about
//! it if the title of one has its name and that of the other has not.
//!
//! The square root dampens rare terms: among similar documents a rare word is more often an accident of one
//! document than the subject of the question.
//!
//! All vector stores rank with these functions and so return the same results. A store that reads the counts of
//! every chunk sums them itself; a store that returns candidates has them ranked by [`lexical`].

use crate::retrieval::QueryTerm;

/// Weight of a matching title term relative to a body term.
pub const TITLE_WEIGHT: f32 = 2.0;
/// Weight of a matching term in the chunk's headings, which describe its subject.
pub const HEADING_WEIGHT: f32 = 0.6;
/// Weight of a matching term in the lead, for documents whose titles are uninformative.
pub const LEAD_WEIGHT: f32 = 0.5;

/// The same for terms of names: the name of a company, product or person in the title or the lead says whom a document is about.
pub const NAME_LEAD_WEIGHT: f32 = 3.5;

/// Weight of the dense score relative to the lexical one, which also knows titles, headings and names.
const DENSE_WEIGHT: f32 = 0.3;

/// Number of the best chunks by each score that are compared with each other.
pub const CANDIDATES: usize = 200;

/// BM25 parameter `k1`: term frequency saturation.
const K1: f32 = 1.2;
/// BM25 parameter `b`: length normalization.
const B: f32 = 0.75;

/// Size of the indexed corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStatistics {
    /// Number of documents with chunks.
    pub documents: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// Number of terms in all chunks, with repetitions.
    pub length: u64,
}

impl CorpusStatistics {
    /// Average number of terms per chunk.
    pub fn average_length(&self) -> f32 {
        self.length as f32 / self.chunks.max(1) as f32
    }
}

/// Weight of a query term in each field.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermWeights {
    /// In the chunk's text, before saturation.
    pub body: f32,
    /// In the document's title.
    pub title: f32,
    /// In the document's lead.
    pub lead: f32,
    /// In the chunk's headings.
    pub heading: f32,
}

impl TermWeights {
    /// The factors of a query term's fields, without its rarity in them.
    pub fn factors(term: &QueryTerm) -> Self {
        let (title, lead) = if term.is_name { (0.0, NAME_LEAD_WEIGHT) } else { (TITLE_WEIGHT, LEAD_WEIGHT) };
        Self {
            body: term.weight,
            title: term.weight * title,
            lead: term.weight * lead,
            heading: term.weight * HEADING_WEIGHT,
        }
    }

    /// Computes the weights of a query term from its document frequencies.
    pub fn of(term: &QueryTerm, frequencies: Frequencies, corpus: &CorpusStatistics) -> Self {
        let Frequencies { body, title, lead, heading } = frequencies;
        let factors = Self::factors(term);
        Self {
            heading: factors.heading * inverse_document_frequency(heading, corpus.chunks),
            body: factors.body * inverse_document_frequency(body, corpus.chunks),
            title: factors.title * inverse_document_frequency(title, corpus.documents),
            lead: factors.lead * inverse_document_frequency(lead, corpus.documents),
        }
    }
}

/// Document frequencies of a term in each field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// Number of chunks with the term in their text.
    pub body: u64,
    /// Number of documents with the term in their title.
    pub title: u64,
    /// Number of documents with the term in their lead.
    pub lead: u64,
    /// Number of chunks with the term in their headings.
    pub heading: u64,
}

/// Where a query term occurs in a chunk and its document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    /// Number of occurrences in the chunk's text.
    pub body: u32,
    /// Whether it occurs in the title.
    pub title: bool,
    /// Whether it occurs in the lead.
    pub lead: bool,
    /// Whether it occurs in the chunk's headings.
    pub heading: bool,
}

/// Computes the lexical score of a chunk with the length norm `length_norm` from the weights and occurrences of
/// the query terms.
pub fn lexical(terms: &[(TermWeights, Occurrence)], length_norm: f32) -> f32 {
    let mut body = 0.0;
    for (weights, found) in terms.iter().filter(|(_, found)| found.body > 0) {
        body += weights.body * saturation(found.body, length_norm);
    }
    for (weights, _) in terms.iter().filter(|(_, found)| found.heading) {
        body += weights.heading;
    }
    let mut document = 0.0;
    for (weights, _) in terms.iter().filter(|(_, found)| found.title) {
        document += weights.title;
    }
    for (weights, _) in terms.iter().filter(|(_, found)| found.lead) {
        document += weights.lead;
    }
    body + document
}

/// Computes the square root of the inverse document frequency of a term that occurs in `frequency` of `total`.
pub fn inverse_document_frequency(frequency: u64, total: u64) -> f32 {
    let (frequency, total) = (frequency as f64, total.max(frequency) as f64);
    (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln().sqrt() as f32
}

/// Rounds a length for storage: exact up to 40, above that to four significant bits, so that it fits a byte.
pub fn rounded_length(length: u32) -> u32 {
    const EXACT: u32 = 24;
    let Some(rest) = length.checked_sub(EXACT) else { return length };
    let dropped = (u32::BITS - rest.leading_zeros()).saturating_sub(4);
    EXACT + (rest >> dropped << dropped)
}

/// Computes the part of BM25's denominator that depends only on the chunk's length.
pub fn length_norm(length: u32, average: f32) -> f32 {
    K1 * (1.0 - B + B * length as f32 / average.max(1.0))
}

/// Computes BM25's term frequency factor, which grows with `frequency` up to `K1 + 1`.
pub fn saturation(frequency: u32, length_norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (K1 + 1.0) / (frequency + length_norm)
}

/// Puts the lexical and the dense scores of a search together.
///
/// The cosines of relevant and irrelevant texts differ by 0.5 with some models and by 0.05 with others. Therefore a cosine
/// counts by its place between the best one and the [`CANDIDATES`]th best one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fusion {
    best_lexical: f32,
    lowest_cosine: f32,
    /// Between the best cosine and the lowest one that counts.
    range: f32,
}

impl Fusion {
    /// Takes the scores of all chunks, or of at least the best [`CANDIDATES`] by each. Cosines that are not positive do not
    /// count.
    pub fn new(best_lexical: f32, cosines: impl IntoIterator<Item = f32>) -> Self {
        let descending = |a: &f32, b: &f32| b.total_cmp(a);
        // Sorted out now and then, so that no copy of all cosines is made.
        let (mut kept, mut least) = (Vec::with_capacity(2 * CANDIDATES), 0.0);
        for cosine in cosines {
            if cosine > least {
                kept.push(cosine);
            }
            if kept.len() == 2 * CANDIDATES {
                let (_, last, _) = kept.select_nth_unstable_by(CANDIDATES - 1, descending);
                least = *last;
                kept.truncate(CANDIDATES);
            }
        }
        let Some(last) = kept.len().min(CANDIDATES).checked_sub(1) else {
            return Self { best_lexical, lowest_cosine: 0.0, range: 0.0 };
        };
        let (better, lowest, _) = kept.select_nth_unstable_by(last, descending);
        let best = better.iter().fold(*lowest, |a, b| a.max(*b));
        Self { best_lexical, lowest_cosine: *lowest, range: best - *lowest }
    }

    /// The score of a chunk: the cosine if no chunk has a lexical score, and otherwise from 0 to 1.3.
    pub fn score(&self, lexical: f32, cosine: f32) -> f32 {
        if self.best_lexical > 0.0 {
            lexical / self.best_lexical + DENSE_WEIGHT * self.place(cosine)
        } else {
            cosine
        }
    }

    /// From 1 for the best cosine to just above 0 for the last one that counts.
    fn place(&self, cosine: f32) -> f32 {
        const LAST: f32 = 1.0 / CANDIDATES as f32;
        if cosine <= 0.0 || cosine < self.lowest_cosine {
            return 0.0;
        }
        if self.range > 0.0 { LAST + (1.0 - LAST) * (cosine - self.lowest_cosine) / self.range } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_term_weighs_more_than_common_term() {
        assert!(inverse_document_frequency(1, 1000) > inverse_document_frequency(10, 1000));
        assert!(inverse_document_frequency(10, 1000) > inverse_document_frequency(1000, 1000));
        assert!(inverse_document_frequency(1000, 1000) > 0.0);
        // idf of 1 in 3: ln(1 + 2.5 / 1.5) = 0.98083
        assert!((inverse_document_frequency(1, 3) - 0.990_368_f32).abs() < 1e-5);
    }

    #[test]
    fn repeated_term_saturates() {
        let norm = length_norm(100, 100.0);
        let scores: Vec<f32> = [1, 2, 3, 1000].map(|n| saturation(n, norm)).to_vec();
        assert!(scores.is_sorted());
        assert!(scores[1] - scores[0] > scores[2] - scores[1]);
        assert!((scores[0] - 1.0).abs() < 1e-6);
        assert!(scores[3] < 2.2);
    }

    #[test]
    fn long_chunk_scores_lower_for_same_frequency() {
        assert!(saturation(1, length_norm(50, 100.0)) > saturation(1, length_norm(200, 100.0)));
        assert!(length_norm(0, 0.0).is_finite());
    }

    #[test]
    fn scores_are_relative_to_the_best_of_each_kind() {
        let fusion = Fusion::new(6.0, [0.9, 0.7, 0.8]);
        let expected = [
            (0.0, 0.9, DENSE_WEIGHT),
            (6.0, 0.8, 1.0 + DENSE_WEIGHT * 0.5025),
            (3.0, 0.7, 0.5 + DENSE_WEIGHT * 0.005),
            (6.0, 0.1, 1.0),
        ];
        for (lexical, cosine, score) in expected {
            assert!((fusion.score(lexical, cosine) - score).abs() < 1e-5, "{lexical} {cosine}");
        }
    }

    #[test]
    fn cosines_count_the_same_in_any_range() {
        let (wide, narrow) = ([0.1, 0.3, 0.6, 0.5], [0.81, 0.83, 0.86, 0.85]);
        let scores = |cosines: [f32; 4]| cosines.map(|cosine| Fusion::new(1.0, cosines).score(0.0, cosine));
        for (one, other) in scores(wide).into_iter().zip(scores(narrow)) {
            assert!((one - other).abs() < 1e-4, "{one} {other}");
        }
    }

    #[test]
    fn only_the_best_cosines_count() {
        let cosines: Vec<f32> = (1..=900).map(|n| n as f32 / 1000.0).collect();
        let reversed: Vec<f32> = cosines.iter().rev().copied().collect();
        for cosines in [&cosines[..300], &cosines, &reversed] {
            let fusion = Fusion::new(1.0, cosines.iter().copied());
            let mut sorted = cosines.to_vec();
            sorted.sort_by(|a, b| b.total_cmp(a));
            assert!(
                fusion.score(0.0, sorted[CANDIDATES]) == 0.0
                    && fusion.score(0.0, sorted[CANDIDATES - 1]) > 0.0
            );
            assert!((fusion.score(0.0, sorted[0]) - DENSE_WEIGHT).abs() < 1e-6);
        }
        let one = Fusion::new(1.0, [0.4]);
        assert_eq!([one.score(0.0, 0.4), one.score(0.0, 0.0)], [DENSE_WEIGHT, 0.0]);
    }

    #[test]
    fn without_scores_of_a_kind_the_other_one_counts() {
        assert_eq!(Fusion::new(4.0, [0.0, -0.2]).score(2.0, -0.2), 0.5);
        assert_eq!(Fusion::new(0.0, [0.4, 0.2]).score(0.0, 0.2), 0.2);
    }

    #[test]
    fn lexical_score_sums_fields_where_term_occurs() {
        let totals = CorpusStatistics { documents: 10, chunks: 100, length: 20_000 };
        let each = |body, title| Frequencies { body, title, lead: title, heading: body };
        let word = QueryTerm::word("pump");
        let of = |frequencies| TermWeights::of(&word, frequencies, &totals);
        let (rare, common) = (of(each(1, 1)), of(each(90, 9)));
        let nowhere = Occurrence::default();
        let norm = length_norm(200, totals.average_length());
        assert_eq!(lexical(&[(rare, nowhere), (common, nowhere)], norm), 0.0);
        let body = Occurrence { body: 2, ..nowhere };
        assert_eq!(lexical(&[(rare, body)], norm), rare.body * saturation(2, norm));
        let all = Occurrence { body: 2, title: true, lead: true, heading: true };
        let expected = rare.body * saturation(2, norm) + rare.heading + (rare.title + rare.lead);
        assert_eq!(lexical(&[(rare, all), (common, nowhere)], norm), expected);
        assert!(rare.title > common.title && rare.title > 3.9 * rare.lead);
    }

    #[test]
    fn name_weighs_more_in_the_lead_and_expansion_less_everywhere() {
        let word = QueryTerm::word("pump");
        let name = TermWeights::factors(&QueryTerm { is_name: true, ..word.clone() });
        let plain = TermWeights::factors(&word);
        assert_eq!(name, TermWeights { title: 0.0, lead: NAME_LEAD_WEIGHT, ..plain });
        let half = TermWeights::factors(&QueryTerm { weight: 0.5, ..word });
        assert_eq!((half.body, half.title, half.lead), (0.5, TITLE_WEIGHT / 2.0, LEAD_WEIGHT / 2.0));
        assert_eq!(half.heading, HEADING_WEIGHT / 2.0);
    }

    #[test]
    fn rounded_length_is_exact_up_to_forty_and_within_an_eighth_above() {
        for length in 0..=40 {
            assert_eq!(rounded_length(length), length);
        }
        assert_eq!([41, 42, 43, 57, 1_000_000].map(rounded_length), [40, 42, 42, 56, 983_064]);
        for length in (41..100_000).chain([u32::MAX]) {
            let rounded = rounded_length(length);
            assert!(rounded <= length && length - rounded <= length / 8, "{length} as {rounded}");
            assert_eq!(rounded_length(rounded), rounded);
        }
    }
}
