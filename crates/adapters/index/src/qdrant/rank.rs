//! The final ranking of candidates.

use super::terms::WeightedTerms;
use docent_domain::explanation::FieldScores;
use docent_domain::id::{ChunkId, VersionId};
use docent_domain::ranking::{Fusion, length_norm, lexical, rounded_length};
use qdrant_client::qdrant::SparseVector;
use std::collections::HashMap;

/// A chunk to be ranked.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) id: ChunkId,
    pub(super) version: VersionId,
    pub(super) ordinal: u32,
    /// Number of terms in its text, including repetitions.
    pub(super) length: u32,
    pub(super) terms: SparseVector,
    pub(super) dense: Option<Vec<f32>>,
}

/// Ranks candidates by score, and by document and ordinal among equal scores. Returns the best with their scores.
pub(super) fn best(
    candidates: Vec<Candidate>,
    query: Option<&WeightedTerms>,
    dense: Option<&[f32]>,
    limit: usize,
) -> Vec<(ChunkId, f32)> {
    let lexical_of = |candidate: &Candidate| {
        let Some(query) = query else { return 0.0 };
        let norm = length_norm(rounded_length(candidate.length), query.totals.average_length());
        lexical(&query.occurrences(&candidate.terms), norm)
    };
    let mut scored: Vec<(f32, Candidate)> =
        candidates.into_iter().map(|candidate| (lexical_of(&candidate), candidate)).collect();
    if let Some(dense) = dense {
        let highest = scored.iter().map(|(score, _)| *score).fold(0.0, f32::max);
        let cosine =
            |candidate: &Candidate| candidate.dense.as_deref().map_or(0.0, |vector| product(vector, dense));
        let fusion = Fusion::new(highest, scored.iter().map(|(_, candidate)| cosine(candidate)));
        scored.retain_mut(|(score, candidate)| {
            let cosine = cosine(candidate);
            let fits = *score > 0.0 || cosine > 0.0;
            *score = fusion.score(*score, cosine);
            fits
        });
    } else {
        scored.retain(|(score, _)| *score > 0.0);
    }
    scored.sort_by(|(a, one), (b, other)| {
        let key = |candidate: &Candidate| (candidate.version, candidate.ordinal);
        b.total_cmp(a).then_with(|| key(one).cmp(&key(other)))
    });
    scored.truncate(limit);
    scored.into_iter().map(|(score, candidate)| (candidate.id, score)).collect()
}

/// The scores by field of each candidate.
pub(super) fn by_field(
    candidates: &[Candidate],
    query: Option<&WeightedTerms>,
    dense: Option<&[f32]>,
) -> HashMap<ChunkId, FieldScores> {
    let scores_of = |candidate: &Candidate| {
        let scores = query.map(|query| {
            let norm = length_norm(rounded_length(candidate.length), query.totals.average_length());
            FieldScores::lexical(&query.occurrences(&candidate.terms), norm)
        });
        let cosine = dense.zip(candidate.dense.as_deref()).map(|(query, vector)| product(vector, query));
        (candidate.id, FieldScores { dense: cosine, ..scores.unwrap_or_default() })
    };
    candidates.iter().map(scores_of).collect()
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::super::terms::QueryTerms;
    use super::*;
    use docent_domain::ranking::CorpusStatistics;
    use docent_domain::retrieval::SparseVector as Fields;
    use docent_ports::term_statistics::TermStatistics;

    use docent_testkit::retrieval::{query_terms, terms, version_id};

    fn candidate(document: u32, ordinal: u32, text: &str, dense: Option<[f32; 2]>) -> Candidate {
        let fields = Fields { body: terms(text), ..Fields::default() };
        Candidate {
            id: ChunkId::of(version_id(document), ordinal),
            version: version_id(document),
            ordinal,
            length: fields.body.total() as u32,
            terms: super::super::terms::vector(&fields),
            dense: dense.map(Vec::from),
        }
    }

    fn pump() -> WeightedTerms {
        let totals = CorpusStatistics { documents: 2, chunks: 4, length: 8 };
        QueryTerms::new(&query_terms("pump"))
            .weighted(&TermStatistics { totals, ..TermStatistics::default() })
    }

    fn order(found: &[(ChunkId, f32)]) -> Vec<ChunkId> {
        found.iter().map(|(chunk, _)| *chunk).collect()
    }

    /// The IDs of chunks by document and ordinal.
    fn ids<const N: usize>(chunks: [(u32, u32); N]) -> [ChunkId; N] {
        chunks.map(|(document, ordinal)| ChunkId::of(version_id(document), ordinal))
    }

    #[test]
    fn equal_scores_are_sorted_by_document_and_ordinal_and_non_matches_are_left_out() {
        let candidates = vec![
            candidate(2, 0, "pump b0", None),
            candidate(1, 10, "pump a10", None),
            candidate(1, 9, "pump a9", None),
            candidate(2, 2, "valve", None),
            candidate(2, 1, "pump pump", None),
        ];
        let found = best(candidates.clone(), Some(&pump()), None, 9);
        assert_eq!(order(&found), ids([(2, 1), (1, 9), (1, 10), (2, 0)]));
        assert!(found.iter().map(|(_, score)| score).is_sorted_by(|a, b| a >= b));
        assert_eq!(best(candidates, Some(&pump()), None, 2), found[..2]);
    }

    #[test]
    fn shorter_chunk_ranks_first() {
        let candidates =
            vec![candidate(1, 0, "pump and a good many other words", None), candidate(1, 1, "pump", None)];
        assert_eq!(order(&best(candidates, Some(&pump()), None, 1)), ids([(1, 1)]));
    }

    #[test]
    fn lexical_and_dense_scores_are_combined() {
        let candidates = vec![
            candidate(1, 0, "pump", Some([0.0, 1.0])),
            candidate(1, 1, "valve", Some([1.0, 0.0])),
            candidate(1, 2, "lathe", Some([0.0, 1.0])),
            candidate(1, 3, "pump pump", Some([0.6, 0.8])),
        ];
        let found = best(candidates.clone(), Some(&pump()), Some(&[1.0, 0.0]), 9);
        assert_eq!(order(&found), ids([(1, 3), (1, 0), (1, 1)]));
        assert_eq!(order(&best(candidates, None, Some(&[1.0, 0.0]), 9)), ids([(1, 1), (1, 3)]));
    }
}
