//! Explanations: how much each field contributes to a score, and how the built-in answerer rates what was found.

use crate::ranking::{Occurrence, TermWeights, saturation};

/// The score of a chunk by field. The sum of the first four is its lexical score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FieldScores {
    /// Terms in the chunk's text.
    pub body: f32,
    /// Terms in the chunk's headings.
    pub headings: f32,
    /// Terms in the document's title.
    pub title: f32,
    /// Terms in the document's lead.
    pub lead: f32,
    /// Cosine similarity of the dense vectors; `None` if query or chunk have none.
    pub dense: Option<f32>,
}

impl FieldScores {
    /// Computes the lexical scores from what [`lexical`](crate::ranking::lexical) sums.
    pub fn lexical(terms: &[(TermWeights, Occurrence)], length_norm: f32) -> Self {
        let mut scores = Self::default();
        for (weights, found) in terms {
            if found.body > 0 {
                scores.body += weights.body * saturation(found.body, length_norm);
            }
            let weight = |is_found: bool, weight: f32| if is_found { weight } else { 0.0 };
            scores.headings += weight(found.heading, weights.heading);
            scores.title += weight(found.title, weights.title);
            scores.lead += weight(found.lead, weights.lead);
        }
        scores
    }

    /// The lexical score.
    pub fn lexical_sum(&self) -> f32 {
        self.body + self.headings + self.title + self.lead
    }
}

/// A named number from 0 to 1 that units are described by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    /// Its name.
    pub name: &'static str,
    /// Its weight in the sum that the probability of a unit depends on.
    pub weight: f32,
}

/// How the built-in answerer rates the units of found passages.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitRatings {
    /// The features.
    pub features: Vec<Feature>,
    /// What is added to their weighted sum.
    pub constant: f32,
    /// From this probability on, a unit is an answer.
    pub answer: f32,
    /// From this probability on, a unit is shown.
    pub decline: f32,
    /// The units, the most probable first.
    pub units: Vec<RatedUnit>,
}

/// A unit: a part of a passage that can be shown alone, such as a list with its introduction.
#[derive(Clone, Debug, PartialEq)]
pub struct RatedUnit {
    /// The rank of its passage, counted from 0.
    pub rank: usize,
    /// Its page, counted from 1.
    pub page: u32,
    /// Its text.
    pub text: String,
    /// The values of the features, in their order.
    pub values: Vec<f32>,
    /// The probability that it answers the question.
    pub probability: f32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::{CorpusStatistics, Frequencies, length_norm, lexical};
    use crate::retrieval::QueryTerm;

    #[test]
    fn field_scores_add_up_to_the_lexical_score() {
        let corpus = CorpusStatistics { documents: 10, chunks: 100, length: 20_000 };
        let word = QueryTerm::word("pump");
        let rare = TermWeights::of(&word, Frequencies { body: 1, title: 1, lead: 2, heading: 3 }, &corpus);
        let common =
            TermWeights::of(&word, Frequencies { body: 90, title: 9, lead: 9, heading: 50 }, &corpus);
        let terms = [
            (rare, Occurrence { body: 2, title: true, lead: false, heading: true }),
            (common, Occurrence { body: 0, title: false, lead: true, heading: false }),
        ];
        let norm = length_norm(150, corpus.average_length());
        let scores = FieldScores::lexical(&terms, norm);
        assert!((scores.lexical_sum() - lexical(&terms, norm)).abs() < 1e-5);
        assert_eq!((scores.title, scores.lead, scores.headings), (rare.title, common.lead, rare.heading));
        assert_eq!(scores.body, rare.body * saturation(2, norm));
    }
}
