//! Lexical scoring.

use super::Segment;
use super::allowed::Allowed;
use super::best::TopCandidates;
use crate::embedded_index::schema::Fields;
use docent_domain::explanation::FieldScores;
use docent_domain::ranking::{self, TermWeights};
use docent_domain::retrieval::QueryTerms;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, DocSet, InvertedIndexReader, Searcher, Term};

/// Saturation is precomputed for frequencies below this.
const COMMON_FREQUENCIES: usize = 16;
/// If a term occurs in this many times more chunks than are allowed, the allowed chunks are looked up one by one.
const SEEK_RATIO: usize = 4;
/// Number of scores that are compared together with the minimum score.
const BLOCK: usize = 128;

/// Maximum number of sets of arrays that are kept: as many as searches run at once by default.
const KEPT: usize = 8;

/// Arrays of earlier searches. Fresh memory of this size costs more than to clear it: each page is mapped twice, when it is
/// first read and when it is first written, which interrupts the other cores.
#[derive(Default)]
pub(in crate::embedded_index) struct ScorePool(Mutex<Vec<Vec<Vec<f32>>>>);

impl ScorePool {
    fn get(&self) -> MutexGuard<'_, Vec<Vec<Vec<f32>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The lexical scores of all chunks by segment. The scores of chunks that are not allowed are undefined.
pub(super) struct Scores<'a> {
    segments: Vec<Vec<f32>>,
    pool: &'a ScorePool,
}

impl Drop for Scores<'_> {
    fn drop(&mut self) {
        let mut kept = self.pool.get();
        if kept.len() < KEPT {
            kept.push(std::mem::take(&mut self.segments));
        }
    }
}

impl<'a> Scores<'a> {
    pub(super) fn of(
        pool: &'a ScorePool,
        searcher: &Searcher,
        segments: &[Segment<'_>],
        fields: &Fields,
        terms: &QueryTerms,
    ) -> tantivy::Result<Self> {
        let mut scores = Self::zero(pool, segments);
        scores.add_bodies(searcher, segments, fields.body, terms)?;
        scores.add_headings(searcher, segments, fields.heading_terms, terms)?;
        scores.add_fields(searcher, segments, fields, &document_fields(fields), terms)?;
        Ok(scores)
    }

    fn zero(pool: &'a ScorePool, segments: &[Segment<'_>]) -> Self {
        let mut scores = pool.get().pop().unwrap_or_default();
        scores.resize_with(segments.len(), Vec::new);
        for (scores, segment) in scores.iter_mut().zip(segments) {
            scores.clear();
            scores.resize(segment.reader.max_doc() as usize, 0.0);
        }
        Self { segments: scores, pool }
    }

