//! How much of a text the model takes: found by trying, and remembered for later texts.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Most calls for one text.
const MAX_CALLS: u32 = 12;
/// Most calls that lengthen what was accepted.
const MAX_REFINEMENTS: u32 = 3;
/// A text of this many bytes is short for every model.
const MIN_BYTES: usize = 64;
/// Share of the length that a refusal names which is tried: tokens are spread unevenly over a text.
const MARGIN: f64 = 0.95;
/// Most calls whose length follows from the refusal of the call before.
const MAX_HINTS: u32 = 3;
/// Texts that were shortened before later ones are cut to the length that was accepted.
const LEARNT_AFTER: usize = 3;

/// Searches for the longest beginning of a text that is accepted.
#[derive(Debug)]
pub(super) struct Shortening {
    /// The longest length that was accepted, in bytes.
    accepted: usize,
    /// The shortest length that was refused.
    refused: usize,
    /// A length to try first: the refusal names it, or it was accepted of other texts.
    hint: Option<usize>,
    tried: usize,
    calls: u32,
    refinements: u32,
}

impl Shortening {
    /// A text of this length was refused; `share` of it is what the refusal says to be accepted, and `known`
    /// is the length that was accepted of other texts.
    pub(super) fn new(bytes: usize, share: Option<f64>, known: Option<usize>) -> Self {
        let mut search =
            Self { accepted: 0, refused: bytes, hint: None, tried: bytes, calls: 0, refinements: 0 };
        search.limit_to(share);
        search.hint = search.hint.or(known.filter(|known| *known < bytes));
        search
    }

    /// The next length to try, in bytes; none if what was accepted is good enough, or if not even a short
    /// text is.
    pub(super) fn next_length(&mut self) -> Option<usize> {
        let bytes = if self.accepted == 0 {
            self.hint.take().unwrap_or(self.refused / 2)
        } else if (self.refused - self.accepted) * 8 <= self.refused || self.refinements == MAX_REFINEMENTS {
            return None;
        } else {
            self.refinements += 1;
            self.accepted.midpoint(self.refused)
        };
        if bytes < MIN_BYTES || self.calls == MAX_CALLS {
            return None;
        }
        self.calls += 1;
        self.tried = bytes;
        Some(bytes)
    }

    /// The length that was tried was accepted.
    pub(super) fn accept(&mut self) {
        self.accepted = self.tried;
    }

    /// The length that was tried was refused, with `share` as in [`new`](Self::new).
    pub(super) fn refuse(&mut self, share: Option<f64>) {
        self.refused = self.tried;
        self.limit_to(share);
    }

    fn limit_to(&mut self, share: Option<f64>) {
        if let Some(share) = share.filter(|_| self.calls < MAX_HINTS) {
            let limit = (self.refused as f64 * share) as usize;
            self.hint = Some((limit as f64 * MARGIN) as usize).filter(|hint| *hint > self.accepted);
            self.refused = limit.max(self.accepted);
        }
    }
}

/// The length of texts that is accepted, as far as it was learnt from refusals.
#[derive(Debug, Default)]
pub(super) struct LengthLimit {
    longest: AtomicUsize,
    shortened: AtomicUsize,
}

impl LengthLimit {
    /// Records that a text of this many bytes was accepted.
    pub(super) fn accept(&self, bytes: usize) {
        self.longest.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Records that a text was shortened to this many bytes. Returns whether the limit is known since then.
    pub(super) fn shorten(&self, bytes: usize) -> bool {
        self.accept(bytes);
        self.shortened.fetch_add(1, Ordering::Relaxed) + 1 == LEARNT_AFTER
    }

    /// Number of texts that were shortened.
    pub(super) fn shortened(&self) -> usize {
        self.shortened.load(Ordering::Relaxed)
    }

    /// The longest length that was accepted, once texts were shortened.
    pub(super) fn longest(&self) -> Option<usize> {
        Some(self.longest.load(Ordering::Relaxed)).filter(|_| self.shortened() > 0)
    }

    /// The length to cut texts to, in bytes. A text of many tokens alone does not shorten all others: the
    /// limit is known after some refusals, and is that of the text with the fewest tokens per byte.
    pub(super) fn limit(&self) -> Option<usize> {
        self.longest().filter(|_| self.shortened() >= LEARNT_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortens a text of `bytes` for a model that takes `limit`. Returns the accepted length and the number
    /// of calls.
    fn shorten(bytes: usize, limit: usize, names_share: bool, known: Option<usize>) -> (usize, u32) {
        let share = |bytes: usize| names_share.then(|| limit as f64 / bytes as f64);
        let mut search = Shortening::new(bytes, share(bytes), known);
        while let Some(bytes) = search.next_length() {
            if bytes <= limit { search.accept() } else { search.refuse(share(bytes)) }
        }
        (search.accepted, search.calls)
    }

    #[test]
    fn named_limit_is_reached_with_one_call() {
        assert_eq!(shorten(2000, 1000, true, None), (950, 1));
        assert_eq!(shorten(1_000_000, 1000, true, Some(500)), (950, 1));
    }

    #[test]
    fn unnamed_limit_is_searched_with_few_calls_and_little_loss() {
        for limit in (200..2000).step_by(37) {
            let (accepted, calls) = shorten(2000, limit, false, None);
            assert!(accepted <= limit && accepted * 8 >= limit * 7 - 8, "{accepted} of {limit}");
            assert!(calls <= 8, "{calls} calls for {limit}");
        }
        assert_eq!(shorten(2000, 1000, false, Some(950)).0, 950);
        assert!(shorten(131_072, 200, false, None).0 > 0);
    }

    #[test]
    fn number_of_calls_is_bounded() {
        assert_eq!(shorten(2000, 0, false, None), (0, 4));
        assert_eq!(shorten(100, 0, false, None).1, 0);
        assert!(shorten(usize::MAX / 16, 0, false, None).1 <= MAX_CALLS);
        let mut wrong = Shortening::new(2000, Some(0.99), None);
        let mut calls = 0;
        while wrong.next_length().is_some() {
            wrong.refuse(Some(0.99));
            calls += 1;
        }
        assert!(calls > MAX_HINTS && calls <= MAX_CALLS, "{calls}");
    }

    #[test]
    fn limit_is_known_after_several_texts_were_shortened() {
        let limit = LengthLimit::default();
        limit.accept(2000);
        assert_eq!((limit.longest(), limit.limit()), (None, None));
        assert!(!limit.shorten(900) && !limit.shorten(1100));
        assert_eq!((limit.longest(), limit.limit()), (Some(2000), None));
        assert!(limit.shorten(1000));
        assert_eq!((limit.limit(), limit.shortened()), (Some(2000), 3));
    }
}
