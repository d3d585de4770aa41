//! Dense and hybrid ranking.

use super::best::TopCandidates;
use super::lexical::Scores;
use super::{Segment, vector_keys};
use crate::embedded_index::vectors::Vectors;
use docent_domain::ranking::Fusion;

/// Compares the query with the vector of every allowed chunk and offers every one with a positive score.
pub(super) fn rank(
    segments: &[Segment<'_>],
    lexical: Option<&Scores<'_>>,
    query: &[f32],
    vectors: &Vectors,
    best: &mut TopCandidates,
) -> tantivy::Result<()> {
    let score = |segment: &Segment<'_>, doc| lexical.map_or(0.0, |lexical| lexical.total(segment, doc));
    let highest =
        |segment: &Segment<'_>| segment.searchable().map(|doc| score(segment, doc)).fold(0.0, f32::max);
    let highest = segments.iter().map(highest).fold(0.0, f32::max);
    let mut cosines = Vec::with_capacity(segments.len());
    for segment in segments {
        let keys = vector_keys(segment.reader)?;
        let mut hint = 0;
        let cosine = |doc| {
            let key = keys.as_ref().and_then(|keys| keys.first(doc));
            // The vector is missing if its chunk was removed during this search.
            key.and_then(|key| vectors.find(key, hint)).map_or(0.0, |row| {
                hint = row + 1;
                vectors.dot(row, query)
            })
        };
        cosines.push(segment.searchable().map(cosine).collect::<Vec<f32>>());
    }
    let fusion = Fusion::new(highest, cosines.iter().flatten().copied());
    for (segment, cosines) in segments.iter().zip(cosines) {
        for (doc, cosine) in segment.searchable().zip(cosines) {
            let lexical = score(segment, doc);
            if lexical > 0.0 || cosine > 0.0 {
                let score = fusion.score(lexical, cosine);
                if best.may_accept(score) {
                    best.offer(segment.candidate(doc, segment.document(doc), score));
                }
            }
        }
    }
    Ok(())
}
