//! Fields of requests that some back ends refuse.

use std::sync::atomic::{AtomicU8, Ordering};

const UNKNOWN: u8 = 0;
const ACCEPTED: u8 = 1;
const REFUSED: u8 = 2;

/// What is known of a field that makes answers better but that old back ends answer with 400.
///
/// Until a request with it has worked, a refusal is taken as one of the field: the request is
/// repeated without it, and when that works the field is left out from then on.
#[derive(Debug, Default)]
pub(super) struct OptionalField(AtomicU8);

impl OptionalField {
    /// Whether to send it.
    pub(super) fn is_sent(&self) -> bool {
        self.0.load(Ordering::Relaxed) != REFUSED
    }

    /// Whether a refusal may be about it.
    pub(super) fn is_doubtful(&self) -> bool {
        self.0.load(Ordering::Relaxed) == UNKNOWN
    }

    /// A request with it worked.
    pub(super) fn accepted(&self) {
        self.0.store(ACCEPTED, Ordering::Relaxed);
    }

    /// A request without it worked, after one with it had not.
    pub(super) fn refused(&self) {
        // Another request may have shown the opposite meanwhile; what worked counts for more.
        let _ = self.0.compare_exchange(UNKNOWN, REFUSED, Ordering::Relaxed, Ordering::Relaxed);
    }
}
