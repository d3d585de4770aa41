//! Selects the best candidates.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// A scored chunk. Better candidates compare greater; equal scores are ordered by document ID and ordinal, so that the
/// order does not depend on the state of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: f32,
    pub(super) document: u128,
    pub(super) ordinal: u32,
    pub(super) segment: u32,
    pub(super) doc: u32,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        let tie_break = (other.document, other.ordinal).cmp(&(self.document, self.ordinal));
        self.score.total_cmp(&other.score).then(tie_break)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Candidate {}

/// Keeps at most `limit` candidates, the best ones.
pub(super) struct TopCandidates {
    heap: BinaryHeap<Reverse<Candidate>>,
    limit: usize,
}

impl TopCandidates {
    pub(super) fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(limit), limit }
    }

    pub(super) fn is_full(&self) -> bool {
        self.heap.len() >= self.limit
    }

    /// Whether a candidate with this score may be kept.
    pub(super) fn may_accept(&self, score: f32) -> bool {
        self.limit > 0 && score >= self.min_score()
    }

    /// The minimum score of candidates that may be kept.
    pub(super) fn min_score(&self) -> f32 {
        let worst = self.heap.peek().filter(|_| self.is_full());
        worst.map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.score)
    }

    pub(super) fn offer(&mut self, candidate: Candidate) {
        if !self.is_full() {
            self.heap.push(Reverse(candidate));
        } else if let Some(mut worst) = self.heap.peek_mut()
            && candidate > worst.0
        {
            *worst = Reverse(candidate);
        }
    }

    /// Returns the candidates, best first.
    pub(super) fn into_sorted(self) -> Vec<Candidate> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse(candidate)| candidate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_candidates_are_kept_with_ties_by_document_and_ordinal() {
        let mut best = TopCandidates::new(3);
        for (score, document, ordinal) in [(1.0, 9, 0), (2.0, 5, 1), (2.0, 4, 7), (0.5, 1, 0), (2.0, 5, 0)] {
            best.offer(Candidate { score, document, ordinal, segment: 0, doc: 0 });
        }
        assert!(best.may_accept(2.0) && !best.may_accept(1.9));
        let order: Vec<_> = best.into_sorted().iter().map(|found| (found.document, found.ordinal)).collect();
        assert_eq!(order, [(4, 7), (5, 0), (5, 1)]);
    }

    #[test]
    fn limit_of_zero_accepts_no_candidate() {
        let mut best = TopCandidates::new(0);
        best.offer(Candidate { score: 1.0, document: 1, ordinal: 0, segment: 0, doc: 0 });
        assert!(!best.may_accept(9.0) && best.into_sorted().is_empty());
    }
}
