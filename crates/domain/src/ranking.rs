//! How well chunks fit a query: pure functions over counts.
//!
//! ```text
//! lexical = Σ √idf(term, chunks) · saturation(frequency in the chunk, its length)
//!         + 2   · Σ √idf(term, documents) over terms of the title
//!         + 0.6 · Σ √idf(term, chunks under it) over terms of the headings
//!         + 0.5 · Σ √idf(term, documents) over terms of the lead
//! hybrid  = lexical / best lexical + cosine
//! ```
//!
//! The root weakens rare terms: in collections of similar documents a rare word is more often an
//! accident of one document than what the question is about.
//!
//! Every vector store ranks by these functions, so that all of them answer alike: one that reads the counts of
//! every chunk adds them up itself, one that gives candidates has them ranked by [`lexical`].

/// What a matching term of the title counts against one of the text.
pub const TITLE_WEIGHT: f32 = 2.0;
/// What a matching term of the headings that a chunk stands under counts: they say what it is about.
pub const HEADING_WEIGHT: f32 = 0.6;
/// What a matching term of the lead counts; it carries when titles say nothing.
pub const LEAD_WEIGHT: f32 = 0.5;

/// How soon repetitions of a term stop counting.
const K1: f32 = 1.2;
/// How much long chunks are held against short ones.
const B: f32 = 0.75;

/// How much there is in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CorpusStatistics {
    /// Documents that have chunks.
    pub documents: u64,
    /// Chunks.
    pub chunks: u64,
    /// Terms of all chunks, repetitions counted.
    pub length: u64,
}

impl CorpusStatistics {
    /// The terms that a chunk has on average.
    pub fn average_length(&self) -> f32 {
        self.length as f32 / self.chunks.max(1) as f32
    }
}

/// What a term of a query is worth where it occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TermWeights {
    /// In a chunk's text, before saturation.
    pub body: f32,
    /// In a document's title.
    pub title: f32,
    /// In a document's lead.
    pub lead: f32,
    /// In the headings that a chunk stands under.
    pub heading: f32,
}

impl TermWeights {
    /// Of a term that so many chunks have in their text and in their headings, and so many documents in title and
    /// lead.
    pub fn of(frequencies: Frequencies, totals: &CorpusStatistics) -> Self {
        let Frequencies { body, title, lead, heading } = frequencies;
        Self {
            heading: HEADING_WEIGHT * inverse_document_frequency(heading, totals.chunks),
            body: inverse_document_frequency(body, totals.chunks),
            title: TITLE_WEIGHT * inverse_document_frequency(title, totals.documents),
            lead: LEAD_WEIGHT * inverse_document_frequency(lead, totals.documents),
        }
    }
}

/// How often a term is in a collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frequencies {
    /// Chunks that have it in their text.
    pub body: u64,
    /// Documents that have it in their title.
    pub title: u64,
    /// Documents that have it in their lead.
    pub lead: u64,
    /// Chunks that stand under headings that have it.
    pub heading: u64,
}

/// Where a term of the query occurs in a chunk and its document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occurrence {
    /// How often in the chunk's text.
    pub body: u32,
    /// Whether in the title.
    pub title: bool,
    /// Whether in the lead.
    pub lead: bool,
    /// Whether in the headings that the chunk stands under.
    pub heading: bool,
}

/// The lexical score of a chunk whose text has the norm `length_norm`: for each term of the query what it is
/// worth, and where it occurs.
pub fn lexical(terms: &[(TermWeights, Occurrence)], length_norm: f32) -> f32 {
    let mut body = 0.0;
    for (worth, found) in terms.iter().filter(|(_, found)| found.body > 0) {
        body += worth.body * saturation(found.body, length_norm);
    }
    for (worth, _) in terms.iter().filter(|(_, found)| found.heading) {
        body += worth.heading;
    }
    let mut document = 0.0;
    for (worth, _) in terms.iter().filter(|(_, found)| found.title) {
        document += worth.title;
    }
    for (worth, _) in terms.iter().filter(|(_, found)| found.lead) {
        document += worth.lead;
    }
    body + document
}

/// The root of a term's inverse document frequency: `frequency` of `total` have it.
pub fn inverse_document_frequency(frequency: u64, total: u64) -> f32 {
    let (frequency, total) = (frequency as f64, total.max(frequency) as f64);
    (1.0 + (total - frequency + 0.5) / (frequency + 0.5)).ln().sqrt() as f32
}

/// A length as it is remembered: exactly up to 40, above that with four significant binary digits. A store may keep
/// it in a byte.
pub fn rounded_length(length: u32) -> u32 {
    const EXACT: u32 = 24;
    let Some(rest) = length.checked_sub(EXACT) else { return length };
    let dropped = (u32::BITS - rest.leading_zeros()).saturating_sub(4);
    EXACT + (rest >> dropped << dropped)
}

/// The part of BM25's denominator that depends on a chunk's length alone.
pub fn length_norm(length: u32, average: f32) -> f32 {
    K1 * (1.0 - B + B * length as f32 / average.max(1.0))
}

/// BM25's term frequency, which grows with `frequency` up to `K1 + 1`.
pub fn saturation(frequency: u32, length_norm: f32) -> f32 {
    let frequency = frequency as f32;
    frequency * (K1 + 1.0) / (frequency + length_norm)
}

/// Joins both kinds of fit; `best` is the highest lexical score of all chunks.
pub fn hybrid(lexical: f32, best: f32, cosine: f32) -> f32 {
    let lexical = if best > 0.0 { lexical / best } else { 0.0 };
    lexical + cosine
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_terms_weigh_more_and_common_ones_something() {
        assert!(inverse_document_frequency(1, 1000) > inverse_document_frequency(10, 1000));
        assert!(inverse_document_frequency(10, 1000) > inverse_document_frequency(1000, 1000));
        assert!(inverse_document_frequency(1000, 1000) > 0.0);
        // idf of 1 in 3: ln(1 + 2.5 / 1.5) = 0.98083
        assert!((inverse_document_frequency(1, 3) - 0.990_368_f32).abs() < 1e-5);
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

    #[test]
    fn a_term_counts_in_each_field_where_it_occurs() {
        let totals = CorpusStatistics { documents: 10, chunks: 100, length: 20_000 };
        let each = |body, title| Frequencies { body, title, lead: title, heading: body };
        let (rare, common) = (TermWeights::of(each(1, 1), &totals), TermWeights::of(each(90, 9), &totals));
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
    fn lengths_are_exact_up_to_forty_and_then_within_an_eighth() {
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
