//! Groups a segment's chunks by document; chunks of a document are mostly consecutive.

use crate::embedded_index::schema::Fields;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::columnar::ColumnValues;
use tantivy::index::SegmentId;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, Searcher, SegmentReader, Term};

/// Number of following runs that are looked at before a binary search.
const NEAR: usize = 4;

/// Consecutive chunks of one document in a segment, including deleted ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) document: u128,
    pub(super) chunks: Range<usize>,
}

/// The runs of a segment, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) all: Vec<Run>,
    /// The positions of runs without the first chunk of their document; few.
    pub(super) later: Vec<usize>,
}

impl Runs {
    /// Groups chunks by document; `firsts` are the first chunks of documents, ascending.
    fn new(documents: impl Iterator<Item = u128>, firsts: &[DocId]) -> Self {
        let mut all: Vec<Run> = Vec::new();
        for (at, document) in documents.enumerate() {
            match all.last_mut() {
                Some(run) if run.document == document => run.chunks.end = at + 1,
                _ => all.push(Run { document, chunks: at..at + 1 }),
            }
        }
        let mut firsts = firsts.iter().map(|first| *first as usize).peekable();
        let mut has_first = |run: &Run| {
            let mut found = false;
            while firsts.next_if(|first| *first < run.chunks.end).is_some() {
                found = true;
            }
            found
        };
        let later = all.iter().enumerate().filter(|(_, run)| !has_first(run)).map(|(at, _)| at).collect();
        Self { all, later }
    }

    /// Returns the position of the run with a chunk, which is not before `from`.
    pub(super) fn position(&self, chunk: DocId, from: usize) -> usize {
        let ends_before = |run: &Run| run.chunks.end <= chunk as usize;
        let rest = self.all.get(from..).unwrap_or_default();
        let near = rest.iter().take(NEAR).take_while(|run| ends_before(run)).count();
        let far =
            rest.get(near..).filter(|_| near == NEAR).map_or(0, |rest| rest.partition_point(ends_before));
        from + near + far
    }
}

/// Caches the runs of segments, which are immutable.
#[derive(Default)]
pub(in crate::embedded_index) struct RunCache(Mutex<HashMap<SegmentId, Arc<Runs>>>);

impl RunCache {
    /// Returns the runs of a segment of `searcher`; `high` and `low` are the halves of the document IDs.
    pub(super) fn of(
        &self,
        searcher: &Searcher,
        reader: &SegmentReader,
        fields: &Fields,
        high: &dyn ColumnValues<u64>,
        low: &dyn ColumnValues<u64>,
    ) -> tantivy::Result<Arc<Runs>> {
        let segment = reader.segment_id();
        if let Some(runs) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&segment) {
            return Ok(Arc::clone(runs));
        }
        let documents = (0..reader.max_doc())
            .map(|doc| u128::from(high.get_val(doc)) << 64 | u128::from(low.get_val(doc)));
        let read = Arc::new(Runs::new(documents, &chunks_with(reader, &fields.first_term())?));
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let current: HashSet<SegmentId> =
            searcher.segment_readers().iter().map(|reader| reader.segment_id()).collect();
        known.retain(|segment, _| current.contains(segment));
        known.insert(segment, Arc::clone(&read));
        Ok(read)
    }
}

/// Returns the chunks that have a term, including deleted ones, ascending.
fn chunks_with(reader: &SegmentReader, term: &Term) -> tantivy::Result<Vec<DocId>> {
    let inverted = reader.inverted_index(term.field())?;
    let mut chunks = Vec::new();
    if let Some(mut postings) = inverted.read_block_postings(term, IndexRecordOption::Basic)? {
        while !postings.docs().is_empty() {
            chunks.extend_from_slice(postings.docs());
            postings.advance();
        }
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_all_chunks() {
        let run = |document, chunks| Run { document, chunks };
        let runs = Runs::new([7, 7, 3, 7, 9, 9].into_iter(), &[0, 2, 4, 5]);
        assert_eq!(runs.all, [run(7, 0..2), run(3, 2..3), run(7, 3..4), run(9, 4..6)]);
        assert_eq!(runs.later, [2]);
        assert_eq!(Runs::new([].into_iter(), &[]), Runs { all: Vec::new(), later: Vec::new() });
    }

    #[test]
    fn runs_are_found_by_chunk() {
        let documents = (0..40).flat_map(|document| [document; 3]);
        let runs = Runs::new(documents, &[]);
        for (from, chunk) in [(0, 0), (0, 2), (0, 3), (0, 119), (1, 5), (3, 20), (3, 64), (39, 118)] {
            assert_eq!(runs.position(chunk, from), chunk as usize / 3);
        }
    }
}