    /// Adds scores for terms in these fields of documents, each with its weight.
    fn add_fields(
        &mut self,
        searcher: &Searcher,
        segments: &[Segment<'_>],
        fields: &Fields,
        weighted: &[WeightedField],
        terms: &QueryTerms,
    ) -> tantivy::Result<()> {
        let gains = document_gains(searcher, segments, fields, weighted, terms)?;
        for ((segment, scores), gains) in segments.iter().zip(&mut self.segments).zip(&gains) {
            add_gains(segment, scores, gains);
        }
        Ok(())
    }

    /// Returns the total lexical score of a chunk.
    pub(super) fn total(&self, segment: &Segment<'_>, doc: DocId) -> f32 {
        self.of_segment(segment).get(doc as usize).copied().unwrap_or(0.0)
    }

    fn of_segment(&self, segment: &Segment<'_>) -> &[f32] {
        self.segments.get(segment.number as usize).map_or(&[], Vec::as_slice)
    }

    /// Offers every chunk that may be among the best.
    pub(super) fn rank(&self, segments: &[Segment<'_>], best: &mut TopCandidates) {
        for segment in segments {
            let scores = self.of_segment(segment);
            let mut offer = |doc: DocId, score: f32| {
                if score > 0.0 && best.may_accept(score) && !segment.reader.is_deleted(doc) {
                    best.offer(segment.candidate(doc, segment.document(doc), score));
                }
                best.min_score()
            };
            let ranges = match &segment.allowed {
                Allowed::Listed(chunks) => {
                    for doc in chunks {
                        offer(*doc, self.total(segment, *doc));
                    }
                    continue;
                }
                Allowed::Ranges(ranges) => ranges,
            };
            let mut min_score = f32::NEG_INFINITY;
            for range in ranges {
                let scores = scores.get(range.clone()).unwrap_or_default();
                for (block, first) in scores.chunks(BLOCK).zip((range.start as DocId..).step_by(BLOCK)) {
                    // Comparing the block's highest score skips most blocks.
                    let highest = block.iter().fold(0.0, |a: f32, b| if *b > a { *b } else { a });
                    if highest > 0.0 && highest >= min_score {
                        for (doc, score) in (first..).zip(block) {
                            min_score = offer(doc, *score);
                        }
                    }
                }
            }
        }
    }

    fn add_bodies(
        &mut self,
        searcher: &Searcher,
        segments: &[Segment<'_>],
        field: Field,
        terms: &QueryTerms,
    ) -> tantivy::Result<()> {
        let (mut length, mut chunks) = (0, 0);
        for segment in segments {
            length += segment.reader.inverted_index(field)?.total_num_tokens();
            chunks += u64::from(segment.reader.max_doc());
        }
        let saturation = Saturation::new(length as f32 / chunks.max(1) as f32);
        for term in terms.iter() {
            let found = TermPostings::all(segments, &Term::from_field_text(field, &term.text))?;
            let gain = TermWeights::factors(term).body
                * ranking::inverse_document_frequency(count(&found)?, searcher.num_docs());
            for found in &found {
                let lengths = found.segment.reader.get_fieldnorms_reader(field)?;
                let Some(scores) = self.segments.get_mut(found.segment.number as usize) else { continue };
                found.each_searchable(|doc, frequency| {
                    if let Some(score) = scores.get_mut(doc as usize) {
                        *score += gain * saturation.of(frequency, lengths.fieldnorm_id(doc));
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Adds scores for terms in the headings above a chunk.
    fn add_headings(
        &mut self,
        searcher: &Searcher,
        segments: &[Segment<'_>],
        field: Field,
        terms: &QueryTerms,
    ) -> tantivy::Result<()> {
        for term in terms.iter() {
            let found = TermPostings::all(segments, &Term::from_field_text(field, &term.text))?;
            let gain = TermWeights::factors(term).heading
                * ranking::inverse_document_frequency(count(&found)?, searcher.num_docs());
            for found in &found {
                let Some(scores) = self.segments.get_mut(found.segment.number as usize) else { continue };
                found.each_searchable(|doc, _| {
                    if let Some(score) = scores.get_mut(doc as usize) {
                        *score += gain;
                    }
                })?;
            }
        }
        Ok(())
    }
}

/// A field of documents with its factor of a term.
type WeightedField = (Field, fn(TermWeights) -> f32);

/// The fields of documents: title and lead.
fn document_fields(fields: &Fields) -> [WeightedField; 2] {
    [(fields.title_terms, |factors| factors.title), (fields.lead_terms, |factors| factors.lead)]
}

/// The lexical scores of all chunks by field, for explanations.
pub(super) struct FieldSums<'a> {
    body: Scores<'a>,
    headings: Scores<'a>,
    title: Scores<'a>,
    lead: Scores<'a>,
}

impl<'a> FieldSums<'a> {
    pub(super) fn of(
        pool: &'a ScorePool,
        searcher: &Searcher,
        segments: &[Segment<'_>],
        fields: &Fields,
        terms: &QueryTerms,
    ) -> tantivy::Result<Self> {
        let [mut body, mut headings, mut title, mut lead] = [(); 4].map(|()| Scores::zero(pool, segments));
        body.add_bodies(searcher, segments, fields.body, terms)?;
        headings.add_headings(searcher, segments, fields.heading_terms, terms)?;
        let [of_title, of_lead] = document_fields(fields);
        title.add_fields(searcher, segments, fields, &[of_title], terms)?;
        lead.add_fields(searcher, segments, fields, &[of_lead], terms)?;
        Ok(Self { body, headings, title, lead })
    }

    pub(super) fn of_chunk(&self, segment: &Segment<'_>, doc: DocId) -> FieldScores {
        FieldScores {
            body: self.body.total(segment, doc),
            headings: self.headings.total(segment, doc),
            title: self.title.total(segment, doc),
            lead: self.lead.total(segment, doc),
            dense: None,
        }
    }
}

/// Returns the scores of these fields for each run of each segment. They are indexed with the first chunk of a document.
fn document_gains(
    searcher: &Searcher,
    segments: &[Segment<'_>],
    fields: &Fields,
    weighted: &[WeightedField],
    terms: &QueryTerms,
) -> tantivy::Result<Vec<Vec<f32>>> {
    let mut gains: Vec<Vec<f32>> = segments.iter().map(|segment| vec![0.0; segment.runs.all.len()]).collect();
    let total = super::alive_count(searcher, &fields.first_term())?;
    for (field, factor) in weighted.iter().copied() {
        for term in terms.iter() {
            let found = TermPostings::all(segments, &Term::from_field_text(field, &term.text))?;
            let gain = factor(TermWeights::factors(term))
                * ranking::inverse_document_frequency(count(&found)?, total);
            for found in &found {
                let segment = found.segment;
                let Some(gains) = gains.get_mut(segment.number as usize) else { continue };
                let mut at = 0;
                found.each(IndexRecordOption::Basic, |docs, _| {
                    for doc in docs.iter().filter(|doc| !segment.reader.is_deleted(**doc)) {
                        at = segment.runs.position(*doc, at);
                        if let Some(of_run) = gains.get_mut(at) {
                            *of_run += gain;
                        }
                    }
                })?;
            }
        }
    }
    copy_to_later_runs(segments, &mut gains);
    Ok(gains)
}

/// Gives the runs without the first chunk of their document the score of the run with it.
fn copy_to_later_runs(segments: &[Segment<'_>], gains: &mut [Vec<f32>]) {
    let mut documents: FxHashMap<u128, f32> = FxHashMap::default();
    for runs in segments.iter().map(|segment| &segment.runs) {
        documents.extend(runs.later.iter().filter_map(|at| runs.all.get(*at)).map(|run| (run.document, 0.0)));
    }
    if documents.is_empty() {
        return;
    }
    for (segment, gains) in segments.iter().zip(&*gains) {
        for (run, gain) in segment.runs.all.iter().zip(gains).filter(|(_, gain)| **gain > 0.0) {
            if let Some(known) = documents.get_mut(&run.document) {
                *known = *gain;
            }
        }
    }
    for (segment, gains) in segments.iter().zip(gains) {
        for at in &segment.runs.later {
            if let (Some(gain), Some(run)) = (gains.get_mut(*at), segment.runs.all.get(*at))
                && let Some(known) = documents.get(&run.document)
            {
                *gain = *known;
            }
        }
    }
}

/// Adds the scores of runs to those of their chunks.
fn add_gains(segment: &Segment<'_>, scores: &mut [f32], gains: &[f32]) {
    if let Allowed::Listed(chunks) = &segment.allowed {
        let mut at = 0;
        for doc in chunks {
            at = segment.runs.position(*doc, at);
            if let (Some(score), Some(gain)) = (scores.get_mut(*doc as usize), gains.get(at)) {
                *score += gain;
            }
        }
        return;
    }
    for (run, gain) in segment.runs.all.iter().zip(gains).filter(|(_, gain)| **gain > 0.0) {
        if let Some(scores) = scores.get_mut(run.chunks.clone()) {
            scores.iter_mut().for_each(|score| *score += gain);
        }
    }
}

/// Counts the chunks that have the term and are not deleted.
fn count(found: &[TermPostings<'_>]) -> tantivy::Result<u64> {
    let mut count = 0;
    for found in found {
        count += match found.segment.reader.alive_bitset() {
            None => u64::from(found.info.doc_freq),
            Some(alive) => {
                let mut count = 0;
                found.each(IndexRecordOption::Basic, |docs, _| {
                    count += docs.iter().filter(|doc| alive.is_alive(**doc)).count();
                })?;
                count as u64
            }
        };
    }
    Ok(count)
}

/// The postings of a term in a segment.
struct TermPostings<'a> {
    segment: &'a Segment<'a>,
    inverted: Arc<InvertedIndexReader>,
    info: TermInfo,
}

impl<'a> TermPostings<'a> {
    fn all(segments: &'a [Segment<'a>], term: &Term) -> tantivy::Result<Vec<Self>> {
        let mut found = Vec::with_capacity(segments.len());
        for segment in segments {
            let inverted = segment.reader.inverted_index(term.field())?;
            if let Some(info) = inverted.get_term_info(term)? {
                found.push(Self { segment, inverted, info });
            }
        }
        Ok(found)
    }

    /// Calls `visit` with blocks of all chunks that have the term, including deleted ones, and with the term frequencies
    /// if `option` includes them.
    fn each(
        &self,
        option: IndexRecordOption,
        mut visit: impl FnMut(&[DocId], &[u32]),
    ) -> tantivy::Result<()> {
        let mut postings = self.inverted.read_block_postings_from_terminfo(&self.info, option)?;
        while !postings.docs().is_empty() {
            visit(postings.docs(), postings.freqs());
            postings.advance();
        }
        Ok(())
    }

    /// Calls `visit` at least with the searchable chunks that have the term.
    fn each_searchable(&self, mut visit: impl FnMut(DocId, u32)) -> tantivy::Result<()> {
        let option = IndexRecordOption::WithFreqs;
        match &self.segment.allowed {
            Allowed::Listed(chunks) if chunks.len() * SEEK_RATIO < self.info.doc_freq as usize => {
                let mut postings = self.inverted.read_postings_from_terminfo(&self.info, option)?;
                for doc in chunks {
                    if postings.doc() <= *doc && postings.seek(*doc) == *doc {
                        visit(*doc, postings.term_freq());
                    }
                }
                Ok(())
            }
            _ => self.each(option, |docs, frequencies| {
                for (doc, frequency) in docs.iter().zip(frequencies) {
                    visit(*doc, *frequency);
                }
            }),
        }
    }
}

/// Term-frequency saturation for each field-norm ID, which encodes the chunk length.
struct Saturation {
    norms: Vec<f32>,
    common: Vec<[f32; COMMON_FREQUENCIES]>,
}

impl Saturation {
    fn new(average_length: f32) -> Self {
        let norm = |id| ranking::length_norm(FieldNormReader::id_to_fieldnorm(id), average_length);
        let norms: Vec<f32> = (0..=u8::MAX).map(norm).collect();
        let of_norm = |norm: &f32| std::array::from_fn(|n| ranking::saturation(n as u32, *norm));
        let common = norms.iter().map(of_norm).collect();
        Self { norms, common }
    }

    fn of(&self, frequency: u32, length: u8) -> f32 {
        let length = usize::from(length);
        match self.common.get(length).and_then(|common| common.get(frequency as usize)) {
            Some(saturation) => *saturation,
            None => ranking::saturation(frequency, self.norms.get(length).copied().unwrap_or(1.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_lengths_match_the_rounding_of_the_ranking() {
        for length in (0..5_000).chain([100_000, 1 << 20]) {
            let stored = FieldNormReader::id_to_fieldnorm(FieldNormReader::fieldnorm_to_id(length));
            assert_eq!(stored, ranking::rounded_length(length));
        }
    }

    #[test]
    fn saturation_matches_the_ranking() {
        let saturation = Saturation::new(250.0);
        for (length, frequency) in [(0, 1), (12, 15), (12, 16), (200, 3), (255, 1_000_000)] {
            let norm = ranking::length_norm(FieldNormReader::id_to_fieldnorm(length), 250.0);
            assert_eq!(saturation.of(frequency, length), ranking::saturation(frequency, norm));
        }
    }
}
