//! The chunks that a search may return.

use super::runs::Run;
use crate::embedded_index::labels::Selection;
use std::ops::Range;
use tantivy::{DocId, SegmentReader};

/// Chunks are listed if they are fewer than one in this many.
const LIST_RATIO: usize = 16;

/// The chunks of a segment that a search may return.
pub(super) enum Allowed {
    /// In order, without deleted ones.
    Listed(Vec<DocId>),
    /// In order and apart, with deleted ones.
    Ranges(Vec<Range<usize>>),
}

impl Allowed {
    /// All chunks.
    pub(super) fn all(reader: &SegmentReader) -> Self {
        let all = 0..reader.max_doc() as usize;
        Self::Ranges(vec![all])
    }

    /// The chunks of the selected documents.
    pub(super) fn selected(reader: &SegmentReader, runs: &[Run], selection: &Selection<'_>) -> Self {
        let selected = runs.iter().filter(|run| selection.allows(run.document));
        let ranges = joined(selected.map(|run| run.chunks.clone()));
        let chunks: usize = ranges.iter().map(Range::len).sum();
        if chunks * LIST_RATIO < reader.max_doc() as usize {
            Self::Listed(alive(reader, &ranges).collect())
        } else {
            Self::Ranges(ranges)
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Listed(chunks) => chunks.is_empty(),
            Self::Ranges(ranges) => ranges.is_empty(),
        }
    }

    /// Returns the chunks that are not deleted.
    pub(super) fn alive<'a>(&'a self, reader: &'a SegmentReader) -> Box<dyn Iterator<Item = DocId> + 'a> {
        match self {
            Self::Listed(chunks) => Box::new(chunks.iter().copied()),
            Self::Ranges(ranges) => match &ranges[..] {
                [all] if all.len() == reader.max_doc() as usize => reader.doc_ids_alive(),
                ranges => Box::new(alive(reader, ranges)),
            },
        }
    }
}

fn alive<'a>(reader: &'a SegmentReader, ranges: &'a [Range<usize>]) -> impl Iterator<Item = DocId> + 'a {
    let chunks = ranges.iter().flat_map(|range| range.start as DocId..range.end as DocId);
    chunks.filter(|chunk| !reader.is_deleted(*chunk))
}

/// Joins adjacent ranges.
fn joined(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_ranges_are_joined() {
        assert_eq!(joined([0..2, 2..5, 6..7, 7..9].into_iter()), [0..5, 6..9]);
        assert!(joined([].into_iter()).is_empty());
    }
}
