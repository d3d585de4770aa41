//! The lexical side.

use super::{Segment, alive_count, best::Best, each_alive};
use crate::embedded_index::schema::Fields;
use docent_domain::{
    id::DocumentId,
    ranking::{self, LEAD_WEIGHT, TITLE_WEIGHT},
    retrieval::TermCounts,
};
use std::collections::HashMap;
use tantivy::{
    DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term,
    fieldnorm::FieldNormReader,
    postings::Postings,
    schema::{Field, IndexRecordOption},
};
use uuid::Uuid;

/// What a query's terms are worth in every chunk and document.
pub(super) struct Scores {
    /// For each segment, what the text of each of its chunks adds.
    bodies: Vec<Vec<f32>>,
    /// What title and lead add, for each document where they add something.
    documents: HashMap<u128, f32>,
    /// The most that title and lead add to any document.
    most: f32,
}

impl Scores {
    pub(super) fn of(
        searcher: &Searcher,
        segments: &[Segment<'_>],
        fields: &Fields,
        terms: &TermCounts,
    ) -> tantivy::Result<Self> {
        let bodies = bodies(searcher, fields.body, terms)?;
        let mut documents = HashMap::new();
        let total = alive_count(searcher, &fields.first_term())?;
        for (field, weight) in [(fields.title_terms, TITLE_WEIGHT), (fields.lead_terms, LEAD_WEIGHT)] {
            for (term, _) in terms.iter() {
                let term = Term::from_field_text(field, term);
                let gain = weight * ranking::rarity(alive_count(searcher, &term)?, total);
                for segment in segments {
                    each_alive(segment.reader, &term, |doc| {
                        *documents.entry(segment.document(doc)).or_insert(0.0) += gain;
                    })?;
                }
            }
        }
        let most = documents.values().copied().fold(0.0, f32::max);
        Ok(Self { bodies, documents, most })
    }

    /// The whole lexical score of a chunk.
    pub(super) fn total(&self, segment: &Segment<'_>, doc: DocId) -> f32 {
        let document =
            if self.documents.is_empty() { None } else { self.documents.get(&segment.document(doc)) };
        self.body(segment, doc) + document.unwrap_or(&0.0)
    }

    fn body(&self, segment: &Segment<'_>, doc: DocId) -> f32 {
        let scores = self.bodies.get(segment.number as usize);
        scores.and_then(|scores| scores.get(doc as usize)).copied().unwrap_or(0.0)
    }

    /// Offers every chunk that can be among the best.
    pub(super) fn rank(
        &self,
        segments: &[Segment<'_>],
        fields: &Fields,
        best: &mut Best,
    ) -> tantivy::Result<()> {
        for segment in segments {
            let scores = self.bodies.get(segment.number as usize).map_or(&[][..], Vec::as_slice);
            for (doc, body) in (0..).zip(scores.iter().copied()) {
                if body > 0.0 && best.may_take(body + self.most) && segment.may_find(doc) {
                    let document = segment.document(doc);
                    let score = body + self.documents.get(&document).unwrap_or(&0.0);
                    best.offer(segment.candidate(doc, document, score));
                }
            }
        }
        self.rank_by_document_alone(segments, fields, best)
    }

    /// Chunks whose text has no term of the query, of documents whose title or lead has one.
    fn rank_by_document_alone(
        &self,
        segments: &[Segment<'_>],
        fields: &Fields,
        best: &mut Best,
    ) -> tantivy::Result<()> {
        let mut documents: Vec<(u128, f32)> =
            self.documents.iter().map(|(id, score)| (*id, *score)).collect();
        documents.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        for (document, score) in documents {
            if !best.may_take(score) {
                break;
            }
            let term = fields.document_term(DocumentId::from_uuid(Uuid::from_u128(document)));
            for segment in segments {
                each_alive(segment.reader, &term, |doc| {
                    if segment.may_find(doc) && self.body(segment, doc) == 0.0 {
                        best.offer(segment.candidate(doc, document, score));
                    }
                })?;
            }
        }
        Ok(())
    }
}

fn bodies(searcher: &Searcher, field: Field, terms: &TermCounts) -> tantivy::Result<Vec<Vec<f32>>> {
    let readers = searcher.segment_readers();
    let mut length = 0;
    let mut chunks = 0;
    for reader in readers {
        length += reader.inverted_index(field)?.total_num_tokens();
        chunks += u64::from(reader.max_doc());
    }
    let average = length as f32 / chunks.max(1) as f32;
    let norms: Vec<f32> =
        (0..=u8::MAX).map(|id| ranking::length_norm(FieldNormReader::id_to_fieldnorm(id), average)).collect();
    let mut scores: Vec<Vec<f32>> =
        readers.iter().map(|reader| vec![0.0; reader.max_doc() as usize]).collect();
    for (term, _) in terms.iter() {
        let term = Term::from_field_text(field, term);
        let rarity = ranking::rarity(alive_count(searcher, &term)?, searcher.num_docs());
        for (reader, scores) in readers.iter().zip(&mut scores) {
            add_postings(reader, &term, rarity, &norms, scores)?;
        }
    }
    Ok(scores)
}

/// Adds a term's worth to the score of every chunk that has it.
fn add_postings(
    reader: &SegmentReader,
    term: &Term,
    rarity: f32,
    norms: &[f32],
    scores: &mut [f32],
) -> tantivy::Result<()> {
    let inverted = reader.inverted_index(term.field())?;
    let Some(mut postings) = inverted.read_postings(term, IndexRecordOption::WithFreqs)? else {
        return Ok(());
    };
    let lengths = reader.get_fieldnorms_reader(term.field())?;
    while postings.doc() != TERMINATED {
        let doc = postings.doc();
        let norm = norms.get(usize::from(lengths.fieldnorm_id(doc))).copied().unwrap_or(1.0);
        if let Some(score) = scores.get_mut(doc as usize) {
            *score += rarity * ranking::saturation(postings.term_freq(), norm);
        }
        postings.advance();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_remembered_as_the_ranking_rounds_them() {
        for length in (0..5_000).chain([100_000, 1 << 20]) {
            let kept = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
            assert_eq!(kept, ranking::rounded_length(length));
        }
    }
}
