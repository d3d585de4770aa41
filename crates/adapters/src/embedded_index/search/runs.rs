//! Groups a segment's chunks by document; chunks of a document are mostly consecutive.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::Searcher;
use tantivy::columnar::ColumnValues;
use tantivy::index::SegmentId;

/// Consecutive chunks of one document in a segment, including deleted ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) document: u128,
    pub(super) chunks: Range<usize>,
}

/// Caches the runs of segments, which are immutable.
#[derive(Default)]
pub(in crate::embedded_index) struct RunCache(Mutex<HashMap<SegmentId, Arc<[Run]>>>);

impl RunCache {
    /// Returns the runs of a segment of `searcher`; `high` and `low` are the halves of the document IDs.
    pub(super) fn of(
        &self,
        searcher: &Searcher,
        segment: SegmentId,
        chunks: u32,
        high: &dyn ColumnValues<u64>,
        low: &dyn ColumnValues<u64>,
    ) -> Arc<[Run]> {
        if let Some(runs) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&segment) {
            return Arc::clone(runs);
        }
        let documents =
            (0..chunks).map(|doc| u128::from(high.get_val(doc)) << 64 | u128::from(low.get_val(doc)));
        let read = runs(documents);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let current: HashSet<SegmentId> =
            searcher.segment_readers().iter().map(|reader| reader.segment_id()).collect();
        known.retain(|segment, _| current.contains(segment));
        known.insert(segment, Arc::clone(&read));
        read
    }
}

fn runs(documents: impl Iterator<Item = u128>) -> Arc<[Run]> {
    let mut runs: Vec<Run> = Vec::new();
    for (at, document) in documents.enumerate() {
        match runs.last_mut() {
            Some(run) if run.document == document => run.chunks.end = at + 1,
            _ => runs.push(Run { document, chunks: at..at + 1 }),
        }
    }
    runs.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_all_chunks() {
        let run = |document, chunks| Run { document, chunks };
        assert_eq!(*runs([7, 7, 3, 7].into_iter()), [run(7, 0..2), run(3, 2..3), run(7, 3..4)]);
        assert!(runs([].into_iter()).is_empty());
    }
}
